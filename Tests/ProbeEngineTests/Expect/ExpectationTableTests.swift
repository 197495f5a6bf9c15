import Testing

/// The tables of the other suites must have a row for every expectation.
struct ExpectationTableTests {
    /// An expectation without rows would not be tested.
    @Test(arguments: ExpectationKind.allCases)
    func everyExpectationIsSatisfiedPendingAndImpossible(_ kind: ExpectationKind) {
        let rows = Self.rows.filter { $0.kind == kind }.map(\.outcome)
        #expect(rows.contains { $0.hasPrefix("satisfied") })
        #expect(rows.contains { $0.hasPrefix("pending") } || kind.isMomentary)
        #expect(rows.contains { !$0.hasPrefix("satisfied") && !$0.hasPrefix("pending") })
        #expect(rows.count >= 3 || kind.isMomentary)
    }

    private static var rows: [ExpectationRow] {
        SubjectEvaluationTests.rows + ConnectionEvaluationTests.rows + TLSEvaluationTests.rows
            + WebSocketEvaluationTests.rows
            + SendEvaluationTests.rows
            + ServerEvaluationTests.rows + ProcessEvaluationTests.rows
    }
}
