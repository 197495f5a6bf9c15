import ProbeExplore
import Testing

struct FailureRateTests {
    @Test(arguments: [(10, 1), (9, 2), (5, 7), (2, 21)])
    func passesAreRepeatedUntilAMissIsUnlikely(failed: Int, passes: Int) {
        #expect(FailureRate(failed: failed, runs: 10).passesToTrust == passes)
    }

    @Test func fewerThanOneInFiveIsTooRare() {
        #expect(FailureRate(failed: 1, runs: 10).isTooRare)
        #expect(!FailureRate(failed: 2, runs: 10).isTooRare)
    }
}
