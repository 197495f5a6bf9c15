import TCPProbe
import Testing

@Suite struct ConformanceTests {
    /// The suite's cases about protobuf.
    @Test(arguments: try ScenarioCase.conformance().filter { $0.id.hasPrefix("protobuf/") })
    func conforms(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: SampleStreamFactory())
        #expect(outcome.verdict == .passed, "\(outcome)")
    }
}
