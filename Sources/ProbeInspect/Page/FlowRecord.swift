package import ProbeBase
import ProbeReport
package import ProbeWire

/// The data of a flow that the page shows, collected packet by packet. Its size is limited, however many packets there
/// are.
package struct FlowRecord {
    /// A packet of the ladder. Its description is created only when the packet is shown, because most packets of a long
    /// flow are never shown.
    package struct Rung: Sendable {
        package let packet: InspectedPacket
        /// The number of the packet in its flow, counting from 0.
        package let ordinal: Int
        /// The time since the flow's first packet, in nanoseconds.
        package let time: Int64
        /// The beginning of the captured payload.
        private let payload: [UInt8]
        private let isPayloadWhole: Bool

        fileprivate init(_ packet: InspectedPacket, _ payload: Span<UInt8>, ordinal: Int, time: Int64) {
            self.packet = packet
            self.ordinal = ordinal
            self.time = time
            let count = min(payload.count, 64)
            self.payload = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
                for index in 0..<count { buffer[index] = payload[index] }
                length = count
            }
            isPayloadWhole = payload.count == count && !packet.summary.payloadIsCut
        }

        /// Whether the packet closes the flow or advertises a window of 0.
        package var isTurn: Bool {
            packet.summary.isZeroWindow || !packet.summary.flags.isDisjoint(with: [.fin, .rst])
        }

        /// The description of the packet, such as `P. seq 1 ack 1 win 512 len 7 "220 rea"`.
        package var words: String {
            let summary = packet.summary
            var words = "\(summary.flags) seq \(summary.relativeSequence)"
            if let acknowledgment = summary.relativeAcknowledgment { words += " ack \(acknowledgment)" }
            if let window = packet.windowText { words += " " + window }
            if summary.payloadLength > 0 { words += " len \(summary.payloadLength)" }
            guard !payload.isEmpty, let text = Escaped.literal(payload.span, width: 40) else { return words }
            return words + " " + (!isPayloadWhole && text.hasSuffix("\"") ? text.dropLast() + "…" : text)
        }

        /// Descriptions of what is unusual about the packet.
        package var marks: [String] { packet.marks }

        /// The first comments on the packet in the file.
        package var comments: [String] { packet.comments.prefix(8).map { Columns.cut(Escaped.text($0), to: 200) } }
    }

    /// A line in the dialogue between the two sides.
    package struct Line: Sendable {
        package var side: ConversationSide
        /// The line in quotes, or the description of a gap in parentheses.
        package var text: String
    }

    // The packets that are kept: the first packets, the unusual packets among the later packets, and the last packets.
    private var head: [Rung] = []
    private var unusual: [Rung] = []
    private var tail: [Rung] = []
    private var tailStart = 0
    package private(set) var fromClient = SequenceTrace()
    package private(set) var fromServer = SequenceTrace()
    package private(set) var pauses = TracePauses()
    package private(set) var lines: [Line] = []
    /// Whether lines were discarded because `lines` was full.
    package private(set) var hasMoreLines = false
    private var lineBytes = 0
    private var start: UInt64?
    package private(set) var packetCount = 0

    static let headLength = 120
    static let unusualLength = 80
    static let tailLength = 24
    static let maxLines = 24
    static let maxLineBytes = 2000
    static let lineWidth = 240
    /// The greatest distance in time that is shown, about 36 years. The times in a damaged file may have any value.
    private static let farthest: Int64 = 1 << 60

    package init() {}

    /// Adds a packet.
    ///
    /// - Parameters:
    ///   - payload: the captured part of the packet's payload.
    ///   - isEvidence: whether a finding cites the packet. Such a packet is always kept.
    package mutating func add(_ packet: InspectedPacket, payload: Span<UInt8>, isEvidence: Bool = false) {
        let summary = packet.summary
        if start == nil { start = summary.time }
        let exact = DurationText.difference(from: start ?? summary.time, to: summary.time)
        let time = min(max(exact, -Self.farthest), Self.farthest)
        pauses.add(time)
        fromClient.add(packet, isSent: summary.side == .client, time: time)
        fromServer.add(packet, isSent: summary.side == .server, time: time)
        let rung = Rung(packet, payload, ordinal: packetCount, time: time)
        packetCount += 1
        if head.count < Self.headLength {
            head.append(rung)
        } else if isEvidence
            || (unusual.count < Self.unusualLength
                && (!summary.marks.isEmpty || packet.isWindowFull
                    || !summary.flags.isDisjoint(with: [.syn, .fin, .rst])))
        {
            unusual.append(rung)
        } else if tail.count < Self.tailLength {
            tail.append(rung)
        } else {
            tail[tailStart] = rung
            tailStart = (tailStart + 1) % Self.tailLength
        }
    }

    /// Whether further lines are discarded.
    package var isFull: Bool { lines.count >= Self.maxLines || lineBytes >= Self.maxLineBytes }

    /// Adds a line that a `FollowObserver` wrote.
    package mutating func add(line: String) {
        guard !isFull else {
            hasMoreLines = true
            return
        }
        let side: ConversationSide = line.hasPrefix(ConversationSide.client.word) ? .client : .server
        var text = line.dropFirst(side.word.count).drop { $0 == " " }
        if text.last == "\n" { text.removeLast() }
        let shown = Columns.cut(String(text), to: Self.lineWidth)
        lineBytes += shown.utf8.count
        lines.append(Line(side: side, text: shown))
    }

    /// The first ICMP errors about packets of the flow.
    package private(set) var errors: [String] = []
    private static let maxErrors = 8

    package mutating func add(_ report: ICMPErrors.Report) {
        if errors.count < Self.maxErrors { errors.append("packet \(report.packetIndex + 1): \(report.text)") }
    }

    package mutating func noteMoreLines() { hasMoreLines = true }

    /// The packets of the ladder, in the order in which they were captured, each with the number of packets omitted
    /// before it.
    package var rungs: [(omitted: Int, rung: Rung)] {
        var next = 0
        return (head + (unusual + tail).sorted { $0.ordinal < $1.ordinal }).map { rung in
            defer { next = rung.ordinal + 1 }
            return (rung.ordinal - next, rung)
        }
    }
}
