package import ProbeBase
import ProbeEvents
package import ProbeWire

/// Writes messages as a table, with a heading above the first message of each flow.
///
/// If there is too little room for the contents next to the other columns, each message takes two lines, with the
/// contents on the second line.
package final class MessageText {
    private let framing: Framing
    private let width: Int
    /// The formatter for protobuf; `nil` unless contents are also shown as protobuf messages.
    private let protobuf: ProtobufText?
    private let output: TextOutput
    private var shown: Int?
    /// The width of the columns before the kind of message, in characters.
    private static let columnsAhead = 45
    private var kindWidth: Int { framing == .websocket ? 22 : 10 }

    /// The minimum width of contents that are on the same line as the other columns.
    private static let minContentsWidth = 16
    private var heading: String {
        framing == .websocket
            ? "from      frame    offset   bytes  segments  kind"
            : "from    message    offset   bytes  segments  terminator"
    }

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
            if Self.columnsAhead + kindWidth + 2 + Self.minContentsWidth <= width { output(heading + "\n") }
            shown = conversation.number
        }
        switch event {
        case .gap(let gap): note(side, "(\(GapText.text(gap)))")
        case .unreadable(let offset, let reason):
            note(side, "(not a sequence of \(framing.rawValue) messages from offset \(offset) on: \(reason))")
        case .message(let message):
            output(text(message, side))
            guard let protobuf, let body = MessageScan.body(of: message, framing) else { return }
            for line in protobuf.lines(of: Array(body), in: 0..<body.count) {
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
            Columns.right(String(message.cuts.count + 1), to: 8), Columns.padded(kind(message), to: kindWidth),
        ].joined(separator: "  ")
        let room = width - lead.count - 2
        if room >= Self.minContentsWidth { return lead + "  " + content(message, room: room) + "\n" }
        let units = [
            side.word, "\(framing == .websocket ? "frame" : "message") \(message.number)", "offset \(message.offset)",
            ByteText.count(message.bytes.count, "byte"), ByteText.count(message.cuts.count + 1, "segment"),
            kind(message),
        ]
        return WrappedText.lines("", units, width: width, indent: 2) + "\n  " + content(message, room: width - 2) + "\n"
    }

    private func kind(_ message: MessageScan.Message) -> String {
        guard framing == .websocket, message.isFinished else { return terminator(message) }
        return message.frame.map(Self.kind) ?? "opening"
    }

    /// Returns the description of a WebSocket frame: `1 text FIN mask`, `8 close 1000 FIN`, `0 continuation`, `3 RSV
    /// 4`.
    private static func kind(_ frame: WebSocketFrame) -> String {
        var words = ["\(frame.opcode)"]
        if let name = frame.opcodeName { words.append(name) }
        if let code = frame.closeCode { words.append("\(code)") }
        if frame.isFinal { words.append("FIN") }
        if frame.reserved != 0 { words.append("RSV \(frame.reserved)") }
        if frame.key != nil { words.append("mask") }
        if let form = frame.lengthForm { words.append("length in \(ByteText.count(form.rawValue, "byte"))") }
        return words.joined(separator: " ")
    }

    private func terminator(_ message: MessageScan.Message) -> String {
        guard message.isFinished else { return framing == .none ? "-" : "unfinished" }
        guard message.terminatorLength > 0 else { return "-" }
        let name = framing.terminatorName
        return message.bareCount > 0 ? "\(name) +\(message.bareCount) bare" : name
    }

    /// Returns the content of a message, with `|` at segment boundaries: `"220 rea" | "dy\r" | "\n"`.
    private func content(_ message: MessageScan.Message, room: Int) -> String {
        guard let frame = message.frame else { return Self.content(message.bytes[...], message.cuts[...], room: room) }
        // The status code of a close frame is already shown as a part of the kind. If there is a segment boundary in
        // the header, the payload begins in a later segment.
        let codeLength = frame.closeCode == nil ? 0 : 2
        let header = message.headerLength + codeLength
        let inHeader = message.cuts.contains { $0 <= header } ? [0] : []
        return Self.content(
            frame.payload.dropFirst(codeLength),
            (inHeader + message.cuts.filter { $0 > header }.map { $0 - header })[...],
            room: room)
    }

    private static func content(_ bytes: ArraySlice<UInt8>, _ cuts: ArraySlice<Int>, room: Int) -> String {
        var text = "\""
        var cuts = cuts
        for (index, byte) in bytes.enumerated() {
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
