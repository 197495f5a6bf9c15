import ProbeBase
import Glibc
import ProbeCapture
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

extension CaseRun {
    /// Remembers where a step acted: `crlf.scn:11 S send "220 rea"`.
    func mark(_ step: Step, _ text: String, _ place: CaptureMark.Place) {
        guard settings.capture != nil, settings.keep != .none else { return }
        let location = sources.location(of: step.span)
        let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
        marks.append(CaptureMark(text: "\(file):\(location.line) \(text)", time: .now, place: place))
    }

    /// A mark for each piece of a send, up to a number that a reader can still read.
    func markSend(_ step: Step, _ name: String, _ connection: Connection, _ transmission: Transmission) {
        var start = 0
        for end in transmission.ends.prefix(4096) {
            let piece = transmission.bytes[start..<end]
            mark(
                step, "\(name) send \(EscapedBytes.quoted(piece, limit: 64))",
                .data(connection, offset: transmission.streamOffset + start))
            start = end
        }
    }

    // MARK: The file

    /// Writes the case's packets with the steps as comments.
    ///
    /// - Returns: its path; nil where there is no capture.
    func writeCapture() throws(Finding) -> String? {
        guard let capture = settings.capture else { return nil }
        // Each round of a repetition has a file of its own: a passed one must not replace a failed one.
        let isNamed = settings.isOneOfSeveralSubjects && hasSubject
        let subject = isNamed ? settings.subject?.name : nil
        let name = CaseFileName.of(id: settings.id, subject: subject, round: settings.round) + ".pcapng"
        let path = "\(settings.outputFolder)/\(name)"
        let writer = PcapNGWriter(
            interface: PcapNGWriter.Interface(
                name: "lo", linkType: LinkType(rawValue: UInt32(bitPattern: capture.linkType)), snapLength: 262_144))
        let order = ownEntries().sorted {
            (wire.entries[$0].packet.time, $0) < (wire.entries[$1].packet.time, $1)
        }
        let comments = placeMarks(order)
        var bytes = writer.header(
            application: "tcpprobe \(settings.version)", system: SystemName.text,
            comments: ["case \(EscapedBytes.safeText(settings.id.utf8))"])
        for index in order {
            bytes += writer.packet(wire.entries[index].packet, comments: comments[index] ?? [])
        }
        bytes += writer.statistics(
            PcapNGWriter.Statistics(
                start: wire.captureTime(of: start), end: wire.captureTime(of: .now), received: UInt64(order.count),
                dropped: UInt64(wire.dropped)))
        do throws(SystemError) {
            if let folder = settings.openedFolder {
                try folder.replace(name, with: bytes)
            } else {
                try Folder(making: settings.outputFolder).replace(name, with: bytes)
            }
        } catch {
            throw Finding(
                .error, "the capture could not be written to \(path): \(error.reason)",
                hints: ["`--out DIR` chooses another folder, `--keep none` keeps no captures"])
        }
        return path
    }

    /// The comments of each packet, by its index.
    private func placeMarks(_ order: [Int]) -> [Int: [String]] {
        var comments: [Int: [String]] = [:]
        let byPlace = Dictionary(grouping: order) {
            wire.entries[$0].summary.map { WireEnd(index: $0.conversation, side: $0.side) }
        }
        let data = byPlace.mapValues { packets in
            packets.filter { wire.entries[$0].summary.map { $0.payloadLength > 0 } ?? false }
                .enumerated().sorted { (sequence($0.element), $0.offset) < (sequence($1.element), $1.offset) }
                .map(\.element)
        }
        for mark in marks {
            if let index = packet(of: mark, order, byPlace, data) { comments[index, default: []].append(mark.text) }
        }
        return comments
    }

    private func sequence(_ index: Int) -> Int64 { wire.entries[index].summary?.relativeSequence ?? 0 }

