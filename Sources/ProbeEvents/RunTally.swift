import ProbeScenario

/// Counts what the cases of a run came to, and knows which of the planned ones never ended.
package struct RunTally: Sendable {
    private let planned: [PlannedCase]
    private let strict: Bool
    private var ended: Set<PlannedCase> = []
    private var counts: [Verdict: Int] = [:]
    /// Failures of level `may`, and of `should` unless strict.
    private var advisoryFailures = 0

    /// - Parameter planned: each case once, however often it is repeated.
    /// - Parameter strict: failures of level `should` fail the run.
    package init(planned: [PlannedCase], strict: Bool) {
        self.planned = planned
        self.strict = strict
    }

    package mutating func count(_ result: CaseResult) {
        counts[result.verdict, default: 0] += 1
        if result.isAdvisoryFailure(strict: strict) { advisoryFailures += 1 }
        ended.insert(PlannedCase(id: result.id, path: result.path, subject: result.subject))
    }

    /// The planned cases that ended in no round, in the order of the plan.
    package var notRun: [PlannedCase] { planned.filter { !ended.contains($0) } }

    /// The summary with the cases that were not run, where there are any.
    package func completed(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        summary.advisoryFailures = advisoryFailures
        if summary.notRun > 0, summary.notRunCases.isEmpty { summary.notRunCases = notRun }
        return summary
    }

    /// A summary from the tally alone, for a run that can't end by itself.
    ///
    /// - Parameter duration: nanoseconds.
    package func summary(interruptedBy signal: Int32?, duration: Int64) -> RunSummary {
        var summary = RunSummary()
        summary.counts = counts
        summary.advisoryFailures = advisoryFailures
        summary.notRunCases = notRun
        summary.notRun = summary.notRunCases.count
        summary.interruptedBy = signal
        summary.duration = duration
        return summary
    }
}
