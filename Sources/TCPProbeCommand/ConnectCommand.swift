import ArgumentParser
import ProbeDesk
import ProbeSystem

struct ConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a server and talk to it by steps, at a prompt or from a pipe.",
        discussion: """
            A line is a step of the language (`send line "EHLO x"`, `expect line /^250/`, `stop reading`, `close`); any other text is
            sent as a line. What comes is shown as it comes, with the segments in which it came; FIN and RST are named. `wire` shows the
            ladder, `save session.scn` writes a scenario of what was done, `help` tells more. At a terminal lines are edited, Tab completes
            a step, and earlier lines come back. From a pipe the session ends with the first step that fails.

            EXAMPLES:
              tcpprobe connect 127.0.0.1:25
              tcpprobe connect 127.0.0.1:993 --tls --name mail.test
              printf 'send line "PING"\\nexpect line "+PONG"\\n' | tcpprobe connect 127.0.0.1:6379

            EXIT CODES:
              0         at a prompt; from a pipe: all steps passed
              1         from a pipe: a step failed; or nobody could be connected to
              2         wrong use, or from a pipe: a line that is no right step
              3         error
            """)

    @Argument(help: ArgumentHelp("Where to connect to.", valueName: "host:port"))
    var target: String

    @Option(
        help: ArgumentHelp("The server's name: sent as SNI, verified with --ca. Implies --tls.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Verify the server's certificate by those of a file (PEM), in this folder or below it. Implies --tls.",
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
            title: "what was said to \(address)")
    }
}
