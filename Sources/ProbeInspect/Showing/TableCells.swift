import ProbeBase
import ProbeReport

/// The cells of a table. They are stored in one buffer, because a capture may have hundreds of thousands of flows.
/// Cells are ASCII, so each byte has the width of one character.
struct TableCells {
    struct Layout {
        /// Whether each column is right-aligned, by column number.
        var isRight: [Bool]
        /// The maximum width of a line in characters; `nil` for no limit.
        var width: Int?
        var paint: Paint
        /// The column whose cells are highlighted in color.
        var marked: Int?
    }

    private var bytes: [UInt8] = []
    /// The offset in `bytes` at which each cell ends, row by row.
    private var ends: [Int] = []
    private var widths: [Int]

    init(columnCount: Int) { widths = [Int](repeating: 0, count: columnCount) }

    /// Adds a cell; `fill` appends the cell's contents to the buffer.
    mutating func end(_ fill: (inout [UInt8]) -> Void) {
        let start = bytes.count
        fill(&bytes)
        let column = ends.count % widths.count
        widths[column] = max(widths[column], bytes.count - start)
        ends.append(bytes.count)
    }

    func write(_ layout: Layout, to output: TextOutput) {
        guard !ends.isEmpty else { return }
        let all = widths.reduce(2 * (widths.count - 1), +)
        if let width = layout.width, all > width { return writeBands(layout, width, to: output) }
        if layout.paint.isOn { return writeBands(layout, .max, to: output) }
        writeRows(layout.isRight, to: output)
    }

    /// Writes each row on one line.
    private func writeRows(_ isRight: [Bool], to output: TextOutput) {
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

    // MARK: Several lines for each row

    /// The columns that are on the same line, if each row takes several lines.
    private struct Band {
        var columns: [Int] = []
        var used = 0
        /// Whether the band has a single column that may be wider than the line. The cells of such a band are wrapped.
        var isWrapped = false
    }

    /// Returns the bands of a row. Each band has as many columns as fit next to each other. A column that is wider than
    /// a line has its own band.
    private func bands(_ width: Int, indent: Int) -> [Band] {
        var bands = [Band()]
        for column in widths.indices {
            let last = bands.count - 1
            let isFirst = bands[last].columns.isEmpty
            let used = bands[last].used + (isFirst ? 0 : 2) + widths[column]
            if used <= width {
                bands[last].columns.append(column)
                bands[last].used = used
                continue
            }
            let band = Band(
                columns: [column], used: indent + widths[column], isWrapped: indent + widths[column] > width)
            if isFirst { bands[last] = band } else { bands.append(band) }
            // The columns after a wrapped cell begin on a new line.
            if band.isWrapped, column < widths.count - 1 { bands.append(Band(used: indent)) }
        }
        return bands
    }

    private func writeBands(_ layout: Layout, _ width: Int, to output: TextOutput) {
        let indent = min(widths[0] + 2, 8, width / 4)
        let bands = bands(width, indent: indent)
        var text = ""
        for row in 0..<(ends.count / widths.count) {
            for (number, band) in bands.enumerated() {
                text += line(row, band, layout, width, margin: number == 0 ? 0 : indent)
            }
            if text.utf8.count >= 1 << 15 {
                output(text)
                text = ""
            }
        }
        if !text.isEmpty { output(text) }
    }

    /// Returns the text of a band of a row; empty if all cells of the band are empty.
    private func line(_ row: Int, _ band: Band, _ layout: Layout, _ width: Int, margin: Int) -> String {
        let cells = band.columns.map { cell(row, $0) }
        if cells.allSatisfy(\.isEmpty) { return "" }
        let lead = String(repeating: " ", count: margin)
        if band.isWrapped, let cell = cells.first {
            let wrapped = WrappedText.lines(
                lead, cell.split(separator: " ").map(String.init), width: width, indent: margin)
            return wrapped.split(separator: "\n").map { line -> String in
                let words: Substring = line.drop { $0 == " " }
                let margin = String(repeating: " ", count: line.count - words.count)
                return margin + painted(String(words), row, band.columns[0], layout) + "\n"
            }.joined()
        }
        var line = lead
        // The blanks before a cell are written together with the cell, so that the line does not end with blanks.
        var pending = 0
        for (place, column) in band.columns.enumerated() {
            let missing = widths[column] - cells[place].utf8.count
            if place > 0 { pending += 2 }
            if layout.isRight[column] { pending += missing }
            if !cells[place].isEmpty {
                line += String(repeating: " ", count: pending) + painted(cells[place], row, column, layout)
                pending = 0
            }
            if !layout.isRight[column] { pending += missing }
        }
        return line + "\n"
    }

    private func painted(_ text: String, _ row: Int, _ column: Int, _ layout: Layout) -> String {
        if row == 0 { return layout.paint(.cause, text) }
        return column == layout.marked ? layout.paint(.marker, text) : text
    }

    private func cell(_ row: Int, _ column: Int) -> String {
        let number = row * widths.count + column
        return String(decoding: bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]], as: UTF8.self)
    }
}
