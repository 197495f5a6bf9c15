import ProbeBase
import ProbeEvents

/// Expected and actual bytes, escaped, one above the other, with the first difference marked.
///
/// Lines are as wide as a terminal is: bytes take one to four columns each, and a difference far into the data moves the
/// window of both, so that the same bytes stand above each other up to the mark.
enum ComparisonText {
    /// Columns of each that are shown.
    static let widest = 96
    /// Bytes that are shown where there is nothing to compare with.
    private static let alone = 400

    /// Some lines; none where there are no bytes.
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
        // The ellipsis of a window that begins later, the quote, then what is the same in both.
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

    /// The first byte of the window: the start of the data where that leaves the difference well inside it.
    private static func windowStart(_ bytes: [UInt8], _ difference: Int) -> Int {
        var start = difference
        var used = 0
        while start > 0, used < widest * 2 / 3 {
            start -= 1
            used += Escaped.byte(bytes[start]).count
        }
        if start == 0 { return 0 }
        // It does not fit: a third of the window leads up to it.
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

    /// nil when they are the same.
    private static func firstDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] { return index }
        return left.count == right.count ? nil : min(left.count, right.count)
    }
}
