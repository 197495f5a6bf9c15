import TCPProbe
import Testing

@Suite struct ConformanceTests {
    /// One test for each case of the suite; a failure has the text of the console.
    @Test(arguments: try ScenarioCase.conformance())
    func conforms(_ scenario: ScenarioCase) async throws {
        let outcome = await scenario.run(on: LineClientFactory())
        if outcome.verdict == .unsupported || outcome.verdict == .skipped { try Test.cancel("\(outcome)") }
        #expect(outcome.isAcceptable, "\(outcome)")
    }
}
