import ProbeBase
import Testing

struct FrameEncoderTests {
    @Test(arguments: [
        (Framing.crlf, [0x61, 0x0D, 0x0A]),
        (.lf, [0x61, 0x0A]),
        (.cr, [0x61, 0x0D]),
        (.nul, [0x61, 0x00]),
        (.u8, [0x01, 0x61]),
        (.u16, [0x00, 0x01, 0x61]),
        (.u32, [0x00, 0x00, 0x00, 0x01, 0x61]),
        (.u64, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x61]),
        (.u24, [0x00, 0x00, 0x01, 0x61]),
        (.u16le, [0x01, 0x00, 0x61]),
        (.u32le, [0x01, 0x00, 0x00, 0x00, 0x61]),
        (.varint, [0x01, 0x61]),
        (.netstring, Array("1:a,".utf8)),
        (.delimiter(Array("END".utf8)), Array("aEND".utf8)),
        (.none, [0x61]),
    ])
    func oneByteIsEncodedInEachFraming(_ framing: Framing, _ expected: [UInt8]) throws {
        #expect(try FrameEncoder(framing: framing).encode([0x61]) == expected)
    }

    @Test func lengthsAreBigEndian() throws {
        let payload = [UInt8](repeating: 0, count: 0x01_02_03)
        #expect(try FrameEncoder(framing: .u24).encode(payload).prefix(3) == [0x01, 0x02, 0x03])
        #expect(try FrameEncoder(framing: .u32le).encode(payload).prefix(4) == [0x03, 0x02, 0x01, 0x00])
        #expect(try FrameEncoder(framing: .netstring).encode(payload).prefix(6) == Array("66051:".utf8)[...])
        #expect(try FrameEncoder(framing: .u32).encode(payload).prefix(4) == [0x00, 0x01, 0x02, 0x03])
        #expect(try FrameEncoder(framing: .varint).encode(payload).prefix(3) == [0x83, 0x84, 0x04])
    }

    @Test func unencodablePayloadsAreRefused() throws {
        typealias Failure = FrameEncoder.Failure
        let encoder = FrameEncoder(framing: .delimiter(Array("aab".utf8)))
        #expect(throws: Failure.containsTerminator(offset: 1)) { try encoder.encode(Array("xaaby".utf8)) }
        #expect(try encoder.encode(Array("xaa".utf8)) == Array("xaaaab".utf8))
        // The end of this payload and the beginning of the delimiter together form a delimiter.
        let doubled = FrameEncoder(framing: .delimiter(Array("abab".utf8)))
        #expect(throws: Failure.containsTerminator(offset: 1)) { try doubled.encode(Array("xab".utf8)) }
        #expect(throws: Failure.containsTerminator(offset: 0)) {
            try FrameEncoder(framing: .delimiter([97, 97])).encode([97])
        }
        #expect(throws: Failure.tooLong(maximum: 0xFF_FFFF)) {
            try FrameEncoder(framing: .u24).encode([UInt8](repeating: 0, count: 1 << 24))
        }
        #expect(throws: Failure.containsTerminator(offset: 2)) {
            try FrameEncoder(framing: .crlf).encode([0x0D, 0x61, 0x0D, 0x0A])
        }
        #expect(throws: Failure.containsTerminator(offset: 0)) { try FrameEncoder(framing: .lf).encode([0x0A]) }
        #expect(throws: Failure.containsTerminator(offset: 1)) { try FrameEncoder(framing: .cr).encode([0x0A, 0x0D]) }
        #expect(throws: Failure.containsTerminator(offset: 9)) {
            try FrameEncoder(framing: .nul).encode([UInt8](repeating: 1, count: 9) + [0])
        }
        #expect(try FrameEncoder(framing: .u8).encode([UInt8](repeating: 0, count: 255)).count == 256)
        #expect(throws: Failure.tooLong(maximum: 255)) {
            try FrameEncoder(framing: .u8).encode([UInt8](repeating: 0, count: 256))
        }
        #expect(throws: Failure.tooLong(maximum: 65_535)) {
            try FrameEncoder(framing: .u16).encode([UInt8](repeating: 0, count: 65_536))
        }
    }
}
