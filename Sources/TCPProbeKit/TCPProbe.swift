// A transport under test conforms to the protocols of ProbeTransport, which name the framings of ProbeBase: one import brings all.
@_exported public import ProbeBase
@_exported public import ProbeTransport

// TCPProbe: run tcpprobe's scenarios against a transport of your own, from your own tests.
//
// A transport conforms to `Transport`, and a `TransportFactory` makes it. Then each case is a value that runs:
//
//     @Test(arguments: try ScenarioCase.conformance())
//     func conforms(_ scenario: ScenarioCase) async throws {
//         let outcome = await scenario.run(on: MyFactory())
//         if outcome.verdict == .unsupported { try Test.cancel("\(outcome)") }
//         #expect(outcome.isAcceptable, "\(outcome)")
//     }
//
// `Examples/LineTransport` is a whole package that does so. The same factory behind `serveAdapter(_:version:)` is an adapter
// for `tcpprobe run … --adapter`.
