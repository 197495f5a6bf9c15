import ProbeScenario

/// Counts what the cases of a run came to, and knows which of the planned ones never ended.
package struct RunTally: Sendable {
    private let planned: [PlannedCase]
    private let rules: RunRules
    private let notes: [String]
    private var ended: Set<CaseKey> = []
    private var results = ResultCounts()
    /// Cases of all rounds; nil where the run did not begin, `Int.max` for one that goes on until something fails.
    package var caseCount: Int?

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
        results.count(result.verdict, rules.disposition(of: result))
        ended.insert(result.key)
    }

    /// The summary with what the run itself does not know: what its cases came to, and which of them were not run.
    package func complete(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        summary.results = results
        summary.isStrict = rules.isStrict
        summary.notes = notes
        let notEnded = planned.filter { !ended.contains($0.key) }
        summary.notRun = caseCount.map { $0 == .max ? 0 : max(0, $0 - results.total) } ?? notEnded.count
        summary.notRunCases = summary.notRun > 0 ? notEnded : []
        return summary
    }
}
