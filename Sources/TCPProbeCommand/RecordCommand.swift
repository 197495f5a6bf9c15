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
        abstract: "Write a scenario of what a client and a server say.",
        discussion: """
            Live it is a proxy: the client connects to the port, and what passes is recorded until the first connection has ended, or
            Ctrl-C. Other connections that are open then go on for the --patience. From a capture it takes a flow of `tcpprobe inspect`. In the scenario the harness plays the client, unless --as says
            otherwise. TLS of a capture is decrypted by tshark, with the secrets in the capture or in --keylog. With two recordings of the same exchange (--count 2, or two --flow) what differs becomes a pattern with a name.

            EXAMPLES:
              tcpprobe record 7000 127.0.0.1:6379 session.scn
              tcpprobe record 7000 127.0.0.1:25 session.scn --as both --count 2
              tcpprobe record --from capture.pcapng --flow 3 session.scn
              tcpprobe record --from capture.pcapng --keylog secrets.txt session.scn

            Exit codes: 0 the scenario was written; 2 wrong use, or TLS that can't be decrypted; 3 nothing could be recorded, or only what
            came before the --limit; 130 at Ctrl-C, with the scenario of what was said by then.
            """)

    @Argument(
        help: ArgumentHelp(
            "Where it listens (a port of 127.0.0.1, 0 for a free one), where it connects to, and the scenario to be written; with --from only the scenario.",
            valueName: "listen> <host:port> <file"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Record from a capture file.", valueName: "capture"), completion: .file())
    var from: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The flow of the capture, by its number; two of the same exchange make patterns.", valueName: "n"))
    var flow: [Int] = []

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Who the harness plays: client, server or both; default: client.", valueName: "role"))
    var role = "client"

    @Option(help: ArgumentHelp("What a line or message is; default: found out.", valueName: "framing"))
    var framing: String?

    @Flag(help: "Keep the pauses: `wait` before a send, `after` behind an expect.")
    var timing = false

    @Option(help: ArgumentHelp("Connections that are recorded: 1 or 2.", valueName: "n"))
    var count = 1

    @Option(
        name: [.customLong("keylog"), .customLong("key-log")],
        help: ArgumentHelp(
            "With --from, a file with TLS secrets, as SSLKEYLOGFILE names it for many programs.", valueName: "file"),
        completion: .file())
    var keyLog: String?

    @Option(
        help: ArgumentHelp(
            "The most that is recorded of a connection; each turn counts 64 bytes more. What follows goes through unrecorded.",
            valueName: "size"))
    var limit = "4MiB"

    @Option(
        help: ArgumentHelp(
            "How long connections that are not recorded may go on behind the end of the recorded ones.",
            valueName: "time"))
    var patience = "10s"

    @Flag(help: "Replace the scenario if it exists.")
    var force = false

    @OptionGroup var targets: TargetOptions

    func validate() throws {
        if words.count != (from == nil ? 3 : 1) {
            throw ValidationError(
                from == nil
                    ? "record needs where to listen, where to connect to, and the scenario to be written: tcpprobe record 7000 127.0.0.1:25 session.scn"
                    : "with --from only the scenario to be written is named: tcpprobe record --from capture.pcapng session.scn"
            )
        }
        if RecordedScript.Role(rawValue: role) == nil {
            throw ValidationError("--as \(role): it must be client, server or both")
        }
        if let framing { try Framing.validate(option: framing) }
        if !(1...2).contains(count) { throw ValidationError("--count \(count): it must be 1 or 2") }
        if from == nil, keyLog != nil { throw ValidationError("--keylog is for --from") }
        if QuantityArgument.size(limit) == nil {
            throw ValidationError("--limit \(limit): it must be a size above 0, such as 64KiB or 4MiB")
        }
        if QuantityArgument.time(patience) == nil {
            throw ValidationError("--patience \(patience): it must be a time above 0, such as 500ms or 10s")
        }
        if from == nil, !flow.isEmpty { throw ValidationError("--flow is for --from") }
        if flow.count > 2 { throw ValidationError("--flow: at most two flows make a scenario") }
    }

    func run() throws {
        let path = words[words.count - 1]
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
                    "note: the flow is longer than \(ByteText.count(limit, "byte")), which is the limit: the scenario ends there. --limit takes another limit\n"
                )
            }
            throw ExitCode(place.write(conversations, options))
        }
        let allowed = try targets.targets()
        let listen = try ProxyAddress.listening(words[0], allowed)
        let target = try ProxyAddress.target(words[1], allowed)
        options.target = "\(target)"
        options.title = "recorded between a client and \(target)"
        let session = try RecordingSession(
            listen, to: target, count: count, limit: limit, patience: QuantityArgument.time(patience) ?? .zero)
        options.listener = "\(session.address)"
        session.write = { [options] in place.write($0, options) }
        throw ExitCode(try session.run())
    }
}

/// The destination of a scenario, with its payload files next to it.
private struct RecordedFile: Sendable {
    private let folder: Folder
    private let path: String
    private let name: String
    /// The name without `.scn`.
    let stem: String

    init(_ path: String, replaces: Bool) throws {
        self.path = path
        name = path.split(separator: "/").last.map(String.init) ?? path
        guard name.hasSuffix(".scn"), name.count > 4 else {
            throw Failure.wrongUse("\(Escaped.text(path)): the scenario's name ends with .scn")
        }
        stem = String(name.dropLast(4))
        guard !SmallFile.isFolder(path) else { throw Failure.wrongUse("\(Escaped.text(path)): this is a folder") }
        if SmallFile.exists(path), !replaces {
            throw Failure.wrongUse("\(Escaped.text(path)) exists: --force replaces it")
        }
        let slash = path.lastIndex(of: "/")
        do throws(SystemError) {
            folder = try Folder(slash.map { String(path[...$0]) } ?? ".")
            try folder.requireWritable()
        } catch {
            throw Failure.wrongUse("\(Escaped.text(path)): it can't be written: \(error.reason)")
        }
        let parent = slash.map { String(path[...$0]) } ?? "."
        takenNames = replaces ? [] : Set(SmallFile.names(in: parent) ?? [])
    }

    /// The names of existing files that must not be replaced.
    let takenNames: Set<String>

    /// Writes the scenario.
    ///
    /// - Returns: the exit code, which is 3 also if the recording is incomplete.
    func write(_ conversations: [RecordedConversation], _ options: RecordedScript.Options) -> Int32 {
        let script: RecordedScript
        do throws(RecordedScript.Obstacle) {
            script = try RecordedScript(conversations, options)
        } catch {
            Console.standardError.write("error: no scenario was written: \(error.text)\n")
            return error.isTLS ? 2 : 3
        }
        do throws(SystemError) {
            for file in script.files { try folder.replace(file.name, with: file.bytes) }
            try folder.replace(name, with: script.bytes)
        } catch {
            Console.standardError.write("error: \(Escaped.text(path)): it can't be written: \(error.reason)\n")
            return 3
        }
        let steps = script.bytes.count { $0 == 10 }
        var text = "\(Escaped.text(path)): \(steps) lines"
        if !script.files.isEmpty { text += ", \(ByteText.count(script.files.count, "payload")) beside it" }
        Console.standardOutput.write(text + "\n")
        for note in script.notes { Console.standardError.write("note: \(note)\n") }
        return script.hasReachedLimit ? 3 : 0
    }
}
