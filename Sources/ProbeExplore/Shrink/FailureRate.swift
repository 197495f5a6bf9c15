import ProbeBase

/// How often something failed, and the number of passes needed to trust that it no longer fails.
package struct FailureRate: Sendable, Equatable {
    package var failed: Int
    package var runs: Int

    package init(failed: Int, runs: Int) {
        self.failed = failed
        self.runs = runs
    }

    /// The number of runs that measure a rate.
    package static let measured = 10

    /// Whether fewer than one in five runs failed, which is too rare for shrinking.
    package var isTooRare: Bool { failed * 5 < runs }

    /// The number of consecutive passes that happen by chance in less than 1 % of all cases. Something that has always
    /// failed may still pass the next time, so one additional run that passes is assumed.
    package var passesForConfidence: Int {
        let rate = runs > 0 ? Double(failed) / Double(runs + 1) : 0
        var (chance, count) = (1.0, 0)
        while chance >= 0.01, count < 50 {
            chance *= 1 - rate
            count += 1
        }
        return count
    }

    /// The rate as text, such as `10 of 10 runs`.
    package var text: String { "\(failed) of \(runs) runs" }
}
