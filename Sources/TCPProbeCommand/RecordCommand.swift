import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeExplore
import ProbeInspect
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeWire

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record the exchange between a client and a server as a scenario.",
        discussion: """
            To record live traffic, the command works as a proxy: the client connects to the port, and the traffic is recorded until the
            first connection ends or Ctrl-C is pressed. Other open connections may then continue for the time given by --patience. A
            command after `--` starts the server, and the scenario starts it, too. With --from, the command records a flow of a capture, as listed by `tcpprobe inspect`; tshark decrypts TLS, with the secrets in the
            capture or in --keylog. In the scenario, the harness plays the client unless --as specifies otherwise. With two recordings of
            the same exchange (--count 2, or --flow twice), text that differs becomes a pattern with a name.

            EXAMPLES:
              tcpprobe record 7000 127.0.0.1:6379 session.scn
              tcpprobe record 7000 127.0.0.1:25 session.scn --as both --count 2
              tcpprobe record 7000 session.scn -- redis-server --port {port}
              tcpprobe record --from capture.pcapng --flow 3 session.scn
              tcpprobe record --from capture.pcapng --keylog secrets.txt session.scn

            EXIT CODES:
              0         the scenario was written
              2         invalid usage, or TLS that can't be decrypted
              3         nothing could be recorded, or only the data up to the --limit
              130       interrupted by Ctrl-C; the scenario contains what was recorded until then
            """)

    @Argument(
        help: ArgumentHelp(
            "Address to listen on (a port on 127.0.0.1, 0 for a free port, or an address with a port), server to connect to, and scenario to write; with --from, only the scenario. After `--`, a command that starts the server replaces its address; {port} is the port on which it must listen.",
            valueName: "listen> <host:port> <file"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Record from a capture file.", valueName: "capture"), completion: .file())
    var from: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "With --from, the number of the flow to record; default: 0. May be given twice, for two flows that contain the same exchange; their differences become patterns.",
            valueName: "n"))
    var flow: [Int] = []

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Side that the harness plays in the scenario: client, server or both.", valueName: "role"))
    var role = "client"

    @Option(help: ArgumentHelp("Framing of lines or messages; detected by default.", valueName: "framing"))
    var framing: String?

    @Flag(help: "Keep the pauses, as `wait` before a send and `after` on an expectation.")
    var timing = false

    @Option(help: ArgumentHelp("Number of connections to record: 1 or 2.", valueName: "n"))
    var count = 1

    @Option(
        name: [.customLong("keylog"), .customLong("key-log")],
        help: ArgumentHelp(
            "With --from, a key log with TLS secrets, which many programs write to the file that SSLKEYLOGFILE names.",
            valueName: "file"),
        completion: .file())
    var keyLog: String?

    @Option(
        help: ArgumentHelp(
            "Maximum amount of data to record per connection; each turn counts as 64 additional bytes. Data beyond the limit is forwarded but not recorded.",
            valueName: "size"))
    var limit = "4MiB"

    @Option(
        help: ArgumentHelp(
            "How long unrecorded connections may continue after the recorded ones have ended.",
            valueName: "time"))
    var patience = "10s"

    @Flag(help: "Replace an existing scenario.")
    var force = false

    @OptionGroup var targets: TargetOptions

    /// The words of the command that starts the server, which follow the address and the scenario; empty if the server's
    /// address is given instead.
    private var server: [String] {
        let isCommand =
            words.count > 3 || words.dropFirst(2).contains { $0.contains("{port}") }
            || (words.count == 3 && words[1].hasSuffix(".scn"))
        guard from == nil, isCommand else { return [] }
        return Array(words.dropFirst(2))
    }

    func validate() throws {
        if !server.isEmpty, !server.contains(where: { $0.contains("{port}") }) {
            throw ValidationError(
                "the server's command does not contain {port}, the port on which the server must listen")
        }
        if words.count != (from != nil ? 1 : server.isEmpty ? 3 : 2 + server.count) {
            throw ValidationError(
                from == nil
                    ? "record requires an address to listen on, a server to connect to and a scenario to write, as in tcpprobe record 7000 127.0.0.1:25 session.scn"
                    : "with --from, name only the scenario to write, as in tcpprobe record --from capture.pcapng session.scn"
            )
        }
        if RecordedScript.Role(rawValue: role) == nil {
            throw ValidationError("--as \(role): expected client, server or both")
        }
        if let framing { try Framing.validate(option: framing) }
        if !(1...2).contains(count) { throw ValidationError("--count \(count): expected 1 or 2") }
        if from == nil, keyLog != nil { throw ValidationError("--keylog requires --from") }
        if QuantityArgument.size(limit) == nil {
            throw ValidationError("--limit \(limit): expected a size above 0, such as 64KiB or 4MiB")
        }
        if QuantityArgument.time(patience) == nil {
            throw ValidationError("--patience \(patience): expected a time above 0, such as 500ms or 10s")
        }
        if from == nil, !flow.isEmpty { throw ValidationError("--flow requires --from") }
        if flow.count > 2 { throw ValidationError("--flow: a scenario can be made from at most two flows") }
    }

    func run() throws {
        let path = server.isEmpty ? words[words.count - 1] : words[1]
        let place = try RecordedFile(path, replaces: force)
        var options = RecordedScript.Options()
        options.role = RecordedScript.Role(rawValue: role) ?? .client
        options.framing = framing.flatMap { Framing(rawValue: $0) }
        options.keepsTimes = timing
        options.name = place.stem
        options.takenNames = place.takenNames
        let limit = QuantityArgument.size(limit) ?? 0
        if let from {
            let flows = flow.isEmpty ? [0] : flow
            let recorded = try flows.map { try FlowRecording.of($0, in: from, keyLog: keyLog, limit: limit) }
            options.target = recorded[0].server
            options.title =
                "recorded from flow \(flows[0]) of \(from.split(separator: "/").last.map(String.init) ?? from)"
            let conversations = recorded.map(\.conversation)
            if conversations.contains(where: \.hasReachedLimit) {
                Console.standardError.write(
                    "note: the flow is longer than the limit of \(ByteText.count(limit, "byte")), so the scenario ends at the limit; raise the limit with --limit\n"
                )
            }
            throw ExitCode(place.write(conversations, options))
        }
        let allowed = try targets.targets()
        let listen = try ProxyAddress.listening(words[0], allowed)
        let command = ExploreOptions.absolute(server)
        let target: RecordingSession.Target =
            command.isEmpty ? .address(try ProxyAddress.target(words[1], allowed)) : .command(command)
        let session = try RecordingSession(
            listen, to: target, count: count, limit: limit, patience: QuantityArgument.time(patience) ?? .zero)
        options.target = "\(session.target)"
        options.server = command.isEmpty ? nil : command
        options.title =
            "recorded between a client and \(command.first?.split(separator: "/").last.map(String.init) ?? "\(session.target)")"
        options.listener = "\(session.address)"
        session.write = { [options] in place.write($0, options) }
        throw ExitCode(try session.run())
    }
}

