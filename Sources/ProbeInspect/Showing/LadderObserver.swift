package import ProbeBase
package import ProbeReport
package import ProbeWire

/// Writes the ladder of each flow, packet by packet.
package final class LadderObserver: InspectionObserver {
    private let ladder: LadderText
    private let output: TextOutput
    private var starts: [Int: UInt64] = [:]

    package init(width: Int, paint: Paint = .plain, output: @escaping TextOutput) {
        ladder = LadderText(width: width, paint: paint)
        self.output = output
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let start: UInt64
        if let known = starts[conversation.number] {
            start = known
        } else {
            start = packet.summary.time
            starts[conversation.number] = start
            output(ladder.header(conversation) + "\n")
        }
        output(ladder.line(packet, payload: payload, start: start) + "\n")
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {}

    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        output(ladder.line(report, comments: comments, start: starts[conversation.number] ?? report.time) + "\n")
    }

    package func end(of conversation: Conversation) {}

    /// Returns the text below the ladder. The text describes how the flow ended and lists its anomalies.
    package static func footer(_ report: ConnectionReport, width: Int? = nil) -> String {
        var text = "\(ByteText.count(report.conversation.packetCount, "packet")) in "
        text += DurationText.text(nanoseconds: report.duration)
        text += "; the client sent \(sent(report.conversation.fromClient))"
        text += ", the server \(sent(report.conversation.fromServer))\n"
        text += "handshake \(report.handshake.rawValue); closed: \(report.closeText)\n"
        if !report.anomalies.isEmpty { text += "anomalies: \(ConnectionTableText.anomalies(report))\n" }
        guard let width else { return text }
        return text.split(separator: "\n").map { WrappedText.sentence(String($0), width: width) }.joined()
    }

    private static func sent(_ half: HalfConnection) -> String {
        let captured = half.stream.deliveredLength
        let text = ByteText.count(Int(clamping: half.sentLength), "byte")
        return half.sentLength > captured ? "\(text) (\(captured) of \(half.sentLength) captured)" : text
    }
}
