import ProbeBase
import ProbeCrowd
import ProbeScenario
import Testing

@testable import ProbeEngine

struct CrowdCompilerTests {
    private static func sent(
        _ pieces: [[UInt8]], isCut: Bool = false, _ pace: Pace?
    ) -> (lengths: [Int], pause: Duration)? {
        guard case .send(let pieces, let pause) = CrowdCompiler.send(pieces, isCut: isCut, pace) else { return nil }
        return (pieces.map(\.count), pause)
    }

    @Test func unpacedPiecesAreSentAtOnce() throws {
        let sent = try #require(Self.sent([[1, 2], [3]], isCut: true, nil))
        #expect(sent.lengths == [2, 1])
        #expect(sent.pause == .zero)
    }

    @Test func pacedPiecesAreSentAfterPauses() throws {
        let sent = try #require(Self.sent([[1], [2]], isCut: true, .every(.milliseconds(30))))
        #expect(sent.lengths == [1, 1])
        #expect(sent.pause == .milliseconds(30))
    }

    @Test(arguments: [(1000, [10, 10, 5], 10), (10, Array(repeating: 1, count: 25), 100), (10_000_000, [25], 0)])
    func rateIsCompiledToPiecesWithPauses(_ rate: Int, _ lengths: [Int], _ milliseconds: Int) throws {
        let sent = try #require(Self.sent([[UInt8](repeating: 7, count: 25)], .rate(rate)))
        #expect(sent.lengths == lengths)
        if milliseconds > 0 { #expect(sent.pause == .milliseconds(milliseconds)) }
    }

    @Test func ratePreservesTheScriptsCuts() throws {
        let sent = try #require(Self.sent([[1, 2, 3], [4]], isCut: true, .rate(100)))
        #expect(sent.lengths == [3, 1])
        #expect(sent.pause == .milliseconds(20))
    }
}
