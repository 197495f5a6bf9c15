import TCPProbe
import Testing

@Suite struct ConformanceTests {
    /// Runs the conformance suite's protobuf cases.
    @Test(arguments: try ScenarioCase.conformance().filter { $0.id.hasPrefix("protobuf/") })
    func conforms(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: SampleStreamFactory())
        #expect(outcome.verdict == .passed, "\(outcome)")
    }
}
