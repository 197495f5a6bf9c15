/// The Base64 encoding of RFC 4648, section 4, with padding. The decoder skips white space.
package enum Base64 {
    package enum Outcome {
        case bytes([UInt8])
        /// The text contains a character outside the Base64 alphabet; `offset` is the position of the first such
        /// character.
        case invalid(offset: Int)
    }

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            count += 2
            text.append(digits[bits >> count & 63])
            if count == 6 {
                text.append(digits[bits & 63])
                count = 0
            }
        }
        if count > 0 {
            text.append(digits[bits << (6 - count) & 63])
            while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func decode(_ text: [UInt8]) -> Outcome {
        var result: [UInt8] = []
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for (offset, byte) in text.enumerated() {
            if [0x20, 0x09, 0x0D, 0x0A].contains(byte) { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                if digits % 4 < 2 || digits % 4 + padding > 4 { return .invalid(offset: offset) }
                continue
            }
            guard padding == 0, let digit = digit(byte) else { return .invalid(offset: offset) }
            bits = bits << 6 | UInt32(digit)
            digits += 1
            if digits % 4 == 0 {
                result += [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)]
                result.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch digits % 4 {
        case 0: return padding == 0 ? .bytes(result) : .invalid(offset: text.count)
        case 2 where padding == 2: return .bytes(result + [UInt8(truncatingIfNeeded: bits >> 4)])
        case 3 where padding == 1:
            return .bytes(result + [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)])
        default: return .invalid(offset: text.count)
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
