import ArgumentParser
import ProbeBase
import ProbeCapture
import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire

struct DiagnoseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Find out what is wrong with the TCP flows in captures, and which side caused it.",
        discussion: """
            For each flow with a problem or a warning, prints the cause in a sentence with its evidence, other causes that the packets allow, what to do next, and where the time went. Flows are numbered as in `tcpprobe inspect`.

            EXAMPLES:
              tcpprobe diagnose capture.pcapng
              tcpprobe diagnose capture.pcapng --flow 3
              tcpprobe diagnose capture.pcapng --port 5432 --since 14:03
              tcpprobe diagnose capture.pcapng --json | jq 'select(.findings != [])'
              tcpprobe diagnose capture.pcapng --html diagnosis.html
              tcpprobe diagnose capture.pcapng --flow 3 --write repro.scn
              tcpprobe explain zero-window

            EXIT CODES:
              0         no flow has a problem; with --write, the scenario was written
              1         a flow has a problem, or what --fail-on selects; never with --write
              2         invalid usage, a missing file, or a file that is not a capture
              3         the file is damaged, or no flow can be judged; with --write, no scenario recreates the finding
            """)

    @Argument(
        help: ArgumentHelp("Capture files; - reads standard input.", valueName: "file"),
        completion: .file(extensions: ["pcap", "pcapng", "cap", "gz", "zst"]))
    var files: [String]

    @Option(parsing: .unconditional, help: ArgumentHelp("Diagnose only this flow.", valueName: "n"))
    var flow: Int?

    @OptionGroup var connections: ConnectionOptions
    @OptionGroup var packets: PacketFilterOption

    @Option(
        help: ArgumentHelp(
            "End of a link at which packets are seen, as named in `link LEFT <-> RIGHT`: left or right. By default, each packet is seen as its receiver saw it, and packets that the link dropped are not seen.",
            valueName: "side"))
    var side: LinkEnd?

    @Option(
        help: ArgumentHelp(
            "Exit with 1 if a flow has a finding of this severity or a more serious one.", valueName: "level"))
    var failOn = FailureLevel.problem

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Width of a line, in columns; default: that of the terminal, or 120.", valueName: "columns"))
    var width: Int?

    @Flag(help: "Show all findings, including notes and those that others explain, with all evidence.")
    var verbose = false

    @Flag(help: "Show the time of day at which each flow began.")
    var absolute = false

    @Flag(help: "Don't decode packets inside GRE, ERSPAN, VXLAN, Geneve and IP-in-IP tunnels.")
    var noTunnels = false

    @Flag(help: "Write one JSON object per line: one for each flow, and a summary.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write an HTML page with the findings, time budgets, graphs and ladders of the flows; - writes to standard output.",
            valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Write a scenario that recreates the most important finding of the flow, after running it in a private network to check that its capture has the same finding. Without --flow, only one flow may have a problem or a warning.",
            valueName: "file"),
        completion: .file(extensions: ["scn"]))
    var write: String?

    @Flag(help: "With --write, replace an existing scenario.")
    var force = false

    /// The lowest severity at which a finding makes the command fail.
    enum FailureLevel: String, ExpressibleByArgument, CaseIterable {
        case problem, warning, note, never

        func includes(_ severity: FindingSeverity) -> Bool {
            switch self {
            case .problem: severity == .problem
            case .warning: severity <= .warning
            case .note: true
            case .never: false
            }
        }
    }

    /// The end of a link at which packets are seen.
    enum LinkEnd: String, ExpressibleByArgument, CaseIterable {
        case left, right

        var view: LinkView { self == .left ? .at(.left) : .at(.right) }
    }

    func validate() throws {
        if let flow, flow < 0 { throw ValidationError("--flow \(flow): flows are numbered from 0") }
        if files.count > 1, flow != nil { throw ValidationError("--flow accepts only one file") }
        if files.count(where: { $0 == "-" }) > 1 { throw ValidationError("standard input can be read only once") }
        if let width, !(40...10_000).contains(width) {
            throw ValidationError("--width \(width): expected a number from 40 to 10000")
        }
        try ReportTarget("--html", html)?.validate()
        if html != nil, json || verbose || absolute || width != nil || write != nil {
            let option =
                json ? "--json" : verbose ? "--verbose" : absolute ? "--absolute" : width != nil ? "--width" : "--write"
            throw ValidationError("--html and \(option) are mutually exclusive")
        }
        if html != nil, files.count > 1 { throw ValidationError("--html accepts only one file") }
        if write != nil, files.count > 1 { throw ValidationError("--write accepts only one file") }
        if force, write == nil { throw ValidationError("--force requires --write") }
        if write != nil, json || verbose || absolute || width != nil {
            let option = json ? "--json" : verbose ? "--verbose" : absolute ? "--absolute" : "--width"
            throw ValidationError("--write and \(option) are mutually exclusive")
        }
        if json, verbose || absolute || width != nil {
            let option = verbose ? "--verbose" : absolute ? "--absolute" : "--width"
            throw ValidationError("--json and \(option) are mutually exclusive")
        }
    }

    func run() throws {
        if let write { throw ExitCode(try writeReproduction(to: write)) }
        let filter = try connections.filter(number: flow)
        let criteria = try connections.criteria
        let packetFilter = try packets.filter()
        let output = OutputBuffer()
        var code: Int32 = 0
        for file in files {
            if files.count > 1, !json { output.write("\(name(file)):\n") }
            let next =
                try html.map { try page(file, to: $0, filter, criteria, packetFilter, output) }
                ?? diagnose(file, filter, criteria, packetFilter, output)
            // The exit code for invalid usage takes precedence over the exit code for a problem, which takes precedence
            // over the exit code for a damaged file.
            let order: [Int32] = [0, 3, 1, 2]
            if order.firstIndex(of: next) ?? 0 > order.firstIndex(of: code) ?? 0 { code = next }
            if Console.standardOutput.isReaderGone { break }
        }
        output.flush()
        if output.reportFailure() { code = 3 }
        if code != 0 { throw ExitCode(code) }
    }

    /// Writes the HTML page: that of `inspect`, with the worst flows first.
    private func page(
        _ file: String, to path: String, _ filter: ConnectionFilter, _ criteria: ConnectionCriteria,
        _ packetFilter: PacketFilter?, _ output: OutputBuffer
    ) throws -> Int32 {
        InspectShow(
            file: file, filter: filter, criteria: criteria, packetFilter: packetFilter, output: output, width: nil,
            paint: Paint(isOn: false), options: try ShowOptions.parse(noTunnels ? ["--no-tunnels"] : []),
            columns: ConnectionColumn.standard, hasHeading: false, isLast: true, chosenView: side?.view,
            isSideShown: false
        ).run(.diagnosis(path, fails: failOn.includes))
    }

    func name(_ file: String) -> String { file == "-" ? "standard input" : Escaped.text(file) }

    private func diagnose(
        _ file: String, _ filter: ConnectionFilter, _ criteria: ConnectionCriteria, _ packetFilter: PacketFilter?,
        _ output: OutputBuffer
    ) -> Int32 {
        func fail(_ text: String, _ code: Int32) -> Int32 {
            output.flush()
            Console.standardError.write("error: \(name(file)): \(text)\n")
            return code
        }
        let accepts = packetFilter?.predicate
        let inspection: Inspection
        do throws(CaptureSourceError) {
            let source = try CaptureSource(path: file)
            let tunnels = noTunnels ? TunnelReading.named : .opened
            let isScreened = !findsNotes && accepts == nil && source.size >= Inspection.smallestScreenedFile
            inspection =
                isScreened
                ? Inspection.screening(source, tunnels: tunnels, view: side?.view ?? .received)
                : Inspection.diagnosing(source, accepts: accepts, tunnels: tunnels, view: side?.view ?? .received)
        } catch {
            let problem = InspectionProblem.source(error)
            return fail("\(problem)", problem.isInvalidUsage ? 2 : 3)
        }
        if let problem = inspection.problem, problem.isInvalidUsage { return fail("\(problem)", 2) }
        let chosen = criteria.applied(to: filter, in: inspection)
        let report = inspection.diagnosis(chosen, describing: showsNotes ? .note : .warning)
        let flows = inspection.analysis.table.conversations.count
        if report.flowCount == 0, !filter.isOpen, inspection.problem == nil {
            return fail("there is no \(chosen.text): the file has \(ByteText.count(flows, "flow"))", 2)
        }
        write(report, file: file, of: flows, to: output)
        let severities = report.flows.flatMap(\.findings).map(\.severity) + report.shared.map(\.finding.severity)
        let hasFailed = severities.contains { failOn.includes($0) }
        if let problem = inspection.problem {
            let code = fail("\(problem)", 3)
            return hasFailed ? 1 : code
        }
        if hasFailed { return 1 }
        if let unreadable = inspection.unreadable { return fail(unreadable, 3) }
        return report.flowCount == 0 ? fail("there is no flow that can be judged", 3) : 0
    }

    private var showsNotes: Bool { json || verbose || flow != nil }

    /// Whether the output or the exit code depends on flows that have only notes.
    private var findsNotes: Bool { showsNotes || failOn == .note }

    private func write(_ report: DiagnosisReport, file: String, of flows: Int, to output: OutputBuffer) {
        if json {
            for flow in report.flows { output.write(DiagnosisJSON.line(flow, file: file)) }
            output.write(DiagnosisJSON.summary(report, file: file))
            return
        }
        let text = DiagnosisText(
            width: width ?? Console.standardOutput.width ?? 120,
            paint: Paint(isOn: Console.standardOutput.usesColor), isVerbose: verbose, isAbsolute: absolute)
        for shared in report.shared { output.write(text.block(shared) + "\n") }
        var noteCount = 0
        for group in verbose ? report.ordered.map({ [$0] }) : report.groups {
            guard let flow = group.first else { continue }
            let isShown = flow.severity.map { $0 != .note } ?? false && !flow.isOnlyPart
            guard isShown || self.flow != nil || (verbose && !flow.findings.isEmpty) else {
                if flow.severity == .note { noteCount += 1 }
                continue
            }
            output.write(text.block(group) + "\n")
        }
        for remark in report.remarks { output.write("note: \(remark)\n") }
        output.write(text.summary(report, noteCount: noteCount))
    }
}
