import ProbeBase
package import ProbeReport
package import ProbeWire

/// Writes the table of flows.
///
/// Columns are as wide as their contents. If the columns together are wider than a line, each flow takes several lines,
/// and the columns that do not fit on the first line follow on indented lines.
package enum ConnectionTableText {
    /// The appearance of the table.
    package struct Style: Sendable {
        package var columns: [ConnectionColumn]
        /// The maximum width of a line in characters; `nil` to write one line per flow, however long.
        package var width: Int?
        /// The order of the flows; `nil` for the order in which they were captured.
        package var order: ConnectionOrder?
        package var paint: Paint

        package init(
            columns: [ConnectionColumn] = ConnectionColumn.standard, width: Int? = nil, order: ConnectionOrder? = nil,
            paint: Paint = .plain
        ) {
            self.columns = columns
            self.width = width
            self.order = order
            self.paint = paint
        }
    }

    /// Writes the table.
    ///
    /// - Parameters:
    ///   - counts: the anomalies of each flow, by flow number.
    ///   - timings: the timing of each flow, by flow number; empty if it was not measured.
    /// - Returns: the number of flows in the table.
    @discardableResult
    package static func write(
        _ conversations: ConversationList, _ counts: [ConnectionAnomalies], timings: [ConnectionTiming] = [],
        filter: ConnectionFilter = ConnectionFilter(), style: Style = Style(),
        to output: TextOutput
    ) -> Int {
        var table = TableCells(columnCount: style.columns.count)
        var count = 0
        func add(_ number: Int) {
            if count == 0 { for column in style.columns { table.end { $0.append(text: column.title) } } }
            let anomalies = number < counts.count ? counts[number] : ConnectionAnomalies()
            let timing = number < timings.count ? timings[number] : nil
            // The flow is read in place, because copying it would take longer than formatting its cells.
            conversations.withConversation(at: number) { flow in
                for column in style.columns { table.end { column.append(flow, anomalies, timing, to: &$0) } }
            }
            count += 1
        }
        if let order = style.order {
            let numbers = conversations.indices.filter { filter.includes($0, of: conversations) }
            for number in order.sorted(numbers, of: conversations, timings) { add(number) }
        } else {
            for number in conversations.indices where filter.includes(conversations[number]) { add(number) }
        }
        let layout = TableCells.Layout(
            isRight: style.columns.map(\.isRightAligned), width: style.width, paint: style.paint,
            marked: style.columns.firstIndex(of: .anomalies))
        table.write(layout, to: output)
        return count
    }

    package static func anomalies(_ report: ConnectionReport) -> String {
        report.anomalies.map(\.text).joined(separator: ", ")
    }

    /// Returns a one-sentence summary of the whole file, wrapped to `width`.
    package static func summary(_ inspection: Inspection, shown: Int, width: Int? = nil) -> String {
        let text = sentence(inspection, shown: shown)
        return width == nil ? text : String(WrappedText.sentence(text, width: width).dropLast())
    }

    /// Returns a sentence wrapped to the given width, or on one line if `width` is `nil`.
    package static func wrapped(_ text: String, width: Int?) -> String { WrappedText.sentence(text, width: width) }

    private static func sentence(_ inspection: Inspection, shown: Int) -> String {
        let flows = inspection.analysis.table.conversations.count
        var summary = shown == flows ? ByteText.count(flows, "flow") : "\(shown) of \(ByteText.count(flows, "flow"))"
        summary +=
            inspection.excludedCount == 0
            ? ", \(ByteText.count(inspection.packetCount, "packet"))"
            : ", \(inspection.packetCount) of \(ByteText.count(inspection.packetCount + inspection.excludedCount, "packet"))"
        let others = inspection.analysis.others
        let isRead = { (packet: OtherPacket) in !packet.isUnread && !packet.isHidden }
        if let text = others.text(isRead) { summary += " (\(others.count(isRead)) not TCP: \(text))" }
        if let text = others.text({ !isRead($0) }) {
            let count = others.count { !isRead($0) }
            summary += "; \(ByteText.count(count, "packet")) could not be read: \(text)"
        }
        if inspection.dropped > 0 {
            summary +=
                "; the capture dropped \(ByteText.count(Int(clamping: inspection.dropped), "packet")), which may explain gaps"
        }
        let unfollowed = inspection.analysis.unfollowedCount
        if unfollowed > 0 {
            summary +=
                "; \(ByteText.count(unfollowed, "packet")) of later flows not followed, because there are too many flows"
        }
        if inspection.analysis.table.hasUsedUpMemory {
            summary += "; memory for data after gaps was used up, and some gaps are reported only for that reason"
        }
        return summary
    }
}

/// A function that receives text, one or more complete lines at a time.
package typealias TextOutput = (String) -> Void
