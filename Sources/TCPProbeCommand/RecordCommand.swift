import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeExplore
import ProbeInspect
import ProbeNetwork
import ProbeScenario
import ProbeSystem
import ProbeWire

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write a scenario of what a client and a server say.",
        discussion: """
            Live it is a proxy: the client connects to the port, and what passes is recorded until the first connection has ended, or
            Ctrl-C. From a capture it takes a flow of `tcpprobe inspect`. In the scenario the harness plays the client, unless --as says
            otherwise. With two recordings of the same exchange (--count 2, or two --flow) what differs becomes a pattern with a name.

            EXAMPLES:
              tcpprobe record 7000 127.0.0.1:6379 session.scn
              tcpprobe record 7000 127.0.0.1:25 session.scn --as both --count 2
              tcpprobe record --from capture.pcapng --flow 3 session.scn
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
        if let framing, Framing(rawValue: framing) == nil || framing == "websocket" {
            throw ValidationError(
                "--framing \(framing): it must be crlf, lf, cr, nul, u8, u16, u24, u32, u64, u16le, u32le, varint, netstring, none, or a delimiter in quotes"
            )
        }
        if !(1...2).contains(count) { throw ValidationError("--count \(count): it must be 1 or 2") }
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
        if let from {
            let flows = flow.isEmpty ? [0] : flow
            let recorded = try flows.map { try FlowRecording.of($0, in: from) }
            options.target = recorded[0].server
            options.title =
                "recorded from flow \(flows[0]) of \(from.split(separator: "/").last.map(String.init) ?? from)"
            try place.write(recorded.map(\.conversation), options)
            return
        }
        let allowed = try targets.targets()
        let listen = try ProxyAddress.listening(words[0], allowed)
        let target = try ProxyAddress.target(words[1], allowed)
        options.target = "\(target)"
        options.title = "recorded between a client and \(target)"
        let session = try RecordingSession(listen, to: target, count: count)
        options.listener = "\(session.address)"
        let signal = try session.run()
        try place.write(session.conversations, options)
        if signal > 0 { throw ExitCode(128 + signal) }
    }
}

/// Where a scenario is written, with its payloads beside it.
private struct RecordedFile {
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
    }

    func write(_ conversations: [RecordedConversation], _ options: RecordedScript.Options) throws {
        let script: RecordedScript
        do throws(RecordedScript.Obstacle) {
            script = try RecordedScript(conversations, options)
        } catch {
            throw Failure.machine("no scenario was written: \(error.text)")
        }
        do throws(SystemError) {
            for file in script.files { try folder.replace(file.name, with: file.bytes) }
            try folder.replace(name, with: script.bytes)
        } catch {
            throw Failure.machine("\(Escaped.text(path)): it can't be written: \(error.reason)")
        }
        let steps = script.bytes.count { $0 == 10 }
        var text = "\(Escaped.text(path)): \(steps) lines"
        if !script.files.isEmpty { text += ", \(script.files.count) payloads beside it" }
        Console.standardOutput.write(text + "\n")
    }
}
