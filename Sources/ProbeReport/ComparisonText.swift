import ProbeBase
import ProbeEvents

/// The expected bytes above the actual bytes, escaped, with the first difference marked.
///
/// A line is at most about as wide as a terminal. Characters of valid UTF-8 are shown unchanged. If the first
/// difference is far into the data, both lines begin at the same, later byte, so that the equal bytes before the mark
/// are aligned.
enum ComparisonText {
    /// The maximum width of the data in one line, in columns.
    static let widest = 96
    /// The maximum number of bytes that are shown if only expected bytes, or only actual bytes, are given.
    private static let alone = 400

    /// Returns one to three lines, or an empty text if there are no bytes.
    static func text(expected: [UInt8]?, actual: [UInt8]?, paint: Paint = .plain) -> String {
        switch (expected, actual) {
        case (nil, nil): ""
        case (nil, let actual?): "    actual    \(single(actual))\n"
        case (let expected?, nil): "    expected  \(single(expected))\n"
        case ([]?, let actual?): "    expected  no bytes\n    actual    \(single(actual))\n"
        case (let expected?, []?): "    expected  \(single(expected))\n    actual    no bytes\n"
        case (let expected?, let actual?): both(expected, actual, paint)
        }
    }

    private static func single(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "no bytes" : Escaped.readable(bytes, limit: alone)
    }

    private static func both(_ expected: [UInt8], _ actual: [UInt8], _ paint: Paint) -> String {
        let difference = firstDifference(expected, actual)
        let shared = difference.map { min(boundary(expected, $0), boundary(actual, $0)) }
        let start = windowStart(expected, shared ?? 0)
        let lines = "    expected  \(window(expected, from: start))\n    actual    \(window(actual, from: start))\n"
        guard let difference, let shared else { return lines + "              (the same bytes)\n" }
        // The columns before the mark: the ellipsis if the window does not begin at the first byte, the quote, and the
        // equal bytes.
        let before = (start > 0 ? 1 : 0) + 1 + columns(expected, start..<shared)
        let width = max(markWidth(expected, shared), markWidth(actual, shared))
        let mark = String(repeating: "^", count: width)
        return lines + String(repeating: " ", count: 14 + before)
            + paint(.marker, "\(mark) \(explanation(expected, actual, difference))") + "\n"
    }

    /// Returns the start of the character that contains the byte at an index; the index itself if the byte is not
    /// inside a multibyte character.
    private static func boundary(_ bytes: [UInt8], _ index: Int) -> Int {
        for start in stride(from: min(index, bytes.count) - 1, through: max(0, index - 3), by: -1) {
            if Escaped.readableUnit(of: bytes, at: start).length > index - start { return start }
        }
        return index
    }

    private static func markWidth(_ bytes: [UInt8], _ index: Int) -> Int {
        index < bytes.count ? max(1, Columns.width(Escaped.readableUnit(of: bytes, at: index).text)) : 1
    }

    private static func explanation(_ expected: [UInt8], _ actual: [UInt8], _ index: Int) -> String {
        if index >= actual.count {
            let missing = expected.count - index
            return "ends here: \(missing) \(missing == 1 ? "byte" : "bytes") missing, starting at byte \(index + 1)"
        }
        if index >= expected.count {
            let extra = actual.count - index
            return "\(extra) extra \(extra == 1 ? "byte" : "bytes"), starting at byte \(index + 1)"
        }
        return "first difference at byte \(index + 1)"
    }

    /// Returns the index of the first byte in the window. The window starts at the beginning of the data if the first
    /// difference lies within two thirds of the window's width from there.
    private static func windowStart(_ bytes: [UInt8], _ difference: Int) -> Int {
        if start(of: widest * 2 / 3, before: difference, bytes) == 0 { return 0 }
        // If the difference is farther into the data, the window begins a third of its width before the difference.
        return start(of: widest / 3, before: difference, bytes)
    }

    /// Moves back from a byte, by complete characters, until the characters fill the given number of columns.
    private static func start(of width: Int, before difference: Int, _ bytes: [UInt8]) -> Int {
        var start = difference
        var used = 0
        while start > 0, used < width {
            let first = boundary(bytes, start - 1)
            used += Columns.width(Escaped.readableUnit(of: bytes, at: first).text)
            start = first
        }
        return start
    }

    private static func window(_ bytes: [UInt8], from start: Int) -> String {
        var text = start > 0 ? "…\"" : "\""
        var end = min(start, bytes.count)
        var used = 0
        while end < bytes.count {
            let unit = Escaped.readableUnit(of: bytes, at: end)
            used += Columns.width(unit.text)
            if used > widest { break }
            text += unit.text
            end += unit.length
        }
        return text + (end < bytes.count ? "\"… (\(bytes.count) bytes in total)" : "\"")
    }

    private static func columns(_ bytes: [UInt8], _ range: Range<Int>) -> Int {
        var width = 0
        var index = range.lowerBound
        while index < range.upperBound {
            let unit = Escaped.readableUnit(of: bytes, at: index)
            width += Columns.width(unit.text)
            index += unit.length
        }
        return width
    }

    /// Returns the index of the first difference; `nil` if the two arrays are equal.
    private static func firstDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] { return index }
        return left.count == right.count ? nil : min(left.count, right.count)
    }
}
