import Glibc
// These modules are re-exported so that the author of a transport needs only one import: the protocols are in
// ProbeTransport, and the framings that they use are in ProbeBase.
@_exported public import ProbeBase
@_exported public import ProbeTransport

// TCPProbe runs tcpprobe's scenarios against your transport, from your own tests.
//
// A transport conforms to `Transport`, and a `TransportFactory` creates it. Each case is a value that can be run:
//
//     @Test(arguments: try ScenarioCase.conformance())
//     func conforms(_ scenario: ScenarioCase) async throws {
//         let outcome = await scenario.run(on: MyFactory())
//         if outcome.verdict == .unsupported { try Test.cancel("\(outcome)") }
//         #expect(outcome.isAcceptable, "\(outcome)")
//     }
//
// `Examples/LineTransport` is a complete package with such tests. A program that passes the same factory to
// `serveAdapter(_:version:)` is an adapter for `tcpprobe run … --adapter`.

/// Serves transports over the adapter protocol on stdin and stdout, until stdin ends. A program whose `main` calls this
/// function is a subject of `tcpprobe run … --adapter "PROGRAM"`. Nothing else may write to stdout.
///
/// - Parameter version: the transport's version, shown in reports.
/// - Returns: the exit status for the program: 0 if stdin has ended, 2 after an error, such as a line that violates the
///   protocol. The error is described on stderr.
public func serveAdapter(_ factory: any TransportFactory, version: String) -> Int32 {
    let server = AdapterServer(input: STDIN_FILENO, output: STDOUT_FILENO)
    guard let problem = server.serve(factory, version: version) else { return 0 }
    let line = Array("error: stdin: \(problem)\n".utf8)
    // The result is ignored: if stderr is closed, the message can't be delivered.
    _ = write(STDERR_FILENO, line, line.count)
    return 2
}
