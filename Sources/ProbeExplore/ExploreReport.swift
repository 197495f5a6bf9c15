import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The settings of `explore`.
package struct ExploreSettings: Sendable {
    /// The time for everything: trying variations, shrinking the failures, and checking what is written.
    package var duration: Duration
    package var seed: Int
    /// Whether faults are tried instead of variations.
    package var hasFaults: Bool
    /// The time that a program may take for each step: of a variation, or of the next client after a fault; `nil` for a
    /// time that depends on how long the step takes without variations.
    package var patience: Duration?
    /// The variations that failed in earlier searches, in the notation of `VariationText`.
    package var saved: [String] = []
    /// The share of the variations to try; `nil` to try all of them.
    package var share: Share?
    /// Whether a search that has tried all variations without a failure begins again with the next seed.
    package var repeats = false
    /// The time limit for removing steps from a failing scenario.
    package var reductionTime: Duration = .seconds(20)

    package init(
        duration: Duration = .seconds(60), seed: Int = 0, hasFaults: Bool = false, patience: Duration? = nil
    ) {
        self.duration = duration
        self.seed = seed
        self.hasFaults = hasFaults
        self.patience = patience
    }

    /// The time that is reserved for running a written scenario with its own deadlines.
    func writingTime(of scenario: Scenario) -> Duration { min(scenario.timeout + .seconds(1), duration / 3) }
}

/// The result of `explore` or `shrink`.
package enum ExploreOutcome: Sendable {
    /// The scenario fails even without variations.
    case fails(CaseResult)
    /// Without variations, the scenario passes only in some runs.
    case unstable(passed: Int, runs: Int, CaseResult)
    /// No endpoint of the harness sends or reads data, so there is nothing to vary.
    case nothingToVary(ExploredScenario)
    /// The known-good program does not pass in every run, so it can't serve as evidence that a smaller scenario is
    /// correct.
    case goodFails(passed: Int, runs: Int, CaseResult?)
    /// The scenario given to `shrink` does not fail. The associated value is a result that is neither a pass nor a
    /// failure, if there was one.
    case doesNotFail(CaseResult?)
    case explored(ExploreReport)
    /// The report of `explore --faults`.
    case faults(FaultExplorer.Report)
    case interrupted
}

/// A failure, and the smallest scenario that was found for it.
package struct ExploreFinding: Sendable {
    package var signature: Signature
    /// The first result that has this failure's signature.
    package var result: CaseResult
    package var shrunk: ShrinkResult
    /// The variation that failed first, as text; `nil` if the scenario failed without variations.
    package var original: String?

    package init(signature: Signature, result: CaseResult, shrunk: ShrinkResult) {
        self.signature = signature
        self.result = result
        self.shrunk = shrunk
    }

    /// Whether the failure occurred too rarely to be shrunk.
    package var isTooRare: Bool { shrunk.rate.isTooRare }
}

