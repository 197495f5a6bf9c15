import ProbeBase
import ArgumentParser
import Glibc
import ProbeEvents
import ProbeTransport

struct AdapterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adapter",
        abstract: "Serve a built-in transport over the adapter protocol, on stdin and stdout.",
        discussion: """
            Sends `hello`, then reads operations from stdin and writes events to stdout, one JSON object per line. Exits at the end of stdin.

            EXAMPLES:
              tcpprobe run Scenarios --adapter "tcpprobe adapter bsd"
              echo '{"op":"connect","id":1,"conn":1,"host":"127.0.0.1","port":6379}' | tcpprobe adapter bsd
            """)

    @Argument(
        help: ArgumentHelp(
            "Transport to serve: \(BuiltInTransports.available.joined(separator: ", ")).", valueName: "name"),
        completion: .list(BuiltInTransports.names))
    var transport: String

    func run() throws {
        guard let factory = BuiltInTransports.factory(named: transport) else {
            return try SubjectsProgram.become(for: transport)
        }
        let server = AdapterServer(input: STDIN_FILENO, output: STDOUT_FILENO)
        if let problem = server.serve(factory, version: ProductVersion.text) {
            Console.standardError.write("error: stdin: \(Escaped.text(problem.utf8))\n")
            throw ExitCode(2)
        }
    }
}
