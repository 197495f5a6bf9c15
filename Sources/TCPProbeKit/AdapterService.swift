import Glibc
import ProbeTransport

/// Serves transports over the adapter protocol on stdin and stdout, until the end of stdin: the whole `main` of a program that
/// makes them a subject of `tcpprobe run … --adapter "PROGRAM"`. Nothing else may write to stdout.
///
/// - Parameter version: of the transport, shown in reports.
/// - Returns: the status to exit with: 0 at the end of stdin, 2 after a line that is none of the protocol, which stderr names.
public func serveAdapter(_ factory: any TransportFactory, version: String) -> Int32 {
    let server = AdapterServer(input: STDIN_FILENO, output: STDOUT_FILENO)
    guard let problem = server.serve(factory, version: version) else { return 0 }
    let line = Array("error: stdin: \(problem)\n".utf8)
    // Nobody is left to be told when stderr is closed, too.
    _ = write(STDERR_FILENO, line, line.count)
    return 2
}
