import ProbeBase
import ProbeDesk
import Testing

struct ArrivalTextTests {
    private static func pieces(_ pieces: [(count: Int, milliseconds: Double)]) -> [ArrivalText.Piece] {
        pieces.map { .init(count: $0.count, time: MonotonicTime(nanoseconds: Int64($0.milliseconds * 1e6))) }
    }

    @Test func segmentsAreShownWithTheirGaps() {
        func text(_ list: [(count: Int, milliseconds: Double)]) -> String {
            ArrivalText.pieces(Self.pieces(list), areSegments: true)
        }
        #expect(text([]) == "")
        #expect(text([(1, 0)]) == "1 byte")
        #expect(text([(7, 0)]) == "7 bytes")
        #expect(text([(5, 0), (2, 30)]) == "5 + 2 bytes, 30 ms apart")
        #expect(text([(5, 0), (2, 0.2)]) == "5 + 2 bytes, less than 1 ms apart")
        #expect(text([(5, 0), (2, 30.4), (1, 60)]) == "5 + 2 + 1 bytes, 30 ms apart")
        #expect(text([(5, 0), (2, 30), (1, 31)]) == "5 + 2 + 1 bytes, 30 ms, 1 ms apart")
        #expect(
            text((0..<7).map { ($0 + 1, Double($0 * 2)) }) == "28 bytes in 7 segments of 1 to 7 bytes, up to 2 ms apart"
        )
        #expect(text((0..<8).map { (1, Double($0 * 2)) }) == "8 bytes in 8 segments of 1 bytes, up to 2 ms apart")
    }

    @Test func readsAreNotCalledSegments() {
        #expect(ArrivalText.pieces(Self.pieces([(7, 0)]), areSegments: false) == "7 bytes, in one read")
        #expect(
            ArrivalText.pieces(Self.pieces([(5, 0), (2, 30)]), areSegments: false)
                == "5 + 2 bytes, 30 ms apart, in 2 reads")
    }

    @Test func streamRangeMaySplitSegments() {
        let segments = Self.pieces([(5, 0), (2, 30), (10, 40)])
        #expect(ArrivalText.pieces(segments, of: 0..<7) == Self.pieces([(5, 0), (2, 30)]))
        #expect(ArrivalText.pieces(segments, of: 3..<9) == Self.pieces([(2, 0), (2, 30), (2, 40)]))
        #expect(ArrivalText.pieces(segments, of: 7..<18) == nil)
        #expect(ArrivalText.pieces([], of: 0..<1) == nil)
    }

    @Test func linesAreShownWithTerminators() {
        func lines(_ text: String) -> [String] { ArrivalText.lines(of: Array(text.utf8), mark: "<") }
        #expect(lines("a\r\nb\n\nc") == ["< a\\r\\n", "< b\\n", "< \\n", "< c"])
        #expect(lines("\u{1b}[2Jä\"\\") == ["< \\x1b[2Jä\"\\"])
        #expect(lines("") == [])
    }

    @Test func longInputIsTruncated() {
        let lines = ArrivalText.lines(of: [UInt8](repeating: 65, count: 20_000), mark: "D <")
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix("… (16384 bytes)"))
        #expect(lines[1] == "D < … and 3616 more bytes")
    }
}
