import ProbeEvents
import ProbeExplore
import ProbeScenario
import Testing

struct ShownFailureTests {
    private static let place = SourceSpan(start: 4, end: 9)

    private static func failure(_ results: CaseResult...) throws -> ShownFailure {
        ShownFailure(try #require(Signature(results[0])), in: results)
    }

    @Test func differentValueIsAnotherFailure() throws {
        let failure = try Self.failure(failedResult(at: Self.place, expected: "=2", actual: "=1"))
        #expect(failure.matches(failedResult(at: Self.place, expected: "=2", actual: "=1")))
        #expect(!failure.matches(failedResult(at: Self.place, expected: "=2", actual: "=-")))
        #expect(!failure.matches(failedResult(at: Self.place, expected: "=3", actual: "=1")))
        #expect(!failure.matches(failedResult(at: Self.place, expected: "=2")))
    }

    @Test func differentStepTextOrEndIsAnotherFailure() throws {
        let failure = try Self.failure(failedResult(at: Self.place, "P ended", actual: "x", end: .status(1)))
        #expect(
            !failure.matches(failedResult(at: SourceSpan(start: 5, end: 9), "P ended", actual: "x", end: .status(1))))
        #expect(!failure.matches(failedResult(at: Self.place, "P was ended", actual: "x", end: .status(1))))
        #expect(!failure.matches(failedResult(at: Self.place, "P ended", actual: "x", end: .status(2))))
        #expect(!failure.matches(failedResult(at: Self.place, "P ended", actual: "x", end: .signal(1))))
    }

    @Test func exitStatusCountsButTimesDoNot() throws {
        let failure = try Self.failure(
            failedResult(at: Self.place, "P ended with status 1 after 20 ms, not within 1.5s"))
        #expect(failure.matches(failedResult(at: Self.place, "P ended with status 1 after 21 ms, not within 2.5s")))
        #expect(!failure.matches(failedResult(at: Self.place, "P ended with status 2 after 20 ms, not within 1.5s")))
    }

    @Test func valuesThatDifferFromRunToRunAreMasked() throws {
        let failure = try Self.failure(
            failedResult(at: Self.place, actual: "session 17 at 10:01:02 is closed"),
            failedResult(at: Self.place, actual: "session 18 at 10:01:05 is closed"))
        #expect(failure.matches(failedResult(at: Self.place, actual: "session 4711 at 10:01:59 is closed")))
        #expect(!failure.matches(failedResult(at: Self.place, actual: "session 17 at 10:01:02 is open")))
        #expect(!failure.matches(failedResult(at: Self.place, actual: "session 17 at 10:01:02")))
    }

    /// Two failures may be considered the same even if only one of their summaries quotes the compared bytes.
    @Test(arguments: [false, true])
    func receivedLengthDoesNotCount(isLine: Bool) throws {
        func result(_ actual: String, expected: String = "OK") -> CaseResult {
            let (received, wanted) = (Array(actual.utf8), Array(expected.utf8))
            let text =
                isLine
                ? ReceivedText.value(received, expected: "line \"\(expected)\"")
                : ReceivedText.bytes(received, expected: wanted)
            return failedResult(at: Self.place, "S received \(text)", expected: expected, actual: actual)
        }
        let long = String(repeating: "x", count: 41)
        let results = [result("a"), result("say \"a\""), result("\\"), result(long), result(long + "y")]
        #expect(Set(results.map(Signature.init)).count == 1)
        #expect(results[0].findings[0].summary != results[3].findings[0].summary)
        let failure = try Self.failure(result("id 9"), result("id 8"))
        #expect(failure.matches(result("id \(long)")))
        #expect(!failure.matches(result("no 9")))
    }

    @Test func resultsOfOtherFailuresAreIgnored() throws {
        let failure = try Self.failure(
            failedResult(at: Self.place, actual: "a"), failedResult(at: SourceSpan(start: 0, end: 1), actual: "b"))
        #expect(!failure.matches(failedResult(at: Self.place, actual: "b")))
    }

    @Test(arguments: [
        (["k=1", "k=1"], "k=1", true), (["k=1", "k=1"], "k=2", false), (["k=1", "k=2"], "k=3", true),
        (["k=1", "k=2"], "j=1", false), (["k=1", "k=2"], "k=1 2", false), (["<a", "<a b c"], "<a x", true),
        (["<a", "<a b c"], "<", false), (["a.b", "a.b.c"], "a", false),
        (["\u{e9}1 x", "\u{e9}2 x"], "\u{e9}3 x", true),
        (["", ""], "", true), (["", "a"], "b", true),
    ])
    func maskKeepsTheCommonParts(samples: [String], value: String, matches: Bool) {
        let mask = MaskedValue(samples.map { Array($0.utf8) })
        #expect(mask.matches(Array(value.utf8)) == matches)
    }

    @Test func everySampleMatchesItsMask() {
        var state: UInt64 = 9
        func next(_ limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for _ in 0..<500 {
            let samples: [[UInt8]?] = (0...next(4)).map { _ in
                next(9) == 0 ? nil : (0..<next(7)).map { _ in Array("ab1 =\u{fc}".utf8)[Int(next(7))] }
            }
            let mask = MaskedValue(samples)
            #expect(samples.allSatisfy { mask.matches($0) }, "\(samples)")
        }
    }

    @Test func missingValueIsNotEmpty() {
        #expect(MaskedValue([nil]).matches(nil) && !MaskedValue([nil]).matches([]))
        #expect(!MaskedValue([[]]).matches(nil))
    }
}
