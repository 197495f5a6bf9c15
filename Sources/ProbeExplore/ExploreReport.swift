import ProbeBase
package import ProbeEvents

/// The settings of `explore`.
package struct ExploreSettings: Sendable {
    /// The time for trying variations.
    package var duration: Duration
    package var seed: Int
    /// The time that a program may take for a step of the next client when faults are tried; `nil` to try variations
    /// instead.
    package var patience: Duration?
    /// The time for leaving steps out of a failing scenario.
    package var reductionTime: Duration = .seconds(20)

    package init(duration: Duration = .seconds(60), seed: Int = 0, patience: Duration? = nil) {
        self.duration = duration
        self.seed = seed
        self.patience = patience
    }
}

/// The outcome of `explore` or `shrink`.
package enum ExploreOutcome: Sendable {
    /// The scenario does not pass without variations.
    case fails(CaseResult)
    /// The scenario passes without variations, but not every time.
    case unstable(passed: Int, runs: Int, CaseResult)
    /// No endpoint of the harness sends or reads anything.
    case nothingToVary(ExploredScenario)
    /// The program that is known to be correct does not pass every time, so nothing can show what a smaller scenario
    /// proves.
    case goodFails(passed: Int, runs: Int, CaseResult?)
    /// `shrink` was given a scenario that does not fail. The result is one that is neither a pass nor a failure, if
    /// there was one.
    case doesNotFail(CaseResult?)
    case explored(ExploreReport)
    /// The outcome with `--faults`.
    case faults(FaultExplorer.Report)
    case interrupted
}

/// A failure and the smallest scenario that shows it.
package struct ExploreFinding: Sendable {
    package var signature: Signature
    /// The first result with that signature.
    package var result: CaseResult
    package var shrunk: ShrinkResult

    package init(signature: Signature, result: CaseResult, shrunk: ShrinkResult) {
        self.signature = signature
        self.result = result
        self.shrunk = shrunk
    }

    /// Whether it failed too rarely to be shrunk.
    package var isTooRare: Bool { shrunk.rate.isTooRare }
}

/// The variations that were tried, and the failures that were found.
package struct ExploreReport: Sendable {
    package let base: ExploredScenario
    /// The number of variations that were run.
    package var tried = 0
    /// The number of variations that neither passed nor failed.
    package var unknown = 0
    /// The number of places at which a single send can be cut.
    package var singleCuts = 0
    /// The number of single cuts that were tried, with or without a pause.
    package var singleCutsTried = 0
    package var elapsed: Duration = .zero
    /// Whether no variation is left to try.
    package var isExhausted = false
    package var findings: [ExploreFinding] = []
    /// Failures that occurred in fewer than one in five runs.
    package var rare: [ExploreFinding] = []
    /// Failures of variations that the correct program fails too; the first one at each place.
    package private(set) var failedByGood: [CaseResult] = []
    /// Failures at places other than the finding's; the first one at each place.
    package private(set) var others: [CaseResult] = []
    private var cuts: Set<Change> = []

    package init(base: ExploredScenario) {
        self.base = base
    }

    mutating func addOther(_ result: CaseResult) { Self.add(result, to: &others) }

    mutating func addGood(_ result: CaseResult) { Self.add(result, to: &failedByGood) }

    private static func add(_ result: CaseResult, to results: inout [CaseResult]) {
        let span = result.findings.first?.span
        if !results.contains(where: { $0.findings.first?.span == span }) { results.append(result) }
    }

    /// Whether a failing variation could not be attributed: it failed too rarely, or the correct program fails it too.
    package var isUnsettled: Bool { !rare.isEmpty || !failedByGood.isEmpty }

    mutating func count(_ candidates: [Candidate], _ trials: [Trial]) {
        tried += trials.count { if case .unknown(nil) = $0 { false } else { true } }
        for (candidate, trial) in zip(candidates, trials) {
            // A candidate that was not run has no result.
            if case .unknown(.some) = trial { unknown += 1 }
            if candidate.variation.changes.count == 1, case .cut = candidate.variation.changes[0] {
                cuts.insert(candidate.variation.changes[0])
            }
        }
        singleCutsTried = cuts.count
    }

    /// The number of variations run per second.
    package var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(tried) / seconds : 0
    }
}

/// What is displayed while variations are tried.
package struct ExploreProgress: Sendable {
    package enum Activity: Sendable {
        case searching, shrinking
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

    /// Returns the text of a progress line, such as `412 tried  87/s  single cuts 33/120  41 s left`.
    ///
    /// - Parameter left: the remaining time, in seconds.
    package func text(left: Int) -> String {
        var parts = ["\(tried) tried", "\(DurationText.fixed(rate, digits: rate < 10 ? 1 : 0))/s"]
        parts.append("single cuts \(singles.tried)/\(singles.all)")
        switch activity {
        case .searching: parts.append("\(max(0, left)) s left")
        case .shrinking: parts.append("shrinking a failure")
        }
        return parts.joined(separator: "  ")
    }
}
