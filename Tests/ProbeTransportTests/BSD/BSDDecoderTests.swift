import ProbeBase
import Testing

@testable import ProbeTransport

/// Tests that messages that are too long are discarded, wherever the stream is cut.
@Suite struct BSDDecoderTests {
    private static let framings =
        Framing.allCases.filter(\.hasUnits) + [.delimiter([97, 97, 98]), .delimiter([69, 0])]

    private static func decode(
        _ stream: [UInt8], _ framing: Framing, limit: Int, piece: Int, continues: Bool = true
    ) -> (heard: [BSDDecoder.Next], error: FrameError?, rest: [UInt8]) {
        var decoder = BSDDecoder(FrameDecoder(framing: framing, limit: limit), continues: continues)
        var heard: [BSDDecoder.Next] = []
        var from = 0
        while from < stream.count {
            decoder.append(stream[from..<min(from + piece, stream.count)])
            from += piece
            do {
                while let next = try decoder.next() { heard.append(next) }
            } catch {
                return (heard, error, decoder.finish())
            }
        }
        return (heard, nil, decoder.finish())
    }

    @Test(arguments: framings, [1, 2, 3, 7, 1 << 20])
    func tooLongMessagesAreDiscarded(framing: Framing, piece: Int) throws {
        let long: [[UInt8]] = [
            Array(repeating: 0x7A, count: 9), Array(repeating: 0x7A, count: 100),
            // The last message contains prefixes of terminators and lengths, and complete terminators of other
            // framings.
            Array(repeating: [0x61, 0x45, 0x31, 0x3A], count: 20).flatMap { $0 },
        ]
        let encoder = FrameEncoder(framing: framing)
        var stream: [UInt8] = []
        var expected: [BSDDecoder.Next] = []
        for message in [[0x78], long[0], [], long[1], long[2], Array("12345678".utf8), long[0], [0x79]] {
            stream += try encoder.encode(message)
            expected.append(message.count > 8 ? .discarded : .message(message))
        }
        let (heard, error, rest) = Self.decode(stream, framing, limit: 8, piece: piece)
        #expect(heard == expected)
        #expect(error == nil && rest.isEmpty)
    }

    @Test(arguments: framings, [1, 5, 1 << 20])
    func endInsideADiscardedMessageLeavesNothing(framing: Framing, piece: Int) throws {
        let whole = try FrameEncoder(framing: framing).encode(Array(repeating: 0x7A, count: 20))
        let (heard, error, rest) = Self.decode(Array(whole.prefix(15)), framing, limit: 8, piece: piece)
        #expect(heard == [.discarded])
        #expect(error == nil && rest.isEmpty)
    }

    @Test(arguments: framings)
    func withoutDiscardingTheStreamFails(framing: Framing) throws {
        let whole = try FrameEncoder(framing: framing).encode(Array(repeating: 0x7A, count: 20))
        let (heard, error, _) = Self.decode(whole, framing, limit: 8, piece: 1, continues: false)
        #expect(heard.isEmpty)
        #expect(error != nil)
    }

    @Test(arguments: [1, 4, 100])
    func netstringWithoutItsCommaFails(piece: Int) {
        let (heard, error, _) = Self.decode(Array("10:1234567890;1:x,".utf8), .netstring, limit: 8, piece: piece)
        #expect(heard == [.discarded])
        #expect(error == FrameError(.netstring(.noComma), offset: 13))
    }

    @Test func errorOffsetsCountFromTheStart() {
        let (heard, error, _) = Self.decode(Array("9:123456789,x".utf8), .netstring, limit: 8, piece: 3)
        #expect(heard == [.discarded])
        #expect(error?.offset == 12)
    }

    @Test func lengthBeyondAnyStreamFails() {
        let stream = Array(repeating: UInt8(0xFF), count: 8) + Array(repeating: 0, count: 40)
        let (heard, error, _) = Self.decode(stream, .u64, limit: 8, piece: 5)
        #expect(heard.isEmpty)
        #expect(error?.kind == .tooLong(limit: 8, length: .max))
    }
}
