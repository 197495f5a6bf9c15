import ProbeBase
import Testing

struct FrameDecoderTests {
    /// Delimiters, some of which repeat their own beginning.
    static let delimiters = ["END", "aab", "aa", "abab", "\r\n\r\n", "\0\u{1}"].map {
        Framing.delimiter(Array($0.utf8))
    }
    static let units = Framing.allCases.filter(\.hasUnits) + delimiters
    static let terminated = units.filter { $0.unit == .line }
    static let counted = units.filter { $0.unit == .message && $0 != .netstring }

    @Test(arguments: units)
    func framesRoundTripWhateverTheCuts(_ framing: Framing) throws {
        let verifier = FrameDecoderVerifier(framing: framing)
        try verifier.verify([Array("v".utf8)])
        try verifier.verify([[]])
        try verifier.verify([Array("220 ready".utf8), [], Array("x".utf8)])
        try verifier.verify([[], [], []])
        try verifier.verify([Array(repeating: 0x80, count: 100), [0xFF, 0xFE], Array(repeating: 0x41, count: 30)])
        try FrameDecoderVerifier(framing: framing, limit: 3).verify([[1, 2, 3], [], [4]])
    }

    /// The terminators of other framings are ordinary bytes of a payload.
    @Test func terminatorsOfOtherFramingsAreData() throws {
        try FrameDecoderVerifier(framing: .crlf).verify([[0x0D], [0x0A], [0x0A, 0x0D], [0x0D, 0x0D], [0x00]])
        try FrameDecoderVerifier(framing: .lf).verify([[0x0D], [0x00, 0x0D]])
        try FrameDecoderVerifier(framing: .cr).verify([[0x0A], [0x0A, 0x0A]])
        try FrameDecoderVerifier(framing: .nul).verify([[0x0D, 0x0A]])
        for framing in Self.counted { try FrameDecoderVerifier(framing: framing).verify([[0x0D, 0x0A, 0x00, 0xFF]]) }
    }

    @Test func varintMayHaveTwoBytes() throws {
        try FrameDecoderVerifier(framing: .varint).verify([Array(repeating: 7, count: 300)])
        // A varint of two bytes for the value 0 is longer than necessary, but common in encoders that fill in the
        // length afterwards.
        var decoder = FrameDecoder(framing: .varint, limit: nil)
        decoder.append([0x81, 0x00, 0x41])
        #expect(try decoder.next()?.payload == [0x41])
        #expect(decoder.offset == 3)
    }

    @Test(arguments: terminated)
    func firstByteOverTheLimitFails(_ framing: Framing) throws {
        let terminator = try #require(framing.terminator)
        let verifier = FrameDecoderVerifier(framing: framing, limit: 4)
        let good = Array("wxyz".utf8) + terminator
        try verifier.verify([Array("wxyz".utf8), Array("wxy".utf8)])

        let error = FrameError(.tooLong(limit: 4, length: nil), offset: good.count)
        let stream = good + Array("wxyz-".utf8) + terminator
        let failed = verifier.bytesUntilError(stream)
        #expect(failed?.count == good.count + 5)
        #expect(failed?.error == error)
        let whole = verifier.outcome([stream[...]])
        #expect(whole.frames.count == 1)
        #expect(whole.leftover == Array(stream[good.count...]))
        verifier.verifyCuts(stream, .init(frames: whole.frames, error: error, leftover: whole.leftover))
    }

    @Test func crAtTheLimitMayBeginATerminator() {
        let verifier = FrameDecoderVerifier(framing: .crlf, limit: 4)
        #expect(verifier.bytesUntilError(Array("abcd\r".utf8)) == nil)
        #expect(verifier.bytesUntilError(Array("abcd\r\n".utf8)) == nil)
        #expect(verifier.bytesUntilError(Array("abcd\rx".utf8))?.count == 6)
        // A CR that is followed by another CR is content.
        #expect(verifier.bytesUntilError(Array("abcd\r\r\n".utf8))?.count == 6)
        #expect(verifier.bytesUntilError(Array("abc\r\r\n".utf8)) == nil)
        #expect(verifier.bytesUntilError(Array("abcd\n".utf8))?.count == 5)
        #expect(verifier.bytesUntilError(Array("abcde".utf8))?.count == 5)
    }

