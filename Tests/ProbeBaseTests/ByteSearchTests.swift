import ProbeBase
import Testing

struct ByteSearchTests {
    /// Searches from every offset in spans of every length up to 26 bytes, because eight bytes are compared at once.
    /// The other bytes differ in a single bit from the byte that is searched for.
    @Test(
        arguments: [
            (0x0A, 0x0B), (0x0D, 0x0C), (0x00, 0x01), (0x80, 0x00), (0xFF, 0x7F), (0x01, 0x00),
        ] as [(UInt8, UInt8)]
    )
    func firstOccurrenceIsFound(_ byte: UInt8, _ filler: UInt8) {
        for count in 0...26 {
            var bytes = [UInt8](repeating: filler, count: count)
            #expect(bytes.span.firstIndex(of: byte) == nil)
            #expect(bytes.span.firstIndex(of: byte, or: byte ^ 0x55) == nil)
            for place in bytes.indices.reversed() {
                bytes[place] = byte
                for start in 0...(count + 1) {
                    let expected = start < count ? max(start, place) : nil
                    #expect(bytes.span.firstIndex(of: byte, from: start) == expected)
                    #expect(bytes.span.firstIndex(of: byte ^ 0x55, or: byte, from: start) == expected)
                }
            }
        }
    }

    @Test func resultMatchesNaiveSearchForEveryByte() {
        var bytes = (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
        bytes += bytes.reversed()
        for byte in 0...255 as ClosedRange<UInt8> {
            #expect(bytes.span.firstIndex(of: byte) == bytes.firstIndex(of: byte))
            let either = bytes.firstIndex { $0 == byte || $0 == byte &+ 1 }
            #expect(bytes.span.firstIndex(of: byte, or: byte &+ 1) == either)
        }
        #expect(bytes.span.firstIndex(of: 0, from: -1) == nil)
        #expect(bytes.span.firstIndex(of: 0, from: .max) == nil)
    }
}
