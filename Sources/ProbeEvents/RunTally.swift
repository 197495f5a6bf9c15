import ProbeScenario

/// Counts the results of a run, and keeps track of the planned cases that have not ended.
package struct RunTally: Sendable {
    private let planned: [PlannedCase]
    private let rules: RunRules
    private let notes: [String]
    private var ended: Set<CaseKey> = []
    private var results = ResultCounts()
    /// The number of cases in all rounds. It is `nil` before the run begins, and `Int.max` for a run with
    /// `--until-fail`.
    package var caseCount: Int?

    /// Creates a tally.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run, each of them once, even if the run repeats its cases.
    ///   - notes: sentences to print at the end of the run.
    package init(planned: [PlannedCase], rules: RunRules, notes: [String] = []) {
        self.planned = planned
        self.rules = rules
        self.notes = notes
        // The capacity is reserved in advance, so that the memory use of a long run does not grow.
        ended.reserveCapacity(planned.count)
    }

    package mutating func count(_ result: CaseResult) {
        results.count(result.verdict, rules.disposition(of: result))
        ended.insert(result.key)
    }

    /// Returns the summary, completed with values that the engine does not know: the counts, and the cases that were
    /// not run.
    package func complete(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        summary.results = results
        summary.isStrict = rules.isStrict
        summary.allowsEmpty = rules.allowsEmpty
        summary.notes = notes
        let notEnded = planned.filter { !ended.contains($0.key) }
        summary.notRun = caseCount.map { $0 == .max ? 0 : max(0, $0 - results.total) } ?? notEnded.count
        summary.notRunCases = summary.notRun > 0 ? notEnded : []
        return summary
    }
}
