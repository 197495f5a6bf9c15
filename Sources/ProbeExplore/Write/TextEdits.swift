/// A set of replacements of byte ranges in text. An edit that is inside another edit, or overlaps it, is dropped.
package struct TextEdits {
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    package init() {}

    /// Replaces a range; if the range is empty, the text is inserted.
    package mutating func replace(_ range: Range<Int>, with text: String) {
        edits.append((range, Array(text.utf8)))
    }

    /// Returns the text with all edits applied. Insertions at the same offset keep their order.
    package func applied(to bytes: [UInt8]) -> [UInt8] {
        let sorted = edits.enumerated().sorted { left, right in
            let (a, b) = (left.element.range, right.element.range)
            if a.lowerBound != b.lowerBound { return a.lowerBound < b.lowerBound }
            // At the same offset, insertions are applied first, and then the longest replacement.
            if a.isEmpty != b.isEmpty { return a.isEmpty }
            return a.upperBound != b.upperBound ? a.upperBound > b.upperBound : left.offset < right.offset
        }
        var result: [UInt8] = []
        var position = 0
        for (_, edit) in sorted where edit.range.lowerBound >= position && edit.range.upperBound <= bytes.count {
            result += bytes[position..<edit.range.lowerBound] + edit.text
            position = edit.range.upperBound
        }
        return result + bytes[position...]
    }
}
