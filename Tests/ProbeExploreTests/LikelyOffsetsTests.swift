import ProbeBase
import ProbeExplore
import Testing

struct LikelyOffsetsTests {
    private static func offsets(_ text: String, _ framing: Framing = .crlf) -> [Int] {
        LikelyOffsets.of(Array(text.utf8), length: text.utf8.count, framing: framing)
    }

    @Test func offsetsInsideTerminatorsComeFirst() {
        #expect(Self.offsets("one\r\ntwo\r\n").prefix(3) == [4, 9, 1])
    }

    @Test func offsetsAroundTerminatorsAreLikely() {
        let offsets = Self.offsets("one\r\ntwo\r\n")
        #expect(offsets.contains(3) && offsets.contains(5) && offsets.contains(8))
    }

    @Test func offsetsInsideCharactersAreLikely() {
        #expect(Self.offsets("gr\u{fc}\u{df}e", .none).contains(3))
        #expect(Self.offsets("gr\u{fc}\u{df}e", .none).contains(5))
    }

    @Test(arguments: [(Framing.u16, [1, 2]), (.u32, [1, 2, 4, 3])])
    func offsetsInsideLengthPrefixesAreLikely(framing: Framing, expected: [Int]) {
        #expect(Self.offsets("\u{0}\u{1}\u{1}\u{4}abcdefgh", framing).filter { $0 <= 4 }.sorted() == [1, 2, 3, 4])
        #expect(Self.offsets("abcdabcdefgh", framing).prefix(expected.count) == expected[...])
    }

    @Test func delimiterIsCutAtEveryOffset() throws {
        let framing = try #require(Framing(delimiter: Array("END".utf8)))
        #expect(Self.offsets("abEND", framing).prefix(2) == [3, 4])
    }

    @Test func commonBufferSizesAreLikely() {
        let offsets = Self.offsets(String(repeating: "x", count: 1100), .none)
        #expect(Set(offsets).isSuperset(of: [16, 64, 256, 512, 1024, 1023, 1025, 1, 1099]))
    }

    @Test(arguments: ["", "a", "ab", "\r\n", "\u{fc}"])
    func offsetsAreInsideAndUnique(text: String) {
        let offsets = Self.offsets(text)
        #expect(offsets.allSatisfy { $0 > 0 && $0 < text.utf8.count })
        #expect(Set(offsets).count == offsets.count)
    }
}
