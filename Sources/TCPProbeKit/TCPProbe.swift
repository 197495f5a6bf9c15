import Glibc
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

/// Serves transports over the adapter protocol on stdin and stdout, until the end of stdin: the whole `main` of a program that
/// makes them a subject of `tcpprobe run … --adapter "PROGRAM"`. Nothing else may write to stdout.
///
/// - Parameter version: of the transport, shown in reports.
/// - Returns: the status to exit with: 0 at the end of stdin, 2 after a line that is none of the protocol, which stderr names.
public func serveAdapter(_ factory: any TransportFactory, version: String) -> Int32 {
    let server = AdapterServer(input: STDIN_FILENO, output: STDOUT_FILENO)
    guard let problem = server.serve(factory, version: version) else { return 0 }
    let line = Array("error: stdin: \(problem)\n".utf8)
    // The result is ignored: where stderr is closed nobody can be told.
    _ = write(STDERR_FILENO, line, line.count)
    return 2
}
