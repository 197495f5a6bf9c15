import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeInspect
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeWire

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show, reassemble and judge the TCP flows in captures.",
        discussion: """
            Reads pcap and pcapng files, plain or compressed with gzip or zstd. Flows are numbered from 0, in the order of their first packets.

            EXAMPLES:
              tcpprobe inspect capture.pcapng
              tcpprobe inspect capture.pcapng --flow 3
              tcpprobe inspect capture.pcapng --with rst --sort bytes --columns +start,rtt
              tcpprobe inspect capture.pcapng --bpf 'tcp port 80' --since 14:03
              tcpprobe inspect capture.pcapng --flow 3 --framing crlf
              tcpprobe inspect capture.pcapng --framing websocket
              tcpprobe inspect capture.pcapng --framing varint --protobuf
              tcpprobe inspect capture.pcapng --follow 3 --times --text
              tcpprobe inspect capture.pcapng --follow 3 --decrypt
              tcpprobe inspect capture.pcapng --extract streams --port 25
              tcpprobe inspect capture.pcapng --html flows.html --with retransmissions
              tcpprobe inspect capture.pcapng --check "wire client -> server lines crlf" --check "wire no rst"
              zcat big.pcap.gz | tcpprobe inspect - --json

            EXIT CODES:
              0         the file was read, and all statements passed
              1         a statement failed
              2         invalid usage, a missing file, a file that is not a capture, or a statement with errors
              3         the file is damaged (everything before the damage is shown), a statement is inconclusive, --decrypt
                        found nothing to decrypt, or tshark is missing
            """)

    @Argument(
        help: ArgumentHelp("Capture files; - reads standard input.", valueName: "file"),
        completion: .file(extensions: ["pcap", "pcapng", "cap", "gz", "zst"]))
    var files: [String]

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Select this flow; without another mode, show its packets as a ladder.", valueName: "n"))
    var flow: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Show the data that the two sides of this flow sent, in order.", valueName: "n"))
    var follow: Int?

    @Option(
        help: ArgumentHelp("Write each direction of each flow to a file in this folder.", valueName: "dir"),
        completion: .directory)
    var extract: String?

    @Option(
        help: ArgumentHelp(
            "Write an HTML page with the flows, their ladders and time-sequence graphs; - writes to standard output.",
            valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Show each message of this framing, and where segments cut it; with --check, the framing that `messages` statements use.",
            valueName: "framing"))
    var framing: Framing?

    @Option(
        help: ArgumentHelp(
            "Judge a wire statement about `client` and `server` on each flow; on a run's capture, `wire` lines of its script are accepted too. May be repeated.",
            valueName: "statement"))
    var check: [String] = []

    @Option(
        help: ArgumentHelp(
            "Judge the wire statements in a file; - reads standard input. May be repeated.", valueName: "file"),
        completion: .file())
    var checks: [String] = []

    @OptionGroup var sides: SideOptions
    @OptionGroup var protobuf: ProtobufOptions
    @OptionGroup var decryption: DecryptionOptions
    @OptionGroup var connections: ConnectionOptions
    @OptionGroup var packets: PacketFilterOption
    @OptionGroup var showing: ShowOptions

    func validate() throws {
        if let flow, flow < 0 { throw ValidationError("--flow \(flow): flows are numbered from 0") }
        if let follow, follow < 0 { throw ValidationError("--follow \(follow): flows are numbered from 0") }
        let modes = [
            ("--follow", follow != nil), ("--extract", extract != nil), ("--check", !check.isEmpty || !checks.isEmpty),
            ("--html", html != nil),
        ].filter(\.1).map(\.0)
        if modes.count > 1 { throw ValidationError("\(modes.joined(separator: " and ")) are mutually exclusive") }
        if framing != nil, follow != nil || extract != nil || html != nil {
            throw ValidationError("--framing and \(modes.joined()) are mutually exclusive")
        }
        try protobuf.validate(framing: framing, modes: modes)
        if follow != nil, flow != nil { throw ValidationError("--follow already selects the flow: remove --flow") }
        if follow == nil, showing.times || showing.hex || showing.text {
            throw ValidationError("\(showing.hex ? "--hex" : showing.text ? "--text" : "--times") requires --follow")
        }
        try decryption.validate(isFollowing: follow != nil || html != nil, isInput: files.contains("-"))
        if decryption.decrypt, showing.times || showing.json || packets.bpf != nil {
            let option = showing.times ? "--times" : showing.json ? "--json" : "--bpf"
            throw ValidationError("--decrypt and \(option) are mutually exclusive")
        }
        try ReportTarget("--html", html)?.validate()
        if html != nil, showing.json || showing.width != nil {
            throw ValidationError("--html and \(showing.json ? "--json" : "--width") are mutually exclusive")
        }
        let isTable = html != nil || (modes.isEmpty && framing == nil && flow == nil)
        if !isTable, showing.columns != nil || showing.sort != nil {
            throw ValidationError("\(showing.sort != nil ? "--sort" : "--columns") applies only to the table of flows")
        }
        try sides.validate(
            isChecking: !check.isEmpty || !checks.isEmpty, exclusive: modes.filter { $0 != "--check" }, files: files)
        if files.count > 1, flow != nil || follow != nil || extract != nil || html != nil {
            let option = html != nil ? "--html" : extract != nil ? "--extract" : follow != nil ? "--follow" : "--flow"
            throw ValidationError("\(option) accepts only one file")
        }
        if (files + checks).count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once")
        }
    }

    func run() throws {
        let filter = try connections.filter(number: flow ?? follow)
        let criteria = try connections.criteria
        let packetFilter = try packets.filter()
        let output = OutputBuffer()
        let notes = check.isEmpty && checks.isEmpty ? [] : try files.map(notes)
        let statements = try statements(notes)
        let protobufText = try protobuf.text()
        for list in statements.first ?? [] where !list.warnings.isEmpty {
            Console.standardError.write(diagnostics: list.warnings)
        }
        let folder = try extract.map(makeFolder)
        var code: Int32 = 0
        let parts = files.indices.flatMap { index in sides.views.map { (index: index, view: $0) } }
        for (number, part) in parts.enumerated() {
            let file = files[part.index]
            let show = InspectShow(
                file: file, filter: filter, criteria: criteria, packetFilter: packetFilter, output: output,
                width: showing.width ?? Console.standardOutput.width,
                paint: Paint(isOn: Console.standardOutput.usesColor && !showing.json),
                options: showing, columns: try showing.names(),
                hasHeading: parts.count > 1 && !showing.json, isLast: number == parts.count - 1, chosenView: part.view,
                isSideShown: sides.views.count > 1)
            let mode: InspectShow.Mode =
                if !statements.isEmpty {
                    .judge(statements[part.index], notes[part.index], isOnWhole: sides.whole)
                } else if let html {
                    .page(html, keyLog: decryption.keyLog, decrypts: decryption.decrypt)
                } else if let extract, let folder {
                    .extract(folder, path: extract)
                } else if follow != nil {
                    decryption.decrypt ? .decrypt(keyLog: decryption.keyLog) : .follow
                } else if let framing {
                    .messages(framing, protobuf: protobufText)
                } else {
                    flow == nil ? .table : .ladder
                }
            code = worse(code, show.run(mode))
            if Console.standardOutput.isReaderGone { break }
        }
        output.flush()
        if output.reportFailure() { code = 3 }
        if code != 0 { throw ExitCode(code) }
    }

    /// Returns the worse of two exit codes: invalid usage is worse than a failure, which is worse than an unknown
    /// result.
    private func worse(_ left: Int32, _ right: Int32) -> Int32 {
        let order: [Int32] = [0, 3, 1, 2]
        return (order.firstIndex(of: left) ?? 0) >= (order.firstIndex(of: right) ?? 0) ? left : right
    }

    /// Returns the notes in a capture file. The notes contain the actors that statements name, so a file that can't be
    /// read is reported before any problem with the statements.
    private func notes(_ file: String) throws -> RunNotes {
        do throws(CaptureSourceError) {
            return try RunNotes(path: file)
        } catch {
            let problem = InspectionProblem.source(error)
            Console.standardError.write("error: \(Escaped.text(file)): \(problem)\n")
            throw ExitCode(problem.isInvalidUsage ? 2 : 3)
        }
    }

    /// Returns the statements to check for each file, parsed with the actors from the notes in that file.
    private func statements(_ notes: [RunNotes]) throws -> [[WireCheckList]] {
        var texts = check.map { (path: "--check", bytes: Array($0.utf8)) }
        for path in checks {
            do throws(SystemError) {
                let limit = ScenarioFiles.largestScript
                texts.append(
                    (
                        path,
                        path == "-"
                            ? try InputFile.standardInput(limit: limit) : try InputFile.contents(of: path, limit: limit)
                    ))
            } catch {
                throw Failure.invalidUsage("can't read \(Escaped.text(path)): \(error.reason)")
            }
        }
        return try notes.map { notes in
            try texts.map { path, bytes in
                switch WireCheck.parse(
                    path: path, bytes: bytes, framing: framing, notes: notes.notes, hasLinks: notes.hasLinks,
                    loader: FileAccess.load)
                {
                case .success(let list): return list
                case .failure(let error):
                    Console.standardError.write(diagnostics: error.text)
                    throw ExitCode(2)
                }
            }
        }
    }

    private func makeFolder(_ path: String) throws -> Folder {
        do throws(SystemError) {
            return try Folder(making: path)
        } catch {
            throw Failure.invalidUsage("can't create the folder \(Escaped.text(path)): \(error.reason)")
        }
    }
}
