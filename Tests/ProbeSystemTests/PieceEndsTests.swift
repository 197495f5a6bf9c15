import Testing

@testable import ProbeSystem

@Suite struct PieceEndsTests {
    @Test(arguments: [(1, 1), (3, 1), (3, 2), (3, 3), (3, 4), (7, 3), (6, 3), (0, 5), (10, 0)])
    func equalPiecesMatchListedEnds(total: Int, step: Int) {
        let whole = Swift.max(1, step)
        let listed = Array(stride(from: whole, to: total, by: whole)) + [total]
        #expect(Array(PieceEnds(step: step, total: total)) == listed)
        #expect(Array(PieceEnds(listed)) == listed)
    }

    /// A transfer such as 200 MiB at 1 B/s must not store the end of a piece for each byte.
    @Test func manyPiecesTakeNoMemory() {
        let ends = PieceEnds(step: 0, total: .max - 1)
        #expect(ends.count == .max - 1)
        #expect(ends[0] == 1)
        #expect(ends[ends.count - 1] == .max - 1)
        #expect(Array(ends.prefix(3)) == [1, 2, 3])
    }
}
