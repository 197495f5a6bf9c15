import ProbeScenario

/// Counts what the cases of a run came to, and knows which of the planned ones never ended.
package struct RunTally: Sendable {
    private let planned: [PlannedCase]
    private let rules: RunRules
    private let notes: [String]
    private var ended: Set<CaseKey> = []
    private var counts: [Verdict: Int] = [:]
    /// Failures of level `may`, and of `should` unless strict.
    private var advisoryFailures = 0
    /// What did not pass, as expected.
    private var expected: [Verdict: Int] = [:]
    private var unexpectedPasses = 0

    /// - Parameter planned: each case once, however often it is repeated.
    /// - Parameter notes: what is to be said of the run when it has ended.
    package init(planned: [PlannedCase], rules: RunRules, notes: [String] = []) {
        self.planned = planned
        self.rules = rules
        self.notes = notes
        // What a run keeps of each case it keeps from the beginning: it does not grow while it goes on.
        ended.reserveCapacity(planned.count)
    }

    package mutating func count(_ result: CaseResult) {
        counts[result.verdict, default: 0] += 1
        switch rules.standing(of: result) {
        case .advisory: advisoryFailures += 1
        case .expected: expected[result.verdict, default: 0] += 1
        case .unexpectedPass: unexpectedPasses += 1
        case .fine, .bad: break
        }
        ended.insert(result.key)
    }

    /// The planned cases that ended in no round, in the order of the plan.
    package var notRun: [PlannedCase] { planned.filter { !ended.contains($0.key) } }

    /// The summary with what the run itself does not know: which failures do not count, and which cases were not run.
    package func completed(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        summary.advisoryFailures = advisoryFailures
        summary.expected = expected
        summary.unexpectedPasses = unexpectedPasses
        summary.isStrict = rules.isStrict
        summary.notes = notes
        if summary.notRun > 0, summary.notRunCases.isEmpty { summary.notRunCases = notRun }
        return summary
    }

    /// A summary from the tally alone, for a run that can't end by itself.
    ///
    /// - Parameter duration: nanoseconds.
    package func summary(interruptedBy signal: Int32?, duration: Int64) -> RunSummary {
        var summary = RunSummary()
        summary.counts = counts
        summary.notRunCases = notRun
        summary.notRun = summary.notRunCases.count
        summary.interruptedBy = signal
        summary.duration = duration
        return completed(summary)
    }
}
