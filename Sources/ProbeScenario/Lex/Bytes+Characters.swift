extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    var isWordStart: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
    }
    var isWordCharacter: Bool { isWordStart || isDigit }

    /// A control character that no editor shows; a tab is seen.
    var isHidden: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    /// 0 to 15; nil when it is no hexadecimal digit.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension [UInt8] {
    /// Behind the word that starts at `start`: a `-` is part of it only before a letter or digit.
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

    /// The character that starts at `index`, of text that is known to be UTF-8.
    func scalar(at index: Int) -> String {
        guard index < count else { return "" }
        var end = index + 1
        while end < count, self[end] & 0xC0 == 0x80 { end += 1 }
        return String(decoding: self[index..<end], as: UTF8.self)
    }

    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}

/// Whether bytes are UTF-8.
package enum UTF8Check {
    /// The offset of the first byte that is no part of a well-formed character (RFC 3629); nil when all are.
    package static func firstInvalidOffset(in bytes: Span<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            if first < 0x80 {
                index += 1
                continue
            }
            let length: Int
            var lowest: UInt8 = 0x80
            var highest: UInt8 = 0xBF
            switch first {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, lowest) = (3, 0xA0)
            case 0xED: (length, highest) = (3, 0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, lowest) = (4, 0x90)
            case 0xF4: (length, highest) = (4, 0x8F)
            case 0xF1...0xF3: length = 4
            default: return index
            }
            guard index + length <= bytes.count else { return index }
            guard bytes[index + 1] >= lowest, bytes[index + 1] <= highest else { return index }
            for offset in 2..<max(2, length) where bytes[index + offset] & 0xC0 != 0x80 { return index }
            index += length
        }
        return nil
    }
}
