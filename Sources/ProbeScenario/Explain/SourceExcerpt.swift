import ProbeBase

/// A line of a script with carets under a span. The excerpt is safe for any terminal: a tab is shown as one space,
/// control characters are escaped, and a long line is cut to a window around the span. The position of the carets takes
/// the width of wide characters into account.
package struct SourceExcerpt: Sendable, Equatable {
    /// The maximum width of the part of a line that is shown, in columns.
    package static let widest = 100

    /// The line number, starting at 1.
    package let line: Int
    /// The text of the line, or of the part that is in the window.
    package let text: String
    /// White space up to the span, then one `^` for each column of the span.
    package let carets: String

    package init(of span: SourceSpan, in file: SourceFile) {
        // A span outside the file is moved to the nearest place in the file.
        let count = file.bytes.count
        let first = min(max(0, span.start), count)
        let span = SourceSpan(file: span.file, start: first, end: min(max(first, span.end), count))
        let (line, _) = file.lineAndColumn(at: span.start)
        self.line = line
        let range = file.range(ofLine: line)
        // Text far from the span is not shown, so it need not be examined.
        var start = max(range.lowerBound, min(span.start, range.upperBound) - 4 * Self.widest)
        while start > range.lowerBound, file.bytes[start] & 0xC0 == 0x80 { start -= 1 }
        let end = min(range.upperBound, max(span.start, range.lowerBound) + 8 * Self.widest)
        var cells = Self.cells(of: file.bytes, in: start..<max(start, end), span: span)
        if end < range.upperBound, cells.last?.isInSpan == false || cells.count > 1 { cells.append(.ellipsis) }
        if start > range.lowerBound { cells.insert(.ellipsis, at: 0) }
        (text, carets) = Self.window(cells)
    }

    private struct Cell {
        var text: String
        var width: Int
        var isInSpan: Bool

        static let ellipsis = Cell(text: "…", width: 1, isInSpan: false)
    }

    private static func cells(of bytes: [UInt8], in range: Range<Int>, span: SourceSpan) -> [Cell] {
        var cells: [Cell] = []
        var index = range.lowerBound
        while index < range.upperBound {
            var end = index + 1
            while end < range.upperBound, bytes[end] & 0xC0 == 0x80, end - index < 4 { end += 1 }
            let character = Array(bytes[index..<end])
            let isInSpan = index < span.end && end > span.start
            if character == [0x09] {
                cells.append(Cell(text: " ", width: 1, isInSpan: isInSpan))
            } else if UTF8Check.firstInvalidOffset(in: character.span) == nil {
                let text = Escaped.text(character)
                cells.append(Cell(text: text, width: width(text), isInSpan: isInSpan))
            } else {
                for byte in character {
                    cells.append(Cell(text: Escaped.text([byte]), width: 4, isInSpan: isInSpan))
                }
            }
            index = end
        }
        return cells
    }

    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
    }

    /// Cuts the line to the window, which always contains the start of the span.
    private static func window(_ cells: [Cell]) -> (String, String) {
        let total = cells.reduce(0) { $0 + $1.width }
        let first = cells.firstIndex(where: \.isInSpan) ?? cells.count
        guard total > widest else { return drawn(cells[...], isCutBefore: false, isCutAfter: false) }
        var start = first
        var before = 0
        while start > 0, before + cells[start - 1].width <= 2 * widest / 5 {
            start -= 1
            before += cells[start].width
        }
        var end = start
        var used = 0
        while end < cells.count, used + cells[end].width <= widest {
            used += cells[end].width
            end += 1
        }
        return drawn(cells[start..<end], isCutBefore: start > 0, isCutAfter: end < cells.count)
    }

    private static func drawn(_ cells: ArraySlice<Cell>, isCutBefore: Bool, isCutAfter: Bool) -> (String, String) {
        var text = isCutBefore ? "…" : ""
        var carets = isCutBefore ? " " : ""
        var hasCaret = false
        for cell in cells {
            text += cell.text
            if cell.isInSpan {
                carets += String(repeating: "^", count: cell.width)
                if cell.width > 0 { hasCaret = true }
            } else if !hasCaret {
                carets += String(repeating: " ", count: cell.width)
            }
        }
        if isCutAfter { text += "…" }
        // An empty span, or a span at the end of a line, gets one caret.
        return (text, hasCaret ? carets : carets + "^")
    }
}
