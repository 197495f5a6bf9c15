extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    var isWordStart: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
    }
    var isWordCharacter: Bool { isWordStart || isDigit }

    /// Whether the byte is a control character that editors don't show; a tab is visible.
    var isHidden: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

}

extension [UInt8] {
    /// Returns the offset after the word at `start`. A `-` is part of the word only before a letter or digit.
    func endOfWord(from start: Int) -> Int {
        var index = start
        while index < count {
            let byte = self[index]
            if byte.isWordCharacter {
                index += 1
            } else if byte == UInt8(ascii: "-"), index + 1 < count, self[index + 1].isWordCharacter,
                self[index + 1] != UInt8(ascii: "_")
            {
                index += 2
            } else {
                break
            }
        }
        return index
    }

    func holds(_ text: StaticString, in range: Range<Int>) -> Bool {
        guard text.utf8CodeUnitCount == range.count else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<expected.count where self[range.lowerBound + offset] != expected[offset] { return false }
            return true
        }
    }

    /// Returns the character that starts at `index`; the text must be valid UTF-8.
    func scalar(at index: Int) -> String {
        guard index < count else { return "" }
        var end = index + 1
        while end < count, self[end] & 0xC0 == 0x80 { end += 1 }
        return String(decoding: self[index..<end], as: UTF8.self)
    }

    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
