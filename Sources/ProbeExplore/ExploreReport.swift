import ProbeBase
package import ProbeEvents

/// How `explore` is done.
package struct ExploreSettings: Sendable {
    /// How long variations are tried.
    package var duration: Duration
    package var seed: Int
    /// Faults are tried instead of variations: how long a program may take for a step of the next client; nil: variations.
    package var patience: Duration?
    /// How long steps are left out of a scenario that fails.
    package var reductionTime: Duration = .seconds(20)

    package init(duration: Duration = .seconds(60), seed: Int = 0, patience: Duration? = nil) {
        self.duration = duration
        self.seed = seed
        self.patience = patience
    }
}

/// What came of it.
package enum ExploreOutcome: Sendable {
    /// The scenario does not pass as it is.
    case fails(CaseResult)
    /// The scenario passes as it is, but not each time.
    case unstable(passed: Int, runs: Int, CaseResult)
    /// No endpoint of the harness sends or reads anything.
    case nothingToVary(ExploredScenario)
    /// The program that is known to be right does not pass each time either, so nothing shows what a smaller scenario proves.
    case goodFails(passed: Int, runs: Int, CaseResult?)
    /// `shrink` of a scenario that does not fail; with a result that is neither, if there was one.
    case doesNotFail(CaseResult?)
    case explored(ExploreReport)
    /// With `--faults`.
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

    /// Whether it failed so seldom that nothing can be shrunk.
    package var isTooRare: Bool { shrunk.rate.isTooRare }
}

/// The variations that were tried, and the failures that were found.
package struct ExploreReport: Sendable {
    package let base: ExploredScenario
    /// Variations that were run.
    package var tried = 0
    /// Of those: the ones that were neither a pass nor a failure.
    package var unknown = 0
    /// Places at which one send can be cut.
    package var singleCuts = 0
    /// Of those: the ones that were tried, with a pause or without.
    package var singleCutsTried = 0
    package var elapsed: Duration = .zero
    /// No variation is left.
    package var isExhausted = false
    package var findings: [ExploreFinding] = []
    /// Failures that came in fewer than one in five runs.
    package var rare: [ExploreFinding] = []
    /// Failures of variations that the program which is known to be right fails too, the first one of each place.
    package private(set) var ofGood: [CaseResult] = []
    /// Failures at other places than that of the finding, the first one of each place.
    package private(set) var others: [CaseResult] = []
    private var cuts: Set<Change> = []

    package init(base: ExploredScenario) {
        self.base = base
    }

    mutating func addOther(_ result: CaseResult) { Self.add(result, to: &others) }

    mutating func addGood(_ result: CaseResult) { Self.add(result, to: &ofGood) }

    private static func add(_ result: CaseResult, to results: inout [CaseResult]) {
        let span = result.findings.first?.span
        if !results.contains(where: { $0.findings.first?.span == span }) { results.append(result) }
    }

    /// Whether a variation failed of which nothing could be made: it failed too rarely, or a program that is right fails it too.
    package var isUnsettled: Bool { !rare.isEmpty || !ofGood.isEmpty }

    mutating func count(_ candidates: [Candidate], _ trials: [Trial]) {
        tried += trials.count { if case .unknown(nil) = $0 { false } else { true } }
        for (candidate, trial) in zip(candidates, trials) {
            // What was not run has no result.
            if case .unknown(.some) = trial { unknown += 1 }
            if candidate.variation.changes.count == 1, case .cut = candidate.variation.changes[0] {
                cuts.insert(candidate.variation.changes[0])
            }
        }
        singleCutsTried = cuts.count
    }

    /// Variations a second.
    package var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(tried) / seconds : 0
    }
}

/// What is shown while variations are tried.
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

    /// `412 tried  87/s  single cuts 33/120  41 s left`
    ///
    /// - Parameter left: the time that is left, in seconds.
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
