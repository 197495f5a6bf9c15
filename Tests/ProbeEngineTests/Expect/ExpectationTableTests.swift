import ProbeScenario
import Testing

/// Checks that the tables of the other suites have rows for every expectation.
struct ExpectationTableTests {
    /// An expectation without rows would not be tested.
    @Test(arguments: ExpectationKind.allCases.map(\.rawValue) + spellingsOfConnections)
    func everyExpectationHasRowsForAllOutcomes(_ kind: String) {
        // Whether an operation was refused is checked once, without waiting.
        let isMomentary = kind == ExpectationKind.subjectError.rawValue
        let rows = Self.rows.filter { $0.kind == kind }.map(\.outcome)
        #expect(rows.contains { $0.hasPrefix("satisfied") })
        #expect(rows.contains { $0.hasPrefix("pending") } || isMomentary)
        #expect(rows.contains { !$0.hasPrefix("satisfied") && !$0.hasPrefix("pending") })
        #expect(rows.count >= 3 || isMomentary)
    }

    /// The expectations about a connection that have a row in the language reference, in which a single integer format
    /// represents all integer formats.
    private static let spellingsOfConnections = LanguageTable.expectationEntries(of: .connection)
        .filter { !$0.rows.isEmpty }.map(\.spelling)

    private static var rows: [ExpectationRow] {
        SubjectEvaluationTests.rows + ConnectionEvaluationTests.rows + TLSEvaluationTests.rows
            + WebSocketEvaluationTests.rows
            + SendEvaluationTests.rows
            + ServerEvaluationTests.rows + ProcessEvaluationTests.rows
    }
}
