import ArgumentParser
import ProbeDesk
import ProbeSystem

struct ConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a server and send it steps, interactively or from a pipe.",
        discussion: """
            A line that is a step of the language (`send line "EHLO x"`, `expect line /^250/`, `stop reading`, `close`) runs that step;
            any other text is sent as a line. Received data is shown as it arrives, along with the segments that carried it; FIN and RST
            are reported. `wire` shows the packet ladder, `save session.scn` saves the session as a scenario, and `help` describes the
            commands. At a terminal, lines can be edited, Tab completes a step, and earlier lines can be recalled. With piped input, the
            session ends at the first step that fails.

            EXAMPLES:
              tcpprobe connect 127.0.0.1:25
              tcpprobe connect 127.0.0.1:993 --tls --name mail.test
              printf 'send line "PING"\\nexpect line "+PONG"\\n' | tcpprobe connect 127.0.0.1:6379

            EXIT CODES:
              0         the session ended at a prompt, or all piped steps passed
              1         a piped step failed, or the connection could not be established
              2         invalid usage, or a piped line that is not a valid step
              3         error
            """)

    @Argument(help: ArgumentHelp("Server to connect to.", valueName: "host:port"))
    var target: String

    @Option(
        help: ArgumentHelp("Server name, sent as SNI and verified if --ca is given. Implies --tls.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Verify the server's certificate against the CA certificates in a PEM file, which must be in the current folder or one of its subfolders. Implies --tls.",
            valueName: "file"), completion: .file())
    var ca: String?

    @OptionGroup var options: DeskOptions

    func run() throws {
        let address = try ProxyAddress.target(target, try options.targets.targets())
        var own: [String] = []
        if let ca { own.append("ca \(SessionScript.literal(ca))") }
        if let name { own.append("name \(SessionScript.literal(name))") }
        try options.run(
            .client(target: "\(address)", options: options.tlsOptions(own, implied: !own.isEmpty)),
            title: "session with \(address)")
    }
}
