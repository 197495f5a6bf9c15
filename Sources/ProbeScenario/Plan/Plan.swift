/// What a run executes: a checked scenario and its cases.
package struct Plan: Sendable {
    package var scenario: Scenario
    package var sources: SourceMap
    /// One without `each`; else one for each combination, in order.
    package var cases: [CasePlan]

    package init(scenario: Scenario, sources: SourceMap, cases: [CasePlan]) {
        self.scenario = scenario
        self.sources = sources
        self.cases = cases
    }
}

package struct CasePlan: Sendable {
    /// `""`, or `[x=1022]`, `[n=1,m=2]`; never holds raw bytes.
    package var label: String
    /// What all cases have in common, then what the values of each `each` bring: cases share all but the last.
    private let levels: [[String: Value]]

    package init(label: String, levels: [[String: Value]]) {
        self.label = label
        self.levels = levels
    }

    /// The values of the `each` variables and of the header `let`s that were computed before the run: those that need
    /// nothing of it, and are not large.
    package var bindings: [String: Value] {
        levels.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
}
