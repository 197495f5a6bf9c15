import ArgumentParser
import CShims
import Glibc
import ProbeEngine
import ProbeEvents
import ProbeOrigin
import ProbeSystem
import ProbeTransport

/// The main command: parses the arguments, runs a subcommand, and exits with its exit code.
@main
struct TCPProbe: ParsableCommand {
    static let version = ProductVersion.text

    static let configuration = CommandConfiguration(
        commandName: "tcpprobe",
        abstract:
            "Run plain-text TCP scenarios, inject the faults of networks and peers, and judge what was on the wire.",
        discussion: """
            EXAMPLES:
              tcpprobe run Scenarios/crlf.scn          run one scenario
              tcpprobe run Scenarios --out captures    run a folder, and write captures to captures/
              tcpprobe merge results/*.json            merge the results of all shards
              tcpprobe check Scenarios                 check scenarios without running them
              tcpprobe list Scenarios                  list the cases with their ids, levels and tags
              tcpprobe inspect capture.pcapng          list the flows of a capture
              tcpprobe diagnose capture.pcapng         find the cause of slow or broken connections
              tcpprobe watch --port 8080               show packets on loopback as they arrive
              tcpprobe proxy 7000 127.0.0.1:6379       forward connections to a server
              tcpprobe record 7000 127.0.0.1:25 a.scn  record an exchange as a scenario
              tcpprobe connect 127.0.0.1:25            send steps to a server at a prompt

            EXIT CODES:
              0         all cases passed (skipped and unsupported cases are reported)
              1         a case failed
              2         invalid usage, or a script with errors; no case was run
              3         a case ended in an error or was inconclusive, and none failed
              129, 130, 143  interrupted (SIGHUP, SIGINT, SIGTERM); the results so far are reported
            """,
        version: ProductOrigin.line(program: "tcpprobe", version: version),
        subcommands: [
            RunCommand.self, CheckCommand.self, MergeCommand.self, FmtCommand.self, ListCommand.self,
            ExplainCommand.self,
            InspectCommand.self, DiagnoseCommand.self, ExploreCommand.self, ShrinkCommand.self,
            WatchCommand.self, ProxyCommand.self, RecordCommand.self, ConnectCommand.self, ListenCommand.self,
            LSPCommand.self, AdapterCommand.self, BenchCommand.self,
            GenerateCommand.self,
        ]
    )

    static func main() {
        // The signal SIGPIPE is ignored, because it would end the whole run. If the reader of the output closes its
        // end, writes fail with EPIPE instead.
        signal(SIGPIPE, SIG_IGN)
        probe_fill_standard_streams()
        // The capability CAP_NET_RAW is made ineffective before any thread starts, because threads inherit it. It is
        // effective only while a capture is being opened.
        _ = probe_set_capability(PROBE_CAP_NET_RAW, 0)
        let arguments = ProgramArguments.words
        if arguments.isEmpty {
            Console.standardError.write(
                "error: can't read the command-line arguments from /proc/self/cmdline\n")
            finish(3)
        }
        // A CI job that accidentally omits the subcommand must not succeed.
        if arguments.count == 1 {
            Console.standardError.write("\(helpMessage())\n\nerror: a subcommand is missing\n")
            finish(2)
        }
        if let problem = Subcommands.problem(Array(arguments.dropFirst())) {
            Console.standardError.write("error: \(problem)\n")
            finish(2)
        }
        do {
            var command = try parseAsRoot(GoodOptions.joined(Array(arguments.dropFirst())))
            try command.run()
        } catch let code as ExitCode {
            finish(code.rawValue)
        } catch let error as RunSessionError {
            Console.standardError.write("error: can't start the run: \(error.message)\n")
            finish(3)
        } catch {
            // ArgumentParser's exit code for invalid usage is 64, but this tool uses 2.
            let code = exitCode(for: error).rawValue
            let message = fullMessage(for: error)
            if code == 0 {
                let text = EchoedArguments.safe(message, arguments: Array(arguments.dropFirst()))
                Console.standardOutput.write(completed(text, arguments) + "\n")
            } else {
                Console.standardError.write(Failure.text(of: message, arguments: Array(arguments.dropFirst())) + "\n")
            }
            finish(code == 0 ? 0 : 2)
        }
        finish(0)
    }

    /// Adds the words that can follow `help` to a completion script. Any other text is returned unchanged.
    private static func completed(_ text: String, _ arguments: [String]) -> String {
        let option = "--generate-completion-script"
        guard let place = arguments.firstIndex(where: { $0.hasPrefix(option) }) else { return text }
        let joined = arguments[place].dropFirst(option.count + 1)
        return Subcommands.completed(
            text, shell: joined.isEmpty ? arguments[(place + 1)...].first ?? "" : String(joined))
    }

    /// Ends the process. If output was lost, the exit code is nonzero.
    private static func finish(_ code: Int32) -> Never {
        Console.standardOutput.resumeCommands()
        guard let reason = Console.standardOutput.failure else { Glibc.exit(code) }
        Console.standardError.write("error: the report could not be written: \(String(cString: strerror(reason)))\n")
        Glibc.exit(code == 0 ? 3 : code)
    }
}
