import ProbeBase
import ProbeEvents
package import ProbeReport
package import ProbeWire

/// Lays out packets as a ladder: the client on the left, the server on the right, an arrow for each packet.
///
///     1    0.000000  |S seq 0 ------------------------>|
///     2    0.000018  |<-------------------- S. seq 0 ack 1|
///
/// Anomalies and comments of a packet follow on its line. Payload and comments are cut to the width. If that is not
/// enough for a packet, it has no arrow, but `->` or `<-` and its words, on several lines.
package struct LadderText: Sendable {
    /// The width of a line, in columns.
    package let width: Int
    private let inner: Int
    private let prefixWidth: Int
    private let paint: Paint

    /// The width if the output is not a terminal.
    package static let plainWidth = 120
    private static let marksRoom = 26

    /// Creates a layout.
    ///
    /// - Parameter prefixWidth: the number of columns before the ladder, which the caller fills.
    package init(width: Int, prefixWidth: Int = 0, paint: Paint = .plain) {
        self.prefixWidth = prefixWidth
        self.paint = paint
        self.width = max(width, 40)
        inner = min(max(self.width - prefixWidth - Self.leadWidth - Self.marksRoom - 2, 46), 80)
    }

    /// The columns of packet number and time.
    private static let leadWidth = 6 + 2 + 11 + 2

    /// The room on a line after the caller's columns.
    private var room: Int { width - prefixWidth }

    /// The indent of further lines of one packet.
    private static let indent = 4

    /// Returns the two endpoints, above the vertical lines. The text may have several lines.
    package func header(_ conversation: Conversation) -> String {
        let client = conversation.client.description
        let server = conversation.server.description
        let space = max(inner + 2 - client.count - server.count, 2)
        let start = Columns.right("packet", to: 6) + "  " + Columns.right("seconds", to: 11)
        let line = start + "  " + client + String(repeating: " ", count: space) + server
        if line.count <= room { return paint(.cause, line) }
        return paint(.cause, wrapped(start + "  ", [client, "->", server]))
    }

    /// Returns the line of a packet. The text may have several lines.
    ///
    /// - Parameters:
    ///   - start: the time that is 0 in the ladder.
    ///   - payload: the captured part of the payload.
    package func line(_ packet: InspectedPacket, payload: Span<UInt8>, start: UInt64) -> String {
        let summary = packet.summary
        let time = DurationText.seconds(DurationText.difference(from: start, to: summary.time))
        let lead = Columns.right(String(summary.packetIndex + 1), to: 6) + "  " + Columns.right(time, to: 11) + "  "
        let marks = marks(packet, captured: payload.count)
        let comments = packet.comments.map { Escaped.text($0) }.joined(separator: "  ")
        let line = lead + rung(packet, payload)
        guard Columns.width(line) <= room else { return narrowLine(lead, packet, payload, marks, comments) }
        return finished(line, marks, comments)
    }

    /// Returns the line for an error that ICMP reported about a packet, on its way back to the packet's sender.
    package func line(_ report: ICMPErrors.Report, comments: [String], start: UInt64) -> String {
        let time = DurationText.seconds(DurationText.difference(from: start, to: report.time))
        let lead = Columns.right(String(report.packetIndex + 1), to: 6) + "  " + Columns.right(time, to: 11) + "  "
        let words = "ICMP" + (report.relativeSequence.map { " about seq \($0)" } ?? "")
        let arrow = String(repeating: "-", count: max(inner - Columns.width(words) - 2, 2))
        let line = lead + (report.side == .client ? "|<\(arrow) \(words)|" : "|\(words) \(arrow)>|")
        let text = comments.map { Escaped.text($0) }.joined(separator: "  ")
        guard Columns.width(line) <= room else {
            let start = wrapped(
                lead, [report.side == .client ? "<-" : "->"] + words.split(separator: " ").map(String.init))
            return start + "\n" + marked("[\(report.text)]") + note(text)
        }
        return finished(line, "[\(report.text)]", text)
    }

    private func note(_ comments: String) -> String {
        comments.isEmpty ? "" : "\n" + own(.faint, Columns.cut(comments, to: continuation))
    }

    /// Returns the line with anomalies and comments, on further lines if they don't fit.
    private func finished(_ line: String, _ marks: String?, _ comments: String) -> String {
        var used = Columns.width(line)
        var text = line
        if let marks {
            if used + 2 + marks.count <= room {
                text += "  " + paint(.marker, marks)
                used += 2 + marks.count
            } else {
                text += "\n" + marked(marks)
                used = room
            }
        }
        guard !comments.isEmpty else { return text }
        if room - used - 2 >= 8 { return text + "  " + paint(.faint, Columns.cut(comments, to: room - used - 2)) }
        return text + note(comments)
    }

    /// Returns the line of a packet without a drawn arrow.
    private func narrowLine(
        _ lead: String, _ packet: InspectedPacket, _ payload: Span<UInt8>, _ marks: String?, _ comments: String
    ) -> String {
        let summary = packet.summary
        var units = [(summary.side == .client ? "-> " : "<- ") + summary.flags.description]
        units.append("seq \(summary.relativeSequence)")
        if let acknowledgment = summary.relativeAcknowledgment { units.append("ack \(acknowledgment)") }
        if let window = packet.windowText { units.append(window) }
        if summary.payloadLength > 0 { units.append("len \(summary.payloadLength)") }
        if payload.count > 0, let text = literal(payload, summary, width: continuation) { units.append(text) }
        var text = wrapped(lead, units)
        if let marks { text += "\n" + marked(marks) }
        return text + note(comments)
    }

    /// The columns of a further line of a packet, after the indent.
    private var continuation: Int { width - Self.indent }

    private func wrapped(_ start: String, _ units: [String]) -> String {
        // The caller's columns are before the first line only.
        let first = String(repeating: " ", count: prefixWidth) + start
        return String(WrappedText.lines(first, units, width: width, indent: Self.indent).dropFirst(prefixWidth))
    }

    /// Returns the anomalies on separate lines.
    private func marked(_ marks: String) -> String {
        if marks.count <= continuation { return own(.marker, marks) }
        let lines = WrappedText.lines("", marks.split(separator: " ").map(String.init), width: continuation, indent: 0)
        return lines.split(separator: "\n").map { own(.marker, String($0)) }.joined(separator: "\n")
    }

    private func own(_ role: Paint.Role, _ text: String) -> String {
        String(repeating: " ", count: Self.indent) + paint(role, text)
    }

    private func marks(_ packet: InspectedPacket, captured: Int) -> String? {
        var marks = packet.marks
        let summary = packet.summary
        // The number of captured bytes is more informative than the fact that the payload was cut.
        if summary.payloadIsCut {
            marks[summary.marks.count - 1] = "\(captured) of \(summary.payloadLength) captured"
        }
        return marks.isEmpty ? nil : "[\(marks.joined(separator: ", "))]"
    }

    /// Returns the arrow with the packet's description, between the vertical lines.
    private func rung(_ packet: InspectedPacket, _ payload: Span<UInt8>) -> String {
        let summary = packet.summary
        var words = "\(summary.flags) seq \(summary.relativeSequence)"
        if let acknowledgment = summary.relativeAcknowledgment { words += " ack \(acknowledgment)" }
        if let window = packet.windowText { words += " " + window }
        if summary.payloadLength > 0 { words += " len \(summary.payloadLength)" }
        // A blank and an arrow of at least three characters.
        let room = inner - words.count - 5
        if payload.count > 0, room > 4, let text = literal(payload, summary, width: room) { words += " " + text }
        let line = String(repeating: "-", count: max(inner - Columns.width(words) - 2, 2))
        return summary.side == .client ? "|\(words) \(line)>|" : "|<\(line) \(words)|"
    }

    /// Returns the payload in quotes. An ellipsis replaces the closing quote if the payload does not fit, or if the
    /// capture cut it short.
    private func literal(_ payload: Span<UInt8>, _ summary: PacketSummary, width: Int) -> String? {
        guard let text = Escaped.literal(payload, width: width) else { return nil }
        return summary.payloadIsCut && text.hasSuffix("\"") ? text.dropLast() + "…" : text
    }
}
