import ProbeBase

/// The number of runs that failed, and the number of passes that are needed as evidence that a failure no longer
/// occurs.
package struct FailureRate: Sendable, Equatable {
    package var failed: Int
    package var runs: Int

    package init(failed: Int, runs: Int) {
        self.failed = failed
        self.runs = runs
    }

    /// The number of runs from which a rate is calculated.
    package static let measured = 10

    /// Whether fewer than one in five runs failed. If so, the failure is too rare to be shrunk.
    package var isTooRare: Bool { failed * 5 < runs }

    /// The number of consecutive passes that have a probability below 1 % of occurring by chance. A failure that has
    /// occurred in every run so far may still be absent from the next run, so one additional passing run is assumed.
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
