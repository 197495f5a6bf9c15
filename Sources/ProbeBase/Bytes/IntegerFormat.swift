/// The encoding of an unsigned integer on the wire. Without `le` the highest byte comes first.
package enum IntegerFormat: String, Sendable, CaseIterable {
    case u8, u16, u32, u64, u16le, u32le, u64le, varint

    /// The largest value that can be encoded. For `u64` it is the largest integer of a script.
    package var largest: Int {
        switch self {
        case .u8: 0xFF
        case .u16, .u16le: 0xFFFF
        case .u32, .u32le: 0xFFFF_FFFF
        case .u64, .u64le, .varint: Int.max
        }
    }
}

extension IntegerFormat {
    /// The encoded bytes; nil if the value is too large. `varint` is the base 128 encoding of Protocol Buffers.
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
