import TCPProbe
import Testing

@Suite struct ConformanceTests {
    /// Runs each case of the conformance suite as a test. The message of a failed test is the text that the console
    /// would print.
    @Test(arguments: try ScenarioCase.conformance())
    func conforms(_ scenario: ScenarioCase) async throws {
        let outcome = await scenario.run(on: LineClientFactory())
        if outcome.verdict == .unsupported || outcome.verdict == .skipped { try Test.cancel("\(outcome)") }
        #expect(outcome.isAcceptable, "\(outcome)")
    }
}