    /// - Parameters:
    ///   - order: the packets in the order of their times.
    ///   - byPlace: those of each end, in that order.
    ///   - data: those of each end that have data, in the order of the stream.
    private func packet(
        of mark: CaptureMark, _ order: [Int], _ byPlace: [WireEnd?: [Int]], _ data: [WireEnd?: [Int]]
    ) -> Int? {
        let time = wire.captureTime(of: mark.time)
        func first(_ connection: Connection, where holds: (PacketSummary) -> Bool) -> Int? {
            guard let end = wireEnd(of: connection), let packets = byPlace[end] else { return nil }
            return packets.first { wire.entries[$0].summary.map(holds) ?? false }
        }
        let since = order[order.firstPosition { wire.entries[$0].packet.time >= time }...]
        func firstOfSubject(where holds: (PacketSummary) -> Bool) -> Int? {
            since.first { index in
                guard let summary = wire.entries[index].summary, holds(summary) else { return false }
                return binding().owners[WireEnd(index: summary.conversation, side: summary.side)] == nil
            }
        }
        switch mark.place {
        case .anyPacket: return since.first ?? order.last
        case .syn(let connection), .handshake(let connection): return first(connection) { $0.flags.contains(.syn) }
        case .fin(let connection): return first(connection) { $0.flags.contains(.fin) }
        case .rst(let connection): return first(connection) { $0.flags.contains(.rst) }
        case .data(let connection, let offset):
            let wanted = Int64(offset) + 1
            guard let end = wireEnd(of: connection), let packets = data[end] else { return nil }
            // Of several that begin at one place the first was there first.
            let behind = packets.firstPosition { sequence($0) > wanted }
            guard behind > 0 else { return nil }
            let start = sequence(packets[behind - 1])
            let found = packets[packets.firstPosition { sequence($0) >= start }]
            let length = wire.entries[found].summary?.payloadLength ?? 0
            return wanted < start + Int64(length) ? found : nil
        case .anySubjectPacket: return firstOfSubject { _ in true }
        case .subjectData: return firstOfSubject { $0.payloadLength > 0 }
        }
    }

    /// The packets that are the case's own, by their numbers: not those of others at a server outside of the run.
    private func ownEntries() -> [Int] {
        let others = binding().others.union(binding().perhapsOthers)
        if others.isEmpty { return Array(wire.entries.indices) }
        return wire.entries.indices.filter { index in
            wire.entries[index].summary.map { !others.contains($0.conversation) } ?? true
        }
    }

    // MARK: The timeline

    /// Packets that a report shows; of more, the first and the last.
    private static let shownPackets = 200

    /// Steps, events, output and packets in the order of their times.
    func mergedTimeline() -> [TimelineEntry] {
        var merged = context.timeline.entries
        let entries = ownEntries().map { wire.entries[$0] }
        let count = entries.count
        for (index, entry) in entries.enumerated() {
            if count > CaseRun.shownPackets && index >= 50 && index < count - (CaseRun.shownPackets - 50) {
                if index == 50 {
                    merged.append(
                        TimelineEntry(
                            time: elapsed(wire.time(of: entry.packet)),
                            kind: .note(
                                "… \(count - CaseRun.shownPackets) packets are left out here; the capture has them")))
                }
                continue
            }
            guard let summary = entry.summary else { continue }
            let conversation = wire.table.conversations[summary.conversation]
            let from = endpointName(conversation, summary.conversation, summary.side)
            let to = endpointName(conversation, summary.conversation, summary.side.opposite)
            let text = summary.text(payload: entry.packet.bytes.span.extracting(entry.payload), payloadLimit: 48)
            merged.append(
                TimelineEntry(time: elapsed(wire.time(of: entry.packet)), kind: .packet("\(from) -> \(to)  \(text)")))
        }
        return merged.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }
}

/// The operating system and its release, for the capture's header.
enum SystemName {
    static var text: String {
        var name = utsname()
        uname(&name)
        func string<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(string(name.sysname)) \(string(name.release))"
    }
}

extension Array {
    /// Where the elements begin for which `holds`, which is true for all behind the first one; the end where it never is.
    fileprivate func firstPosition(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
