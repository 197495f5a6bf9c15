package import ProbeBase
import ProbeEvents
package import ProbeWire

/// Divides both directions of each flow into messages, and writes each on a line: number, offset, length, segments,
/// terminator, and the content with `|` where another segment begins, as in a script's `send`.
package final class MessageObserver: InspectionObserver {
    /// Receives the messages.
    package typealias Sink = (MessageScan.Event, Conversation, ConversationSide) -> Void

    private struct Key: Hashable {
        var flow: Int
        var side: ConversationSide
    }

    private let framing: Framing
    private let sink: Sink
    private var scans: [Key: MessageScan] = [:]
    private var segmentCounts: [Key: Int] = [:]

    package init(framing: Framing, sink: @escaping Sink) {
        self.framing = framing
        self.sink = sink
    }

    package func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let summary = packet.summary
        let key = Key(flow: conversation.number, side: summary.side)
        let count = conversation.halfConnection(from: summary.side).segmentCount
        // Only segments with a byte that was sent for the first time divide the stream.
        guard count > segmentCounts[key, default: 0] else { return }
        segmentCounts[key] = count
        let start = max(summary.relativeSequence - 1, 0)
        scans[key, default: MessageScan(framing: framing)].note(
            segment: start..<start + Int64(max(summary.payloadLength, 0)))
    }

    package func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {
        let key = Key(flow: conversation.number, side: side)
        let events = scans[key, default: MessageScan(framing: framing)].add(part)
        for event in events { sink(event, conversation, side) }
    }

    package func end(of conversation: Conversation) {
        for side in ConversationSide.allCases {
            guard var scan = scans.removeValue(forKey: Key(flow: conversation.number, side: side)) else { continue }
            for event in scan.finish() { sink(event, conversation, side) }
        }
    }
}

/// Messages in columns, with a heading above the first message of each flow. Where there is too little room for the contents beside the
/// columns, each message has its numbers on one line and its contents on the next one.
package final class MessageText {
    private let framing: Framing
    private let width: Int
    /// Contents are shown as messages of protobuf, too.
    private let protobuf: ProtobufText?
    private let output: TextOutput
    private var shown: Int?

    /// The least columns for contents beside the numbers.
    private static let leastRoom = 16
    private static let heading = "from    message    offset   bytes  segments  terminator"

    package init(framing: Framing, width: Int, protobuf: ProtobufText? = nil, output: @escaping TextOutput) {
        self.framing = framing
        self.width = max(width, 40)
        self.protobuf = protobuf
        self.output = output
    }

    package func write(_ event: MessageScan.Event, _ conversation: Conversation, _ side: ConversationSide) {
        if shown != conversation.number {
            output(
                WrappedText.lines(
                    "flow \(conversation.number)  ", ["\(conversation.client)", "->", "\(conversation.server)"],
                    width: width, indent: 2) + "\n")
            if Self.heading.count + 2 + Self.leastRoom <= width { output(Self.heading + "\n") }
            shown = conversation.number
        }
        switch event {
        case .gap(let gap): note(side, "(\(GapText.text(gap)))")
        case .unreadable(let offset, let reason):
            note(side, "(from offset \(offset) on this is no series of \(framing.rawValue) messages: \(reason))")
        case .message(let message):
            output(text(message, side))
            guard let protobuf else { return }
            for line in protobuf.lines(of: message.bytes, in: MessageScan.content(of: message, framing)) {
                output("        \(line)\n")
            }
        }
    }

    private func note(_ side: ConversationSide, _ text: String) {
        let words = text.split(separator: " ").map(String.init)
        output(WrappedText.lines("\(Columns.padded(side.word, to: 6))  ", words, width: width, indent: 8) + "\n")
    }

    private func text(_ message: MessageScan.Message, _ side: ConversationSide) -> String {
        let lead = [
            Columns.padded(side.word, to: 6), Columns.right(String(message.number), to: 7),
            Columns.right(String(message.offset), to: 8), Columns.right(String(message.bytes.count), to: 6),
            Columns.right(String(message.cuts.count + 1), to: 8), Columns.padded(terminator(message), to: 10),
        ].joined(separator: "  ")
        let room = width - lead.count - 2
        if room >= Self.leastRoom { return lead + "  " + content(message, room: room) + "\n" }
        let units = [
            side.word, "message \(message.number)", "offset \(message.offset)",
            ByteText.count(message.bytes.count, "byte"), ByteText.count(message.cuts.count + 1, "segment"),
            terminator(message),
        ]
        return WrappedText.lines("", units, width: width, indent: 2) + "\n  " + content(message, room: width - 2) + "\n"
    }

    private func terminator(_ message: MessageScan.Message) -> String {
        guard message.isFinished else { return framing == .none ? "-" : "unfinished" }
        guard message.terminatorLength > 0 else { return "-" }
        if case .delimiter = framing { return framing.rawValue }
        let name = framing.rawValue.uppercased()
        return message.bareCount > 0 ? "\(name) +\(message.bareCount) bare" : name
    }

    /// `"220 rea" | "dy\r" | "\n"`
    private func content(_ message: MessageScan.Message, room: Int) -> String {
        var text = "\""
        var cuts = message.cuts[...]
        for (index, byte) in message.bytes.enumerated() {
            var next = Escaped.byte(byte)
            if cuts.first == index {
                cuts.removeFirst()
                next = "\" | \"" + next
            }
            if text.utf8.count + next.utf8.count + 1 > room { return text + "…" }
            text += next
        }
        return text + "\""
    }
}
