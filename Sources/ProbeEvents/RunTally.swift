/// Counts what the cases of a run came to, and knows which of the planned ones never ended.
package struct RunTally: Sendable {
    /// Those of the planned cases that have not ended, each as often as it is still to come; in the order of the plan
    /// when asked for by ``notRun``.
    private var open: [PlannedCase: Int] = [:]
    private let planned: [PlannedCase]
    private let strict: Bool
    private(set) package var counts: [Verdict: Int] = [:]
    /// Failures of level `may`, and of `should` without `--strict`.
    private(set) package var advisoryFailures = 0

    /// - Parameter strict: whether a failure of level `should` fails the run.
    package init(planned: [PlannedCase], strict: Bool) {
        self.planned = planned
        self.strict = strict
        for item in planned { open[item, default: 0] += 1 }
    }

    package var ended: Int { counts.values.reduce(0, +) }

    package mutating func count(_ result: CaseResult) {
        counts[result.verdict, default: 0] += 1
        if result.isAdvisoryFailure(strict: strict) { advisoryFailures += 1 }
        let key = PlannedCase(id: result.id, path: result.path, subject: result.subject)
        if let left = open[key] { open[key] = left > 1 ? left - 1 : nil }
    }

    /// The planned cases that have not ended, in the order of the plan.
    package var notRun: [PlannedCase] {
        var left = open
        // A case that is repeated ends in the plan's order, so that its last repetitions are those which are missing.
        let found = planned.reversed().filter { item in
            guard let count = left[item] else { return false }
            left[item] = count > 1 ? count - 1 : nil
            return true
        }
        return found.reversed()
    }

    /// The summary with what only the tally knows: failures that do not count, and the cases that were not run.
    package func completed(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        summary.advisoryFailures = advisoryFailures
        if summary.notRun > 0, summary.notRunCases.isEmpty { summary.notRunCases = notRun }
        return summary
    }

    /// A summary from the tally alone, for a run that can't end by itself.
    package func summary(interruptedBy signal: Int32?, duration: Int64) -> RunSummary {
        var summary = RunSummary()
        summary.counts = counts
        summary.notRunCases = notRun
        summary.notRun = summary.notRunCases.count
        summary.advisoryFailures = advisoryFailures
        summary.interruptedBy = signal
        summary.duration = duration
        return summary
    }
}