    @Test(arguments: counted)
    func lengthOverTheLimitFailsAtItsLastByte(_ framing: Framing) throws {
        let verifier = FrameDecoderVerifier(framing: framing, limit: 100)
        try verifier.verify([Array(repeating: 1, count: 100)])
        let unit = try FrameEncoder(framing: framing).encode(Array(repeating: 1, count: 101))
        let failed = verifier.bytesUntilError(unit)
        #expect(failed?.count == unit.count - 101)
        #expect(failed?.error == FrameError(.tooLong(limit: 100, length: 101), offset: 0))
        let expected = FrameDecoderVerifier.Outcome(frames: [], error: failed?.error, leftover: unit)
        verifier.verifyCuts(unit, expected)
    }

    private static let hostilePrefixes: [(Framing, [UInt8], FrameError.Kind)] = [
        (.u64, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .lengthOutOfRange(.max)),
        (.u64, [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .lengthOutOfRange(UInt64(Int.max))),
        (.u64, [0x80, 0, 0, 0, 0, 0, 0, 0], .lengthOutOfRange(1 << 63)),
        (.varint, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .lengthOutOfRange(.max)),
        (.varint, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], .varintTooLong),
        (.varint, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], .varintTooLong),
        (.varint, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81], .varintTooLong),
    ]

    @Test(arguments: hostilePrefixes)
    func hostileLengthsFailAtOnce(_ framing: Framing, _ prefix: [UInt8], _ kind: FrameError.Kind) {
        let verifier = FrameDecoderVerifier(framing: framing)
        let stream = prefix + [1, 2, 3]
        #expect(verifier.bytesUntilError(stream)?.count == prefix.count)
        verifier.verifyCuts(stream, .init(frames: [], error: FrameError(kind, offset: 0), leftover: stream))
    }

    /// A length that is valid, but larger than any stream, must not cause an allocation.
    @Test func hugeLengthAllocatesNothing() throws {
        var decoder = FrameDecoder(framing: .u64, limit: nil)
        decoder.append([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x41])
        #expect(try decoder.next() == nil)
        #expect(decoder.finish().count == 9)
    }

    @Test func incompleteVarintWaits() throws {
        var decoder = FrameDecoder(framing: .varint, limit: 0)
        decoder.append(Array(repeating: 0x80 as UInt8, count: 9))
        #expect(try decoder.next() == nil)
        decoder.append([0x00])
        #expect(try decoder.next()?.payload == [])
        #expect(decoder.offset == 10)
    }

    @Test func errorIsStickyAndKeepsAllBytes() {
        var decoder = FrameDecoder(framing: .lf, limit: 2)
        decoder.append(Array("a\nabc".utf8))
        #expect(throws: Never.self) { try decoder.next() }
        let error = FrameError(.tooLong(limit: 2, length: nil), offset: 2)
        #expect(throws: error) { try decoder.next() }
        decoder.append(Array("\nb\n".utf8))
        #expect(throws: error) { try decoder.next() }
        #expect(decoder.finish() == Array("abc\nb\n".utf8))
    }

    /// The streams consist of bytes that have a meaning in at least one framing; most of the streams are malformed.
    @Test(arguments: units)
    func cutsDoNotChangeTheOutcome(_ framing: Framing) {
        let known: [Framing: String] = [.netstring: "00123::,,x"]
        let bytes =
            known[framing].map { Array($0.utf8) }
            ?? framing.terminator.map { $0 + $0 + [0x00, 0x0A, 0x0D, 0x61] }
            ?? [0x00, 0x00, 0x01, 0x02, 0x03, 0x0A, 0x0D, 0x0D, 0x80, 0xFF]
        var state: UInt64 = 7
        for round in 0..<60 {
            let stream = (0..<(round % 20)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return bytes[Int(state >> 33) % bytes.count]
            }
            for limit in [nil, 0, 2, 5] as [Int?] {
                let verifier = FrameDecoderVerifier(framing: framing, limit: limit)
                let whole = verifier.outcome([stream[...]])
                let consumed = whole.frames.last?.range.upperBound ?? 0
                #expect(whole.leftover == Array(stream[consumed...]))
                #expect(whole.frames.allSatisfy { $0.payload.count <= limit ?? .max })
                verifier.verifyCuts(stream, whole)
            }
        }
    }

    @Test func withoutFramingBytesPassUnchanged() throws {
        var decoder = FrameDecoder(framing: .none, limit: 2)
        #expect(try decoder.next() == nil)
        decoder.append([1, 2, 3])
        decoder.append([4])
        let frame = try decoder.next()
        #expect(frame == Frame(payload: [1, 2, 3, 4], range: 0..<4, terminator: 4..<4))
        #expect(try decoder.next() == nil)
        decoder.append([5])
        #expect(try decoder.next()?.range == 4..<5)
        #expect(decoder.finish() == [])
    }

    @Test func bareCRAndLFBelongToTheirLine() throws {
        let verifier = FrameDecoderVerifier(framing: .crlf)
        let stream = Array("a\nb\rc\r\r\nd\r\ne\nf\r".utf8)
        let whole = verifier.outcome([stream[...]])
        #expect(whole.frames.map(\.payload) == [Array("a\nb\rc\r".utf8), Array("d".utf8)])
        #expect(whole.leftover == Array("e\nf\r".utf8))
        verifier.verifyCuts(stream, whole)

        var decoder = FrameDecoder(framing: .crlf, limit: nil)
        decoder.append(Array("x\r\n220 ready\n".utf8))
        while try decoder.next() != nil {}
        #expect(decoder.pending == Array("220 ready\n".utf8)[...])
    }

    @Test func nextFramingContinuesAtTheOffset() throws {
        var lines = FrameDecoder(framing: .crlf, limit: nil)
        lines.append([0x61, 0x0D, 0x0A, 0x00, 0x01, 0x62])
        #expect(try lines.next()?.payload == [0x61])
        var counted = FrameDecoder(framing: .u16, limit: nil, offset: lines.offset)
        counted.append(lines.finish())
        let frame = try counted.next()
        #expect(frame?.payload == [0x62])
        #expect(frame?.range == 3..<6)
    }

    @Test func delimiterMatchesAtItsEarliestEnd() throws {
        let verifier = FrameDecoderVerifier(framing: .delimiter(Array("aab".utf8)))
        try verifier.verify([Array("a".utf8), Array("aaa".utf8), Array("ab".utf8), []])
        let doubled = FrameDecoderVerifier(framing: .delimiter(Array("aa".utf8))).outcome([Array("xaaa".utf8)[...]])
        #expect(doubled.frames.map(\.payload) == [Array("x".utf8)] && doubled.leftover == Array("a".utf8))
        // Bytes that could be the first part of a delimiter become content when another byte follows.
        let limited = FrameDecoderVerifier(framing: .delimiter(Array("END".utf8)), limit: 4)
        #expect(limited.bytesUntilError(Array("abcdEN".utf8)) == nil)
        #expect(limited.bytesUntilError(Array("abcdENx".utf8))?.count == 7)
        #expect(limited.bytesUntilError(Array("abcdEEND".utf8))?.count == 6)
        #expect(limited.bytesUntilError(Array("abcEEND".utf8)) == nil)
    }

    @Test func terminatorsHaveNamedFramings() {
        for framing in [Framing.crlf, .lf, .cr, .nul] {
            #expect(framing.terminator.flatMap(Framing.init(delimiter:)) == framing)
        }
        #expect(Framing(delimiter: []) == nil)
        for framing in Framing.allCases + Self.delimiters { #expect(Framing(rawValue: framing.rawValue) == framing) }
        #expect(Framing(rawValue: #""\r\n""#) == .crlf)
        #expect(Framing(rawValue: #""\x00\xfF\\\"é""#) == .delimiter([0, 255, 92, 34, 0xC3, 0xA9]))
        for wrong in ["\"", "\"\"", "\"a", "\"a\"b\"", #""\q""#, #""\x+1""#, #""\x1""#, #""\"#, "END"] {
            #expect(Framing(rawValue: wrong) == nil, "\(wrong)")
        }
    }

    @Test func netstringsAreBounded() throws {
        let verifier = FrameDecoderVerifier(framing: .netstring, limit: 100)
        try verifier.verify([Array(repeating: 1, count: 100), [], Array("1:a,".utf8)])
        let unit = Array("101:".utf8) + Array(repeating: 1 as UInt8, count: 101)
        let failed = verifier.bytesUntilError(unit)
        #expect(failed?.count == 4)
        #expect(failed?.error == FrameError(.tooLong(limit: 100, length: 101), offset: 0))
        verifier.verifyCuts(unit, .init(frames: [], error: failed?.error, leftover: unit))
    }

    @Test(arguments: [
        (":a", 1, FrameError.Kind.netstring(.noNumber)), ("a", 1, .netstring(.noNumber)),
        ("-1:", 1, .netstring(.noNumber)),
        (" 1:a,", 1, .netstring(.noNumber)), ("+1:a,", 1, .netstring(.noNumber)), ("1;", 2, .netstring(.noNumber)),
        ("1 :a,", 2, .netstring(.noNumber)), ("00:,", 2, .netstring(.leadingZero)),
        ("01:a,", 2, .netstring(.leadingZero)),
        ("3:abcd", 6, .netstring(.noComma)), ("0:0:,", 3, .netstring(.noComma)), ("1:a\n", 4, .netstring(.noComma)),
        ("11111111111111111111:", 20, .netstring(.tooLong)), ("00000000000000000000:", 2, .netstring(.leadingZero)),
        ("9999999999999999999:", 20, .lengthOutOfRange(9_999_999_999_999_999_999)),
        ("9223372036854775807:", 20, .lengthOutOfRange(9_223_372_036_854_775_807)),
    ])
    func malformedNetstringsFailAtOnce(text: String, count: Int, kind: FrameError.Kind) {
        let verifier = FrameDecoderVerifier(framing: .netstring)
        let stream = Array("2:ok,".utf8) + Array(text.utf8)
        let failed = verifier.bytesUntilError(stream)
        #expect(failed?.count == count + 5)
        #expect(failed?.error == FrameError(kind, offset: 5))
        let whole = verifier.outcome([stream[...]])
        #expect(whole.frames.count == 1 && whole.leftover == Array(text.utf8))
        verifier.verifyCuts(stream, whole)
    }

    /// Inputs that would take hours if the decoder scanned or moved its buffered bytes repeatedly.
    @Test func timeIsLinear() throws {
        let count = 200_000
        var decoder = FrameDecoder(framing: .crlf, limit: nil)
        for index in 0..<count {
            decoder.append(CollectionOfOne(index % 3 == 0 ? 0x0D : 0x61))
            #expect(try decoder.next() == nil)
        }
        decoder.append([0x0D, 0x0A])
        #expect(try decoder.next()?.payload.count == count)

        decoder.append(Array(repeating: [0x0D, 0x0A] as [UInt8], count: count).joined())
        var frames = 0
        while try decoder.next() != nil {
            frames += 1
            decoder.append([0x0D, 0x0A])
            if frames == count { break }
        }
        #expect(frames == count)
        #expect(decoder.pending.count == 2 * count)
    }
}
