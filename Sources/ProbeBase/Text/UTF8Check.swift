/// Checks whether bytes are valid UTF-8.
package enum UTF8Check {
    /// Returns the offset of the first byte that is not part of a well-formed character (RFC 3629); `nil` if the bytes
    /// are valid UTF-8.
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
