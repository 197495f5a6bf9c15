/// The input of a run: a checked scenario and its cases.
package struct Plan: Sendable {
    package var scenario: Scenario
    package var sources: SourceMap
    /// The cases in order: a single case if there is no `each`, otherwise one case for each combination of values.
    package var cases: [CasePlan]

    package init(scenario: Scenario, sources: SourceMap, cases: [CasePlan]) {
        self.scenario = scenario
        self.sources = sources
        self.cases = cases
    }
}

/// One case of a plan: its label, and the values that distinguish it from the other cases.
package struct CasePlan: Sendable {
    /// The label, such as `[x=1022]` or `[n=1,m=2]`; empty without `each`. A label never contains raw bytes.
    package var label: String
    /// The values by level: first the values that all cases share, then the values of each `each`. Cases that differ
    /// only in the last `each` share all other levels.
    private let levels: [[String: Value]]

    package init(label: String, levels: [[String: Value]]) {
        self.label = label
        self.levels = levels
    }

    /// The values of the `each` variables, and of the header's `let`s that were computed before the run, because their
    /// values don't depend on the run and are not large.
    package var bindings: [String: Value] {
        levels.reduce(into: [:]) { $0.merge($1) { $1 } }
    }
}
