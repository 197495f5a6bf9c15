extension IntegerFormat {
    /// The bytes of a value; nil when it does not fit. `varint` is the base 128 encoding of protocol buffers.
    package func encode(_ value: Int) -> [UInt8]? {
        guard value >= 0, value <= largest else { return nil }
        let bits = UInt64(value)
        switch self {
        case .u8: return [UInt8(truncatingIfNeeded: bits)]
        case .u16: return Self.bigEndian(bits, 2)
        case .u32: return Self.bigEndian(bits, 4)
        case .u64: return Self.bigEndian(bits, 8)
        case .u16le: return Self.bigEndian(bits, 2).reversed()
        case .u32le: return Self.bigEndian(bits, 4).reversed()
        case .u64le: return Self.bigEndian(bits, 8).reversed()
        case .varint:
            var rest = bits
            var result: [UInt8] = []
            while rest >= 0x80 {
                result.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            return result + [UInt8(truncatingIfNeeded: rest)]
        }
    }

    private static func bigEndian(_ bits: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * (count - 1 - $0))) }
    }
}

extension Framing {
    /// What ends a unit of this framing; nil for those with a length before the unit, and for `websocket` and `none`.
    package var terminator: [UInt8]? {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .cr: [0x0D]
        case .nul: [0x00]
        default: nil
        }
    }

    /// The length that stands before a unit of this framing; nil for the others.
    package var prefix: IntegerFormat? {
        switch self {
        case .u8: .u8
        case .u16: .u16
        case .u32: .u32
        case .u64: .u64
        case .varint: .varint
        default: nil
        }
    }
}
