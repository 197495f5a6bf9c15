/// Writes fields in protobuf's wire format.
package struct ProtobufWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// How a field's value is encoded. The wire type is in the lowest three bits of the field's tag.
    package enum WireType: UInt64, Sendable {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
        case fixed32 = 5
    }

    /// The largest field number that protobuf allows.
    package static let largestField = (1 << 29) - 1

    package mutating func field(_ number: Int, varint value: UInt64) {
        tag(number, .varint)
        append(varint: value)
    }

    package mutating func field(_ number: Int, fixed32 value: UInt32) {
        tag(number, .fixed32)
        append(fixed32: value)
    }

    package mutating func field(_ number: Int, fixed64 value: UInt64) {
        tag(number, .fixed64)
        append(fixed64: value)
    }

    package mutating func field(_ number: Int, _ value: [UInt8]) {
        tag(number, .lengthDelimited)
        append(varint: UInt64(value.count))
        bytes += value
    }

    private mutating func tag(_ number: Int, _ type: WireType) { append(varint: UInt64(number) << 3 | type.rawValue) }

    // MARK: Values without a tag, as in a packed field

    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func append(fixed32 value: UInt32) {
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    package mutating func append(fixed64 value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    /// Returns the zigzag encoding, in which small numbers of either sign are short.
    package static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }
}
