package import ProbeBase
package import ProbeReport
package import ProbeWire

/// Writes the packets of all flows in one ladder, as they arrive. Each packet is preceded by the number of its flow.
/// The endpoints of a flow are shown when the flow begins.
package final class WatchObserver: InspectionObserver {
    private let ladder: LadderText
    private let output: TextOutput
    private var start: UInt64?
    private var shown: Int?

    private static let numberWidth = 5

    package init(width: Int, paint: Paint = .plain, output: @escaping TextOutput) {
        ladder = LadderText(width: width, prefixWidth: Self.numberWidth + 2, paint: paint)
        self.output = output
    }

    package func observe(_ packet: InspectedPacket, payload: Span<UInt8>, in conversation: Conversation) {
        let start = start ?? packet.summary.time
        self.start = start
        if shown != conversation.number {
            output(Columns.right("flow", to: Self.numberWidth) + "  " + ladder.header(conversation) + "\n")
            shown = conversation.number
        }
        let number = Columns.right(String(conversation.number), to: Self.numberWidth)
        output(number + "  " + ladder.line(packet, payload: payload, start: start) + "\n")
    }

    package func observe(_ part: StreamPart, from side: ConversationSide, in conversation: Conversation) {}

    package func observe(_ report: ICMPErrors.Report, comments: [String], in conversation: Conversation) {
        let number = Columns.right(String(conversation.number), to: Self.numberWidth)
        output(number + "  " + ladder.line(report, comments: comments, start: start ?? report.time) + "\n")
    }

    package func end(of conversation: Conversation) {}
}
