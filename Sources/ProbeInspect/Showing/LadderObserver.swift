import ProbeBase
package import ProbeWire

/// Writes the ladder of each flow, packet by packet.
package final class LadderObserver: InspectionObserver {
    private let ladder: LadderText
    private let output: TextOutput
    private var starts: [Int: UInt64] = [:]

    package init(width: Int, output: @escaping TextOutput) {
        ladder = LadderText(width: width)
        self.output = output
    }

    package func see(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
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

    package func see(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {}

    package func end(of conversation: Conversation) {}

    /// The end of the flow and its anomalies, a line each, for below the ladder.
    package static func footer(_ report: ConnectionReport) -> String {
        var text = "\(ByteText.count(report.conversation.packetCount, "packet")) in "
        text += DurationText.text(nanoseconds: report.duration)
        text += "; the client sent \(ByteText.count(Int(clamping: report.bytes(from: .client)), "byte"))"
        text += ", the server \(ByteText.count(Int(clamping: report.bytes(from: .server)), "byte"))\n"
        text += "handshake \(report.handshake.rawValue); closed: \(report.closeText)\n"
        if !report.anomalies.isEmpty { text += "anomalies: \(ConnectionTableText.anomalies(report))\n" }
        return text
    }
}
