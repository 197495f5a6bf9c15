import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// A record of what a step did, which becomes a comment on a packet in the capture file.
struct PacketAnnotation {
    enum Place {
        /// The first packet, on any connection, at or after the time of the step.
        case anyPacket
        /// The SYN of one of the harness's connections.
        case syn(Connection)
        /// The SYN or SYN-ACK that the harness sent on one of its connections.
        case handshake(Connection)
        /// The FIN of one of the harness's connections.
        case fin(Connection)
        /// The RST of one of the harness's connections.
        case rst(Connection)
        /// The segment that carries the byte at this offset of the data sent by the harness's endpoint.
        case data(Connection, offset: Int)
        /// The next packet that the subject sends.
        case anySubjectPacket
        /// The next packet with data that the subject sends.
        case subjectData
    }

    /// The location of the step in the script.
    var span: SourceSpan
    var text: String
    var time: MonotonicTime
    var place: Place
}

/// The annotations made by a case's steps, which become comments on captured packets.
struct AnnotationLog {
    private(set) var entries: [PacketAnnotation] = []
    /// Whether annotations are kept, because packets are captured and captures may be kept.
    private let isKept: Bool

    init(_ settings: RunConfiguration) { isKept = settings.capture != nil && settings.keep != .none }

    /// Records what a step did, and which packet the comment about it belongs to.
    mutating func add(_ step: Step, _ text: @autoclosure () -> String, _ place: PacketAnnotation.Place) {
        guard isKept else { return }
        entries.append(PacketAnnotation(span: step.span, text: text(), time: .now, place: place))
    }

    /// Adds an annotation for each piece of a send, up to a limit above which the capture would no longer be readable.
    mutating func addSend(_ step: Step, _ name: String, _ connection: Connection, _ operation: SendOperation) {
        guard isKept else { return }
        var start = 0
        for end in operation.ends.prefix(4096) {
            let piece = operation.bytes[start..<end]
            add(
                step, "\(name) send \(Escaped.literal(piece, limit: 64))",
                .data(connection, offset: operation.streamOffset + start))
            start = end
        }
    }
}

/// Finds the packets to which annotations belong.
struct AnnotationPlacement {
    private let names: WireNames
    private let clock: ClockRelation
    /// The indices of the packets in chronological order.
    private let order: [Int]
    /// The packets of each connection end, in chronological order.
    private let byEnd: [WireEnd?: [Int]]
    /// For each connection end, the packets with data, in the order of the byte stream.
    private let data: [WireEnd?: [Int]]

    init(_ order: [Int], names: WireNames, clock: ClockRelation) {
        self.names = names
        self.clock = clock
        self.order = order
        let entries = names.traffic.entries
        func sequence(_ index: Int) -> Int64 { entries[index].summary?.relativeSequence ?? 0 }
        byEnd = Dictionary(grouping: order) { entries[$0].sender }
        data = byEnd.mapValues { packets in
            packets.filter { entries[$0].summary.map { $0.payloadLength > 0 } ?? false }
                .enumerated().sorted { (sequence($0.element), $0.offset) < (sequence($1.element), $1.offset) }
                .map(\.element)
        }
    }

    /// Returns the comments on each packet, by the packet's index, such as `crlf.scn:11 S send "220 rea"`.
    func comments(_ annotations: [PacketAnnotation], _ sources: SourceMap) -> [Int: [String]] {
        var comments: [Int: [String]] = [:]
        var names: [Int: String] = [:]
        for annotation in annotations {
            guard let index = packet(of: annotation) else { continue }
            let location = sources.location(of: annotation.span)
            let name = names[annotation.span.file] ?? Self.lastPart(location.path)
            names[annotation.span.file] = name
            comments[index, default: []].append("\(name):\(location.line) \(annotation.text)")
        }
        return comments
    }

    private static func lastPart(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private func packet(of annotation: PacketAnnotation) -> Int? {
        switch annotation.place {
        case .anyPacket: return packets(since: annotation.time).first ?? order.last
        case .syn(let connection), .handshake(let connection): return first(connection) { $0.flags.contains(.syn) }
        case .fin(let connection): return first(connection) { $0.flags.contains(.fin) }
        case .rst(let connection): return first(connection) { $0.flags.contains(.rst) }
        case .data(let connection, let offset): return segment(with: offset, of: connection)
        case .anySubjectPacket: return firstSubjectPacket(since: annotation.time) { _ in true }
        case .subjectData: return firstSubjectPacket(since: annotation.time) { $0.payloadLength > 0 }
        }
    }

    private func summary(_ index: Int) -> PacketSummary? { names.traffic.entries[index].summary }

    private func packets(since time: MonotonicTime) -> ArraySlice<Int> {
        let time = clock.wall(time)
        return order[order.firstPosition { names.traffic.entries[$0].packet.time >= time }...]
    }

    private func first(_ connection: Connection, where holds: (PacketSummary) -> Bool) -> Int? {
        guard let end = names.end(of: connection), let packets = byEnd[end] else { return nil }
        return packets.first { summary($0).map(holds) ?? false }
    }

    private func firstSubjectPacket(since time: MonotonicTime, where holds: (PacketSummary) -> Bool) -> Int? {
        packets(since: time).first { index in
            guard let summary = summary(index), holds(summary) else { return false }
            return names.binding.owners[WireEnd(index: summary.conversation, side: summary.side)] == nil
        }
    }

    private func segment(with offset: Int, of connection: Connection) -> Int? {
        func sequence(_ index: Int) -> Int64 { summary(index)?.relativeSequence ?? 0 }
        let wanted = Int64(offset) + 1
        guard let end = names.end(of: connection), let packets = data[end] else { return nil }
        // If several segments begin at the same offset, the earliest one is used.
        let following = packets.firstPosition { sequence($0) > wanted }
        guard following > 0 else { return nil }
        let start = sequence(packets[following - 1])
        let found = packets[packets.firstPosition { sequence($0) >= start }]
        let length = summary(found)?.payloadLength ?? 0
        return wanted < start + Int64(length) ? found : nil
    }
}

extension Array {
    /// Returns the first index at which `holds` is true, or the end index if there is none. `holds` must also be true
    /// for all later elements.
    fileprivate func firstPosition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
