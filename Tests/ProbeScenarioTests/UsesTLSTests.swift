import ProbeScenario
import Testing

/// Tests which scripts are considered to use TLS. A run of such a script must store the secrets of its connections.
struct UsesTLSTests {
    @Test(
        arguments: [
            ("wire no rst", false), ("wire C -> S lacks \"x\"", false), ("wire C -> S tls", true),
            ("wire C -> S records 1", true), ("retry every 10ms within 1s { wire C -> S tls from the start }", true),
            ("together {\n  note \"a\"\n  wire C -> S records 0\n}", true),
        ])
    func tlsStepsAreDetected(step: String, uses: Bool) throws {
        let text = "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\n\(step)\n"
        let result = compile(text)
        #expect(result.diagnostics.isEmpty, "\(result.rendered)")
        #expect(try #require(result.plan?.scenario).usesTLS == uses)
    }
}
