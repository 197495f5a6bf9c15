import ProbeBase
import ProbeEvents
package import ProbeReport
package import ProbeWire

/// Formats packets as a ladder diagram, with the client on the left, the server on the right, and an arrow for each
/// packet.
///
///     1    0.000000  |S seq 0 ------------------------>|
///     2    0.000018  |<-------------------- S. seq 0 ack 1|
///
/// The anomalies and comments of a packet follow on the same line. Payload and comments are truncated to the width. If
/// a packet does not fit even then, it is shown as `->` or `<-`, followed by its description on several lines.
package struct LadderText: Sendable {
    /// The width of a line, in columns.
    package let width: Int
    private let inner: Int
    private let prefixWidth: Int
    private let paint: Paint

    /// The width to use if the output is not a terminal.
    package static let plainWidth = 120
    private static let marksRoom = 26

    /// Creates a ladder of the given width.
    ///
    /// - Parameter prefixWidth: the number of columns that the caller fills before the ladder.
    package init(width: Int, prefixWidth: Int = 0, paint: Paint = .plain) {
        self.prefixWidth = prefixWidth
        self.paint = paint
        self.width = max(width, 40)
        inner = min(max(self.width - prefixWidth - Self.leadWidth - Self.marksRoom - 2, 46), 80)
    }

    /// The width of the packet number and the time, including blanks.
    private static let leadWidth = 6 + 2 + 11 + 2

    /// The width that remains after the columns that the caller fills.
    private var room: Int { width - prefixWidth }

    /// The indentation of a packet's second and later lines.
    private static let indent = 4

    /// Returns the heading, with each endpoint above its vertical line. The text may have several lines.
    package func header(_ conversation: Conversation) -> String {
        let client = conversation.client.description
        let server = conversation.server.description
        let space = max(inner + 2 - client.count - server.count, 2)
        let start = Columns.right("packet", to: 6) + "  " + Columns.right("seconds", to: 11)
        let line = start + "  " + client + String(repeating: " ", count: space) + server
        if line.count <= room { return paint(.cause, line) }
        return paint(.cause, wrapped(start + "  ", [client, "->", server]))
    }

    /// Returns the ladder's rung for a packet. The text may have several lines.
    ///
    /// - Parameters:
    ///   - start: the time that the ladder shows as 0.
    ///   - payload: the captured part of the packet's payload.
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

    /// Returns the line for an ICMP error. Its arrow points to the sender of the packet that caused the error.
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

    /// Appends anomalies and comments to a line. Anomalies and comments that don't fit follow on separate lines.
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

    /// Returns the text for a packet if there is no room for an arrow of variable length.
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

    /// The width of a packet's second and later lines, excluding the indentation.
    private var continuation: Int { width - Self.indent }

    private func wrapped(_ start: String, _ units: [String]) -> String {
        // Only a packet's first line follows the columns that the caller fills.
        let first = String(repeating: " ", count: prefixWidth) + start
        return String(WrappedText.lines(first, units, width: width, indent: Self.indent).dropFirst(prefixWidth))
    }

    /// Returns a packet's anomalies on one or more separate lines.
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
        // The number of captured bytes replaces the note that the payload was cut, because the number is more
        // informative.
        if summary.payloadIsCut {
            marks[summary.marks.count - 1] = "\(captured) of \(summary.payloadLength) captured"
        }
        return marks.isEmpty ? nil : "[\(marks.joined(separator: ", "))]"
    }

    /// Returns the two vertical lines, with the arrow and the packet's description between them.
    private func rung(_ packet: InspectedPacket, _ payload: Span<UInt8>) -> String {
        let summary = packet.summary
        var words = "\(summary.flags) seq \(summary.relativeSequence)"
        if let acknowledgment = summary.relativeAcknowledgment { words += " ack \(acknowledgment)" }
        if let window = packet.windowText { words += " " + window }
        if summary.payloadLength > 0 { words += " len \(summary.payloadLength)" }
        // The room for the payload excludes a blank and an arrow of at least three characters.
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
