import ProbeEvents

/// Expected and actual bytes, escaped, one above the other, with the first difference marked.
enum ComparisonText {
    /// Escaped characters of each that are shown; a difference farther on moves the window.
    private static let window = 96

    static func text(expected: [UInt8]?, actual: [UInt8]?) -> String? {
        switch (expected, actual) {
        case (nil, nil): nil
        case (nil, let actual?): "    actual    \(EscapedBytes.quoted(actual, limit: 400))\n"
        case (let expected?, nil): "    expected  \(EscapedBytes.quoted(expected, limit: 400))\n"
        case ([]?, let actual?): "    expected  no bytes\n    actual    \(EscapedBytes.quoted(actual, limit: 400))\n"
        case (let expected?, let actual?): both(expected, actual)
        }
    }

    private static func both(_ expected: [UInt8], _ actual: [UInt8]) -> String {
        let difference = firstDifference(expected, actual)
        // A difference far from the start: what comes before is the same in both and is left out.
        let start = (difference ?? 0) > window / 2 ? (difference ?? 0) - window / 4 : 0
        let lead = start > 0 ? "…" : ""
        let line = { (bytes: [UInt8]) -> String in
            let shown = bytes.dropFirst(start).prefix(window)
            let rest = bytes.count - start - shown.count
            return "\(lead)\"\(EscapedBytes.text(shown))\"" + (rest > 0 ? "… (\(bytes.count) bytes in all)" : "")
        }
        var text = "    expected  \(line(expected))\n    actual    \(line(actual))\n"
        if let difference {
            let before = EscapedBytes.text(expected.dropFirst(start).prefix(difference - start)).count + lead.count + 1
            text += "              \(String(repeating: " ", count: before))^ first difference, at byte \(difference + 1)\n"
        }
        return text
    }

    /// nil when they are the same.
    private static func firstDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] { return index }
        return left.count == right.count ? nil : min(left.count, right.count)
    }
}
