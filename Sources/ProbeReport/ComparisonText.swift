import ProbeBase
import ProbeEvents

/// Expected and actual bytes, escaped, one above the other, with the first difference marked.
///
/// A line is at most about as wide as a terminal. A byte takes one to four columns. If the difference lies far into the
/// data, both lines begin later, at the same byte, so that equal bytes stand above each other up to the mark.
enum ComparisonText {
    /// The most columns of data in one line.
    static let widest = 96
    /// The most bytes that are shown if there is nothing to compare them with.
    private static let alone = 400

    /// One to three lines; empty if there are no bytes.
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
        bytes.isEmpty ? "no bytes" : Escaped.literal(bytes, limit: alone)
    }

    private static func both(_ expected: [UInt8], _ actual: [UInt8], _ paint: Paint) -> String {
        let difference = firstDifference(expected, actual)
        let start = windowStart(expected, difference ?? 0)
        let lines = "    expected  \(window(expected, from: start))\n    actual    \(window(actual, from: start))\n"
        guard let difference else { return lines + "              (the same bytes)\n" }
        // The columns in front of the mark: the ellipsis if the window begins later, the quote, and the bytes that are
        // equal.
        let before = (start > 0 ? 1 : 0) + 1 + columns(expected[start..<difference])
        let width = max(
            difference < expected.count ? columns(expected[difference...difference]) : 1,
            difference < actual.count ? columns(actual[difference...difference]) : 1)
        let mark = String(repeating: "^", count: width)
        return lines + String(repeating: " ", count: 14 + before)
            + paint(.marker, "\(mark) \(explanation(expected, actual, difference))") + "\n"
    }

    private static func explanation(_ expected: [UInt8], _ actual: [UInt8], _ index: Int) -> String {
        if index >= actual.count {
            let missing = expected.count - index
            return "ends here: \(missing) \(missing == 1 ? "byte is" : "bytes are") missing, from byte \(index + 1) on"
        }
        if index >= expected.count {
            let extra = actual.count - index
            return "\(extra) \(extra == 1 ? "byte" : "bytes") too many, from byte \(index + 1) on"
        }
        return "first difference, at byte \(index + 1)"
    }

    /// The first byte of the window: the start of the data if the difference is within the first two thirds of the
    /// window.
    private static func windowStart(_ bytes: [UInt8], _ difference: Int) -> Int {
        var start = difference
        var used = 0
        while start > 0, used < widest * 2 / 3 {
            start -= 1
            used += Escaped.byte(bytes[start]).count
        }
        if start == 0 { return 0 }
        // It is not: the window begins a third of its width before the difference.
        start = difference
        used = 0
        while start > 0, used < widest / 3 {
            start -= 1
            used += Escaped.byte(bytes[start]).count
        }
        return start
    }

    private static func window(_ bytes: [UInt8], from start: Int) -> String {
        var text = start > 0 ? "…\"" : "\""
        var end = min(start, bytes.count)
        var used = 0
        while end < bytes.count {
            let escaped = Escaped.byte(bytes[end])
            used += escaped.count
            if used > widest { break }
            text += escaped
            end += 1
        }
        return text + (end < bytes.count ? "\"… (\(bytes.count) bytes in all)" : "\"")
    }

    private static func columns(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 + Escaped.byte($1).count }
    }

    /// Nil if they are equal.
    private static func firstDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] { return index }
        return left.count == right.count ? nil : min(left.count, right.count)
    }
}