/// The scenario that is written, and its payload files, which are written to the same folder.
private struct RecordedFile: Sendable {
    private let destination: ScenarioDestination
    private var path: String { destination.path }
    /// The file name of the scenario without `.scn`.
    var stem: String { destination.stem }

    init(_ path: String, replaces: Bool) throws {
        destination = try ScenarioDestination(path, replaces: replaces)
        takenNames = replaces ? [] : Set(SmallFile.names(in: destination.parent) ?? [])
    }

    /// The names of existing files, which must not be replaced.
    let takenNames: Set<String>

    /// Writes the recorded scenario.
    ///
    /// - Returns: the exit code, which is 3 if writing failed or the recording is incomplete.
    func write(_ conversations: [RecordedConversation], _ options: RecordedScript.Options) -> Int32 {
        let script: RecordedScript
        do throws(RecordedScript.Obstacle) {
            script = try RecordedScript(conversations, options)
        } catch {
            Console.standardError.write("error: no scenario was written: \(error.text)\n")
            return error.isTLS ? 2 : 3
        }
        do throws(SystemError) {
            for file in script.files { try destination.folder.replace(file.name, with: file.bytes) }
            try destination.folder.replace(destination.name, with: script.bytes)
        } catch {
            Console.standardError.write("error: can't write \(Escaped.text(path)): \(error.reason)\n")
            return 3
        }
        let steps = script.bytes.count { $0 == 10 }
        var text = "\(Escaped.text(path)): \(steps) lines"
        if !script.files.isEmpty { text += ", \(ByteText.count(script.files.count, "payload file")) next to it" }
        Console.standardOutput.write(text + "\n")
        for note in script.notes { Console.standardError.write("note: \(note)\n") }
        return script.hasReachedLimit ? 3 : 0
    }
}
