import ProbeExplore
import Testing

struct FailureRateTests {
    @Test(arguments: [(10, 2), (9, 3), (5, 8), (2, 23)])
    func passesAreRepeatedUntilAMissIsUnlikely(failed: Int, passes: Int) {
        #expect(FailureRate(failed: failed, runs: 10).passesForConfidence == passes)
    }

    @Test func fewerThanOneInFiveFailuresIsTooRare() {
        #expect(FailureRate(failed: 1, runs: 10).isTooRare)
        #expect(!FailureRate(failed: 2, runs: 10).isTooRare)
    }
}
