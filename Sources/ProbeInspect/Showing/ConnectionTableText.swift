import ProbeBase
package import ProbeWire

/// The table of flows. Columns are as wide as their contents.
package enum ConnectionTableText {
    private static let titles = [
        "flow", "client", "server", "packets", "client bytes", "server bytes", "duration", "handshake", "close",
        "anomalies",
    ]
    private static let rightAligned: Set<Int> = [0, 3, 4, 5, 6]

    /// - Parameter counts: by the number of the flow.
    /// - Returns: the number of flows.
    @discardableResult
    package static func write(
        _ conversations: ConversationList, _ counts: [ConnectionAnomalies],
        filter: ConnectionFilter = ConnectionFilter(),
        to output: TextOutput
    ) -> Int {
        var table = Cells()
        var count = 0
        for number in conversations.indices where filter.includes(conversations[number]) {
            if count == 0 { for title in titles { table.end { $0.append(text: title) } } }
            fill(&table, conversations[number], number < counts.count ? counts[number] : ConnectionAnomalies())
            count += 1
        }
        table.write(rightAligned: rightAligned, to: output)
        return count
    }

    private static func fill(
        _ table: inout Cells, _ conversation: borrowing Conversation, _ counts: ConnectionAnomalies
    ) {
        table.end { $0.append(decimal: conversation.number) }
        table.end { $0.append(conversation.client) }
        table.end { $0.append(conversation.server) }
        table.end { $0.append(decimal: conversation.packetCount) }
        table.end { $0.append(decimal: Int(conversation.fromClient.stream.deliveredLength)) }
        table.end { $0.append(decimal: Int(conversation.fromServer.stream.deliveredLength)) }
        table.end { $0.append(text: DurationText.text(nanoseconds: conversation.duration)) }
        table.end { $0.append(text: conversation.handshake.rawValue) }
        table.end { bytes in
            let closes = conversation.closes
            if closes.isEmpty { bytes.append(text: "open") }
            for (index, close) in closes.enumerated() {
                if index > 0 { bytes.append(text: ", ") }
                bytes.append(text: close.side.word)
                bytes.append(text: close.isReset ? " RST" : " FIN")
            }
        }
        table.end { bytes in
            for (index, anomaly) in conversation.anomalies(counts).enumerated() {
                if index > 0 { bytes.append(text: ", ") }
                bytes.append(text: anomaly.text)
            }
        }
    }

    package static func anomalies(_ report: ConnectionReport) -> String {
        report.anomalies.map(\.text).joined(separator: ", ")
    }

    /// All cells in one buffer, because a capture may have hundreds of thousands of flows.
    private struct Cells {
        private var bytes: [UInt8] = []
        /// The end of each cell, row by row.
        private var ends: [Int] = []
        private var widths = [Int](repeating: 0, count: titles.count)

        /// Adds the cell that `fill` appends. It is ASCII: a byte is a column.
        mutating func end(_ fill: (inout [UInt8]) -> Void) {
            let start = bytes.count
            fill(&bytes)
            let column = ends.count % widths.count
            widths[column] = max(widths[column], bytes.count - start)
            ends.append(bytes.count)
        }

        func write(rightAligned: Set<Int>, to output: TextOutput) {
            let isRight = widths.indices.map(rightAligned.contains)
            var text: [UInt8] = []
            var start = 0
            for (number, end) in ends.enumerated() {
                let column = number % widths.count
                let missing = widths[column] - (end - start)
                if column > 0 { text.append(UInt8(ascii: " "), count: 2) }
                if isRight[column] { text.append(UInt8(ascii: " "), count: missing) }
                text += bytes[start..<end]
                if !isRight[column] { text.append(UInt8(ascii: " "), count: missing) }
                start = end
                guard column == widths.count - 1 else { continue }
                while text.last == UInt8(ascii: " ") { text.removeLast() }
                text.append(UInt8(ascii: "\n"))
                if text.count >= 1 << 15 || number == ends.count - 1 {
                    output(String(decoding: text, as: UTF8.self))
                    text.removeAll(keepingCapacity: true)
                }
            }
        }
    }

    /// One line about the whole file.
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
        let unfollowed = inspection.analysis.unfollowedCount
        if unfollowed > 0 {
            text += "; \(ByteText.count(unfollowed, "packet")) of later flows not followed: there are too many flows"
        }
        if inspection.analysis.table.hasUsedUpMemory {
            text += "; memory for what waits behind gaps was used up: some gaps are reported for that"
        }
        return text
    }
}

/// Receives text, one or more complete lines at a time.
package typealias TextOutput = (String) -> Void