/// The variations that were tried and the failures that they caused.
package struct ExploreReport: Sendable {
    package let base: ExploredScenario
    /// The number of variations that have been run.
    package var tried = 0
    /// The number of variations that neither passed nor failed.
    package var unknown = 0
    /// The number of offsets, over all sends, at which a send can be cut.
    package var singleCuts = 0
    /// The number of offsets, over all sends, at which a single cut was tried, with or without a pause.
    package var singleCutsTried = 0
    package var elapsed: Duration = .zero
    /// Whether every variation has been tried. `rounds` is the number of times that the search began.
    package var isExhausted = false
    package var rounds = 1
    /// The number of saved variations that the scenario permits, which were tried first, and the number of all of them.
    package var saved: (tried: Int, all: Int) = (0, 0)
    /// Whether only a share of the variations was tried.
    package var isShare = false
    package var findings: [ExploreFinding] = []
    /// The failures that occurred in fewer than one in five runs.
    package var rare: [ExploreFinding] = []
    /// For each step at which the known-good program also fails a variation, the first such result.
    package private(set) var failedByGood: [CaseResult] = []
    /// The first failure at each step other than the findings' steps.
    package private(set) var others: [CaseResult] = []
    /// The missed deadlines that were not confirmed for lack of time.
    package private(set) var unconfirmed: [CaseResult] = []
    /// How many runs without variations failed after the search; `nil` if all of them passed.
    package var stability: FailureRate?
    private var cuts: Set<Change> = []

    package init(base: ExploredScenario) {
        self.base = base
    }

    /// Resets the counts and the failures that were only listed; those of an abandoned search are discarded.
    mutating func beginSearch(singleCuts: Int) {
        (tried, unknown, singleCutsTried, rounds, isExhausted) = (0, 0, 0, 1, false)
        (cuts, others) = ([], [])
        self.singleCuts = singleCuts
    }

    /// Adds a failure at another step than those of the findings.
    mutating func addOther(_ result: CaseResult) {
        let span = result.findings.first?.span
        if findings.contains(where: { $0.result.findings.first?.span == span }) { return }
        Self.add(result, to: &others)
    }

    mutating func addUnconfirmed(_ result: CaseResult) { Self.add(result, to: &unconfirmed) }

    mutating func addGood(_ result: CaseResult) { Self.add(result, to: &failedByGood) }

    private static func add(_ result: CaseResult, to results: inout [CaseResult]) {
        let span = result.findings.first?.span
        if !results.contains(where: { $0.findings.first?.span == span }) { results.append(result) }
    }

    /// Whether a failing variation proves nothing, because it failed too rarely, because there was no time to confirm or
    /// shrink it, or because the known-good program also fails it; or whether nothing was tried.
    package var isUnsettled: Bool {
        !rare.isEmpty || !failedByGood.isEmpty || !unconfirmed.isEmpty || (findings.isEmpty && !others.isEmpty)
            || (tried == 0 && !isExhausted)
    }

    mutating func count(_ candidates: [Candidate], _ trials: [Trial]) {
        tried += trials.count { if case .unknown(nil) = $0 { false } else { true } }
        for (candidate, trial) in zip(candidates, trials) {
            // A candidate that was not run has no result and is not counted.
            if case .unknown(nil) = trial { continue }
            if case .unknown = trial { unknown += 1 }
            if candidate.variation.changes.count == 1, case .cut = candidate.variation.changes[0] {
                cuts.insert(candidate.variation.changes[0])
            }
        }
        singleCutsTried = cuts.count
    }

    /// The number of variations that are run per second.
    package var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(tried) / seconds : 0
    }
}

/// The progress that is displayed while variations are tried.
package struct ExploreProgress: Sendable {
    package enum Activity: Sendable {
        case searching
        /// A failure is being shrunk, for which this number of candidates has been run.
        case shrinking(runs: Int)
    }

    package var activity: Activity
    private let tried: Int
    private let rate: Double
    private let singles: (tried: Int, all: Int)

    init(_ report: ExploreReport, activity: Activity) {
        self.activity = activity
        tried = report.tried
        rate = report.rate
        singles = (report.singleCutsTried, report.singleCuts)
    }

    /// The progress for a report.
    package var counts: ExplorationProgress {
        var counts = ExplorationProgress(
            tried: tried, rate: rate, singleCuts: singles.all, singleCutsTried: singles.tried)
        if case .shrinking(let runs) = activity { counts.shrinkingRuns = runs }
        return counts
    }

    /// Returns the text of a progress line, such as `412 tried  87/s  single cuts 33/120  41 s left`.
    ///
    /// - Parameter left: the remaining time in seconds; `nil` if it is not limited.
    package func text(left: Int?) -> String {
        var parts = ["\(tried) tried", "\(DurationText.fixed(rate, digits: rate < 10 ? 1 : 0))/s"]
        parts.append("single cuts \(singles.tried)/\(singles.all)")
        switch activity {
        case .searching: break
        case .shrinking(let runs): parts.append("shrinking a failure: \(ByteText.count(runs, "run"))")
        }
        if let left { parts.append("\(max(0, left)) s left") }
        return parts.joined(separator: "  ")
    }
}
