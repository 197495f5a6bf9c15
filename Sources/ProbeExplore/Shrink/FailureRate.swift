import ProbeBase

/// How often something failed, and how often it has to pass before that is believed.
package struct FailureRate: Sendable, Equatable {
    package var failed: Int
    package var runs: Int

    package init(failed: Int, runs: Int) {
        self.failed = failed
        self.runs = runs
    }

    /// How many runs measure a rate.
    package static let measured = 10

    /// Fewer failures than one in five are too rare to be shrunk.
    package var isTooRare: Bool { failed * 5 < runs }

    /// So many passes one after the other happen by chance in less than 1 % of all cases. What has failed each time may pass the next time:
    /// one more run than there were is counted, which passes.
    package var passesToTrust: Int {
        let rate = runs > 0 ? Double(failed) / Double(runs + 1) : 0
        var (chance, count) = (1.0, 0)
        while chance >= 0.01, count < 50 {
            chance *= 1 - rate
            count += 1
        }
        return count
    }

    /// `10 of 10 runs`
    package var text: String { "\(failed) of \(runs) runs" }
}
