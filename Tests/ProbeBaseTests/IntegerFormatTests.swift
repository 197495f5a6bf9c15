import ProbeBase
import Testing

struct IntegerFormatTests {
    @Test(
        arguments: [
            (0, [0x00]), (127, [0x7F]), (128, [0x80, 0x01]), (300, [0xAC, 0x02]),
            (UInt64.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
        ] as [(UInt64, [UInt8])])
    func varintRoundTrips(_ value: UInt64, _ bytes: [UInt8]) {
        #expect(IntegerFormat.varint(value) == bytes)
        #expect(IntegerFormat.varint.read((bytes + [7])[...]) == .value(value, width: bytes.count))
        for count in bytes.indices { #expect(IntegerFormat.varint.read(bytes[..<count]) == .incomplete) }
    }

    @Test(
        arguments: [
            (.u8, [0xFE]), (.u16, [1, 2]), (.u32, [1, 2, 3, 4]), (.u64, [1, 2, 3, 4, 5, 6, 7, 8]), (.u16le, [2, 1]),
            (.u32le, [4, 3, 2, 1]), (.u64le, [8, 7, 6, 5, 4, 3, 2, 1]),
        ] as [(IntegerFormat, [UInt8])])
    func integerRoundTrips(_ format: IntegerFormat, _ bytes: [UInt8]) throws {
        let values: [Int: UInt64] = [1: 0xFE, 2: 0x0102, 4: 0x0102_0304, 8: 0x0102_0304_0506_0708]
        let value = try #require(values[bytes.count])
        #expect(format.encode(Int(value)) == bytes)
        // The start index of an array slice must not affect the result.
        #expect(format.read(([9] + bytes + [7])[1...]) == .value(value, width: bytes.count))
        for count in bytes.indices { #expect(format.read(bytes[..<count]) == .incomplete) }
    }

    @Test(
        arguments: [
            Array(repeating: 0xFF, count: 9) + [0x02], Array(repeating: 0x80, count: 10),
            Array(repeating: 0x80, count: 9) + [0x81],
        ] as [[UInt8]])
    func varintOver64BitsIsTooLong(_ bytes: [UInt8]) {
        #expect(IntegerFormat.varint.read(bytes[...]) == .tooLong)
    }

    @Test(arguments: [(.u8, 256), (.u16, 65_536), (.u32le, 1 << 32), (.varint, -1)] as [(IntegerFormat, Int)])
    func valueOutOfRangeIsNotEncoded(_ format: IntegerFormat, _ value: Int) {
        #expect(format.encode(value) == nil)
    }
}
