import ProbeScenario

/// Counts what the cases of a run came to, and knows which of the planned ones never ended.
package struct RunTally: Sendable {
    private let planned: [PlannedCase]
    private let isStrict: Bool
    private var ended: Set<PlannedCase> = []
    private var counts: [Verdict: Int] = [:]
    private var failuresByLevel: [Scenario.Level: Int] = [:]

    /// - Parameter planned: each case once, however often it is repeated.
    /// - Parameter isStrict: failures of level `should` fail the run.
    package init(planned: [PlannedCase], isStrict: Bool) {
        self.planned = planned
        self.isStrict = isStrict
    }

    package mutating func count(_ result: CaseResult) {
        counts[result.verdict, default: 0] += 1
        if result.verdict == .failed { failuresByLevel[result.level, default: 0] += 1 }
        ended.insert(PlannedCase(id: result.id, path: result.path, subject: result.subject))
    }

    /// The planned cases that ended in no round, in the order of the plan.
    package var notRun: [PlannedCase] { planned.filter { !ended.contains($0) } }

    /// The summary with the cases that were not run, where there are any.
    package func completed(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        if summary.notRun > 0, summary.notRunCases.isEmpty { summary.notRunCases = notRun }
        return summary
    }

    /// A summary from the tally alone, for a run that can't end by itself.
    ///
    /// - Parameter duration: nanoseconds.
    package func summary(interruptedBy signal: Int32?, duration: Int64) -> RunSummary {
        var summary = RunSummary()
        summary.counts = counts
        summary.failuresByLevel = failuresByLevel
        summary.isStrict = isStrict
        summary.notRunCases = notRun
        summary.notRun = summary.notRunCases.count
        summary.interruptedBy = signal
        summary.duration = duration
        return summary
    }
}
