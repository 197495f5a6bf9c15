import Glibc
import ProbeOrigin
import ProbeSystem
import ProbeTransport
import ProbeTransportFlyingSocks
import ProbeTransportNIO

/// The transports that `tcpprobe-subjects NAME` can serve. The program serves the transport of one library over the
/// adapter protocol on stdin and stdout, until stdin ends.
///
/// `tcpprobe run --transport NAME` and `tcpprobe adapter NAME` start the program.
private let factories: [any TransportFactory] = [
    NIOTransportFactory(), NIOWebSocketTransportFactory(), FlyingSocksTransportFactory(),
]

private func fail(_ text: String) -> Never {
    let line = Array("error: \(text)\n".utf8)
    // The result is ignored: if stderr is closed, the message can't be delivered.
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(2)
}

// SIGPIPE is ignored so that a write fails with EPIPE after the harness has exited, instead of ending this program.
signal(SIGPIPE, SIG_IGN)
private let names = factories.map(\.name).joined(separator: ", ")
private let arguments = ProgramArguments.words.dropFirst()
switch arguments.first {
case "--version":
    print(ProductOrigin.line(program: "tcpprobe-subjects", version: ProductVersion.text))
case "--help", "-h":
    print(
        """
        usage: tcpprobe-subjects NAME

        Serves a transport of a library over tcpprobe's adapter protocol, on stdin and stdout. NAME is one of: \(names)

        `tcpprobe run … --transport NAME` starts it automatically.
        """)
case let name? where arguments.count == 1:
    guard let factory = factories.first(where: { $0.name == name }) else {
        fail("unknown transport \(String(reflecting: name)): expected one of \(names)")
    }
    let server = AdapterServer(input: STDIN_FILENO, output: STDOUT_FILENO)
    if let problem = server.serve(factory, version: ProductVersion.text) {
        fail("stdin: \(String(reflecting: problem))")
    }
default:
    fail("usage: tcpprobe-subjects NAME, where NAME is one of: \(names)")
}
