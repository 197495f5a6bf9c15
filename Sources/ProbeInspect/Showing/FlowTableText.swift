import ProbeWire

/// The table of flows, in columns as wide as what stands in them.
package enum FlowTableText {
    private static let titles = [
        "flow", "client", "server", "packets", "client bytes", "server bytes", "duration", "handshake", "close",
        "anomalies",
    ]
    private static let rightAligned: Set<Int> = [0, 3, 4, 5, 6]

    package static func write(_ reports: [FlowReport], to output: TextOutput) {
        guard !reports.isEmpty else { return }
        let rows = reports.map(cells)
        let widths = titles.indices.map { column in
            rows.reduce(titles[column].count) { max($0, $1[column].count) }
        }
        for row in [titles] + rows {
            var line = ""
            for column in row.indices {
                if column > 0 { line += "  " }
                line +=
                    rightAligned.contains(column)
                    ? Columns.right(row[column], widths[column])
                    : column == row.count - 1 ? row[column] : Columns.left(row[column], widths[column])
            }
            while line.last == " " { line.removeLast() }
            output(line + "\n")
        }
    }

    private static func cells(_ report: FlowReport) -> [String] {
        [
            String(report.number), report.conversation.client.description, report.conversation.server.description,
            String(report.conversation.packetCount), String(report.bytes(from: .client)),
            String(report.bytes(from: .server)), DurationText.text(nanoseconds: report.duration),
            report.handshake.rawValue, report.closeText, anomalies(report),
        ]
    }

    package static func anomalies(_ report: FlowReport) -> String {
        report.anomalies.map(\.text).joined(separator: ", ")
    }

    /// One line about all of the file.
    package static func summary(_ inspection: Inspection, shown: Int) -> String {
        let flows = inspection.analysis.table.conversations.count
        var text = shown == flows ? ByteText.count(flows, "flow") : "\(shown) of \(ByteText.count(flows, "flow"))"
        text += ", \(ByteText.count(inspection.packetCount, "packet"))"
        let other = inspection.packetCount - inspection.analysis.tcpPacketCount
        if other > 0 { text += " (\(other) of them no TCP)" }
        if inspection.analysis.undecodableCount > 0 {
            text += ", \(inspection.analysis.undecodableCount) of these could not be decoded"
        }
        if inspection.dropped > 0 {
            text += "; the capture dropped \(inspection.dropped) packets: what is missing may be its loss"
        }
        if inspection.analysis.table.hasReachedTotal {
            text += "; memory for what waits behind gaps was used up: some gaps are reported for that"
        }
        return text
    }
}
