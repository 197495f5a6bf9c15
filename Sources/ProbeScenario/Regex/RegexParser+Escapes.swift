extension RegexParser {
    /// `\` and what follows, which is taken.
    mutating func escapeValue(inClass: Bool) throws(RegexSyntaxError) -> RegexEscape {
        let start = position
        position += 1
        guard let byte = peek() else { throw error(.danglingEscape, at: start) }
        if byte >= 0x80 {
            let character = takeScalar()
            throw error(.unknownEscape(String(decoding: character, as: UTF8.self)), at: start)
        }
        position += 1
        switch byte {
        case UInt8(ascii: "d"): return .set(.digits)
        case UInt8(ascii: "D"): return .set(ByteSet.digits.inverted)
        case UInt8(ascii: "w"): return .set(.word)
        case UInt8(ascii: "W"): return .set(ByteSet.word.inverted)
        case UInt8(ascii: "s"): return .set(.space)
        case UInt8(ascii: "S"): return .set(ByteSet.space.inverted)
        case UInt8(ascii: "r"): return .byte(0x0D)
        case UInt8(ascii: "n"): return .byte(0x0A)
        case UInt8(ascii: "t"): return .byte(0x09)
        case UInt8(ascii: "f"): return .byte(0x0C)
        case UInt8(ascii: "v"): return .byte(0x0B)
        case UInt8(ascii: "x"): return .byte(try byteEscape(start))
        case UInt8(ascii: "u"): return try scalarEscape(start)
        case UInt8(ascii: "0"):
            if let next = peek(), ByteSet.digits.contains(next) { throw error(.octalEscape, at: start) }
            return .byte(0x00)
        // In a class, `\b` is the backspace that it is elsewhere too in C.
        case UInt8(ascii: "b"): return inClass ? .byte(0x08) : .assertion(.wordBoundary)
        case UInt8(ascii: "B") where !inClass: return .assertion(.notWordBoundary)
        case UInt8(ascii: "A") where !inClass: return .assertion(.inputStart)
        case UInt8(ascii: "z") where !inClass: return .assertion(.inputEnd)
        case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "k"), UInt8(ascii: "g"):
            throw error(inClass ? .unknownEscape(String(UnicodeScalar(byte))) : .backreference, at: start)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            throw error(.unknownEscape(String(UnicodeScalar(byte))), at: start)
        default: return .byte(byte)
        }
    }

    private mutating func byteEscape(_ start: Int) throws(RegexSyntaxError) -> UInt8 {
        guard let high = hexDigit() else { throw error(.badByteEscape, at: start) }
        guard let low = hexDigit() else { throw error(.badByteEscape, at: start) }
        return UInt8(truncatingIfNeeded: high << 4 | low)
    }

    private mutating func scalarEscape(_ start: Int) throws(RegexSyntaxError) -> RegexEscape {
        guard take("{") else { throw error(.badScalarEscape, at: start) }
        var value: UInt32 = 0
        var digits = 0
        while digits < 6, let digit = hexDigit() {
            value = value << 4 | digit
            digits += 1
        }
        guard digits > 0, take("}"), let scalar = UnicodeScalar(value) else { throw error(.badScalarEscape, at: start) }
        let bytes = Array(String(Character(scalar)).utf8)
        return bytes.count == 1 ? .byte(bytes[0]) : .bytes(bytes)
    }

    private mutating func hexDigit() -> UInt32? {
        guard let byte = peek() else { return nil }
        let value: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
        position += 1
        return UInt32(value)
    }
}
