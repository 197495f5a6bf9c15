import ProbeBase
import ProbeEvents
package import ProbeWire

/// Lays out packets as a ladder: the client on the left, the server on the right, an arrow for each packet.
///
///     1    0.000000  |S seq 0 ------------------------>|
///     2    0.000018  |<-------------------- S. seq 0 ack 1|
///
/// Anomalies and comments of a packet follow on its line. Only payload and comments are cut to the width.
package struct LadderText: Sendable {
    /// The width of a line, in columns.
    package let width: Int
    private let inner: Int

    /// The width if the output is no terminal.
    package static let plainWidth = 120
    private static let marksRoom = 26

    /// - Parameter prefixWidth: columns before the ladder that the caller fills.
    package init(width: Int, prefixWidth: Int = 0) {
        self.width = max(width, 40)
        inner = min(max(self.width - prefixWidth - Self.leadWidth - Self.marksRoom - 2, 46), 80)
    }

    /// The columns of packet number and time.
    private static let leadWidth = 6 + 2 + 11 + 2

    /// The two endpoints, above the vertical lines.
    package func header(_ conversation: Conversation) -> String {
        let client = conversation.client.description
        let server = conversation.server.description
        let space = max(inner + 2 - client.count - server.count, 2)
        return Columns.right("packet", to: 6) + "  " + Columns.right("seconds", to: 11) + "  " + client
            + String(repeating: " ", count: space) + server
    }

    /// - Parameters:
    /// - start: time 0 of the ladder.
    ///   - payload: the captured part of the payload.
    package func line(_ packet: InspectedPacket, payload: Span<UInt8>, start: UInt64) -> String {
        let summary = packet.summary
        let time = DurationText.seconds(DurationText.difference(from: start, to: summary.time))
        var line = Columns.right(String(summary.packetIndex + 1), to: 6) + "  " + Columns.right(time, to: 11) + "  "
        line += rung(summary, payload)
        var notes: [String] = []
        if !summary.marks.isEmpty { notes.append("[\(summary.marks.joined(separator: ", "))]") }
        notes += packet.comments.map { Escaped.text($0) }
        guard !notes.isEmpty else { return line }
        let marks = summary.marks.isEmpty ? 0 : notes[0].count
        return line + "  " + Columns.cut(notes.joined(separator: "  "), to: max(width - line.count - 2, marks, 8))
    }

    /// The arrow with the packet's description, between the vertical lines.
    private func rung(_ summary: PacketSummary, _ payload: Span<UInt8>) -> String {
        var words = "\(summary.flags) seq \(summary.relativeSequence)"
        if let acknowledgment = summary.relativeAcknowledgment { words += " ack \(acknowledgment)" }
        if summary.payloadLength > 0 { words += " len \(summary.payloadLength)" }
        // A blank and an arrow of at least three characters.
        let room = inner - words.count - 5
        if payload.count > 0, room > 4, let text = Escaped.literal(payload, width: room) { words += " " + text }
        let line = String(repeating: "-", count: max(inner - words.count - 2, 2))
        return summary.side == .client ? "|\(words) \(line)>|" : "|<\(line) \(words)|"
    }
}
