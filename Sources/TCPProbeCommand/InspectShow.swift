import ArgumentParser
import Glibc
import ProbeBase
import ProbeCapture
import ProbeDiagnose
import ProbeEvents
import ProbeInspect
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

/// Inspects one capture file in one mode: reads the file, shows it, and returns the exit code.
struct InspectShow {
    enum Mode {
        case table, ladder, follow
        case decrypt(keyLog: String?)
        case extract(Folder, path: String)
        case messages(Framing, protobuf: ProtobufText?)
        case judge([WireCheckList], RunNotes, isOnWhole: Bool)
        case page(String, keyLog: String?, decrypts: Bool)
        /// The page of `diagnose`. The closure decides whether a finding makes the command fail.
        case diagnosis(String, fails: (FindingSeverity) -> Bool)

        /// Whether packets are shown while the file is being read.
        var isObserved: Bool {
            switch self {
            case .table, .judge, .page, .diagnosis: false
            case .ladder, .follow, .decrypt, .extract, .messages: true
            }
        }
    }

    let file: String
    var filter: ConnectionFilter
    let criteria: ConnectionCriteria
    let packetFilter: PacketFilter?
    let output: OutputBuffer
    /// The requested width of the output, or the terminal's width; `nil` if neither is known.
    let width: Int?
    let paint: Paint
    let options: ShowOptions
    let columns: [ConnectionColumn]
    /// Whether the name of the file is printed above the output.
    let hasHeading: Bool
    /// Whether the file is the last file to be shown.
    let isLast: Bool
    /// The selected view of links; `nil` selects the default view.
    let chosenView: LinkView?
    /// Whether the file is shown twice, once for each side of a link.
    let isSideShown: Bool

    /// The view of links to show.
    var view: LinkView { chosenView ?? .received }

    var tunnels: TunnelReading { options.noTunnels ? .named : .opened }

    /// Whether the table shows, or is sorted by, values for which every packet must be examined.
    var measures: Bool { columns.contains(where: \.isTiming) || options.sort?.isTiming == true }

    var isJSON: Bool { options.json }

    /// A filter for the packets to read; `nil` to read all packets.
    var accepts: PacketPredicate? { packetFilter?.predicate }

    var name: String { file == "-" ? "standard input" : Escaped.text(file) }

    func run(_ mode: Mode) -> Int32 {
        if hasHeading {
            let side = if isSideShown, case .at(let end)? = chosenView { ", \(end.rawValue) side" } else { "" }
            output.write("\(name)\(side):\n")
        }
        // An observer shows packets while they are read, so the flows must be selected in advance, by reading the file
        // twice.
        if !criteria.isOpen, mode.isObserved {
            var chosen = self
            do throws(CaptureSourceError) {
                let source = try CaptureSource(path: file)
                guard source.isRegular else {
                    output.flush()
                    return Failure.invalidUsage("--with and --since require a file that can be read twice, not a pipe")
                        .rawValue
                }
                let inspection = Inspection.of(source, accepts: accepts, tunnels: tunnels, view: view)
                chosen.filter = criteria.applied(to: filter, in: inspection)
            } catch {
                return report(.source(error))
            }
            return chosen.show(mode)
        }
        return show(mode)
    }

    private func show(_ mode: Mode) -> Int32 {
        let source: CaptureSource
        do throws(CaptureSourceError) {
            source = try CaptureSource(path: file)
        } catch {
            return report(.source(error))
        }
        let write: TextOutput = { [output] in output.write($0) }
        switch mode {
        case .table: return table(source)
        case .ladder:
            let observer: any InspectionObserver =
                isJSON
                ? JSONObserver(.packets, file: file, output: write)
                : LadderObserver(width: width ?? LadderText.plainWidth, paint: paint, output: write)
            return finish(
                Inspection.of(
                    source, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels, view: view)
            ) { report in
                write(LadderObserver.footer(report, width: width))
            }
        case .follow:
            let observer: any InspectionObserver =
                isJSON
                ? JSONObserver(.parts, file: file, output: write)
                : FollowObserver(
                    form: options.form, showsTimes: options.times, width: width, paint: paint, output: write)
            return finish(
                Inspection.of(
                    source, limits: .deliveringParts, filter: filter, observer: observer, accepts: accepts,
                    tunnels: tunnels,
                    view: view)
            )
        case .decrypt(let keyLog): return decrypt(source, keyLog: keyLog)
        case .messages(let framing, let protobuf):
            let text = MessageText(
                framing: framing, width: width ?? LadderText.plainWidth, protobuf: protobuf, output: write)
            let observer = MessageObserver(framing: framing) { [file, isJSON] event, conversation, side in
                if isJSON {
                    write(
                        InspectJSON.message(
                            event, from: side, in: conversation, file: file, protobuf: protobuf.map { ($0, framing) }))
                } else {
                    text.write(event, conversation, side)
                }
            }
            return finish(
                Inspection.of(
                    source, limits: .deliveringParts, filter: filter, observer: observer, accepts: accepts,
                    tunnels: tunnels,
                    view: view)
            )
        case .extract(let folder, let path): return extract(source, into: folder, path)
        case .judge(let lists, let notes, let isOnWhole):
            return notes.notes.framing == nil ? judge(source, lists) : judge(lists, notes, isOnWhole: isOnWhole)
        case .page(let path, let keyLog, let decrypts):
            return page(source, to: path, decryption: decrypts ? PageDecryption(keyLog: keyLog) : nil)
        case .diagnosis(let path, let fails): return page(source, to: path, decryption: nil, fails: fails)
        }
    }

    // MARK: Modes

    private func table(_ source: consuming CaptureSource) -> Int32 {
        let size = source.isRegular ? source.size : nil
        let inspection = Inspection.of(source, accepts: accepts, tunnels: tunnels, view: view, measures: measures)
        let filter = criteria.applied(to: filter, in: inspection)
        if isJSON {
            writeFlows(of: inspection, filter)
        } else if inspection.problem?.isInvalidUsage != true {
            let style = ConnectionTableText.Style(columns: columns, width: width, order: options.sort, paint: paint)
            let shown = ConnectionTableText.write(
                inspection.analysis.table.conversations, inspection.anomalies, timings: inspection.timings,
                filter: filter,
                style: style
            ) { output.write($0) }
            output.write(ConnectionTableText.summary(inspection, shown: shown, width: width) + "\n")
            if shown > 0, inspection.problem == nil, let size { output.write(problems(filter, size: size)) }
        }
        let code = end(inspection)
        if isLast { inspection.abandon() }
        return code
    }

    /// The maximum size of a file whose flows are also diagnosed. A diagnosis takes much longer than the table.
    private static let diagnosedSize = 8_000_000

    /// Returns a line that points to the diagnosis if any of the flows has a problem; otherwise an empty string.
    private func problems(_ filter: ConnectionFilter, size: Int) -> String {
        let command = "`tcpprobe diagnose \(ShellWord.quoted(Escaped.text(file)))`"
        guard size <= Self.diagnosedSize else {
            return "not diagnosed, because the file is larger than \(Self.diagnosedSize / 1_000_000) MB: \(command)\n"
        }
        do throws(CaptureSourceError) {
            let inspection = Inspection.diagnosing(
                try CaptureSource(path: file), accepts: accepts, tunnels: tunnels, view: view)
            let count = inspection.diagnosis(filter, describing: .problem).problemCount
            guard count > 0 else { return "" }
            return "\(ByteText.count(count, "flow")) \(count == 1 ? "has a problem" : "have problems"): \(command)\n"
        } catch {
            // The file was removed after it had been read. The table is complete without this line.
            return ""
        }
    }

    private func writeFlows(of inspection: Inspection, _ filter: ConnectionFilter) {
        guard let order = options.sort else {
            for report in inspection.reports(filter) {
                output.write(InspectJSON.flow(report, timing: inspection.timing(report.number), file: file))
            }
            return
        }
        let conversations = inspection.analysis.table.conversations
        let numbers = conversations.indices.filter { filter.includes($0, of: conversations) }
        for number in order.sorted(numbers, of: conversations, inspection.timings) {
            output.write(
                InspectJSON.flow(inspection.report(number), timing: inspection.timing(number), file: file))
        }
    }

    private func extract(_ source: consuming CaptureSource, into folder: Folder, _ path: String) -> Int32 {
        let extractor = StreamExtractor(folder: folder, path: path)
        let inspection = Inspection.of(
            source, limits: .deliveringParts, filter: filter, observer: extractor, accepts: accepts, tunnels: tunnels,
            view: view)
        if let failure = extractor.failure {
            output.flush()
            Console.standardError.write("error: \(Escaped.text(failure.path)): \(failure.reason)\n")
            return 3
        }
        return finish(inspection, footer: nil) {
            guard !isJSON else { return }
            var text = "\(ByteText.count(extractor.fileCount, "file")) in \(Escaped.text(path)), "
            text += ByteText.count(Int(clamping: extractor.byteCount), "byte")
            if extractor.gapCount > 0 { text += ", \(ByteText.count(extractor.gapCount, "gap")) left out" }
            output.write(text + "\n")
        }
    }

    /// Appends the text about the outcome of one check.
    var word: @Sendable (CheckRun.Outcome, inout [UInt8]) -> Void {
        { [isJSON, file, paint] outcome, text in
            if isJSON {
                CheckText.append(json: outcome, file: file, to: &text)
            } else {
                CheckText.append(outcome, paint: paint, to: &text)
            }
        }
    }

    private func judge(_ source: consuming CaptureSource, _ lists: [WireCheckList]) -> Int32 {
        let checks = lists.flatMap(\.checks)
        let inspection = Inspection.of(
            source, limits: .judging(checks.map(\.assertion)), accepts: accepts, tunnels: tunnels,
            view: chosenView ?? .sent)
        let filter = criteria.applied(to: filter, in: inspection)
        if inspection.problem?.isInvalidUsage == true { return end(inspection) }
        var tally = CheckRun.Tally()
        for list in lists {
            let counts = CheckRun.judge(
                list.checks, on: inspection, filter: filter, wordsPassed: isJSON,
                word: word, to: { [output] in output.write($0) })
            tally.add(counts)
        }
        if !isJSON {
            let flows = inspection.count(filter)
            output.write(CheckText.summary(tally, checks: checks.count, flows: flows) + "\n")
        }
        let ending = end(inspection)
        if isLast { inspection.abandon() }
        return tally.exitCode == 1 ? 1 : max(tally.exitCode, ending)
    }

    // MARK: The end

    /// Reports that no flow was found, or prints the remarks about the flows that were shown.
    func finish(_ inspection: Inspection, footer: ((ConnectionReport) -> Void)? = nil, _ last: () -> Void = {})
        -> Int32
    {
        let reports = inspection.reports(filter)
        if reports.isEmpty, inspection.problem == nil, inspection.unreadable == nil,
            inspection.unfollowed(filter) == nil
        {
            let flows = inspection.analysis.table.conversations.count
            output.flush()
            let what = filter.isOpen ? "no flow" : "no \(filter.text)"
            Console.standardError.write(
                "error: \(name): there is \(what): the file has \(ByteText.count(flows, "flow"))\n")
            return 2
        }
        if !isJSON, let footer { for report in reports { footer(report) } }
        if inspection.problem?.isInvalidUsage != true { last() }
        let code = end(inspection)
        guard let unfollowed = inspection.unfollowed(filter) else { return code }
        output.flush()
        Console.standardError.write("error: \(name): \(unfollowed)\n")
        return max(code, 3)
    }

    func end(_ inspection: Inspection) -> Int32 {
        if isJSON { output.write(InspectJSON.summary(inspection, file: file)) }
        if let problem = inspection.problem { return report(problem) }
        guard let unreadable = inspection.unreadable else { return 0 }
        output.flush()
        Console.standardError.write("error: \(name): \(unreadable)\n")
        return 3
    }

    func report(_ problem: InspectionProblem) -> Int32 {
        output.flush()
        Console.standardError.write("error: \(name): \(problem)\n")
        return problem.isInvalidUsage ? 2 : 3
    }
}

extension InspectShow {
    static let noSecrets =
        "the file contains no TLS secrets: use `--key-log FILE` with a key log that a program wrote (SSLKEYLOGFILE); a run's captures contain the secrets unless `--no-secrets` was given"

    /// Shows a flow's plaintext and the data that tshark decrypts.
    func decrypt(_ source: consuming CaptureSource, keyLog: String?) -> Int32 {
        guard let tshark = Tshark() else {
            return fail("--decrypt \(Tshark.advice)", code: 3)
        }
        if let code = missing(keyLog: keyLog) { return code }
        let shown = FollowObserver(
            form: options.form, width: width, paint: paint, output: { [output] in output.write($0) })
        let observer = DecryptionObserver(showing: shown)
        let inspection = Inspection.of(
            source, limits: .deliveringParts, filter: filter, observer: observer, tunnels: tunnels, view: view)
        let code = finish(inspection)
        guard code == 0, observer.conversation != nil else { return code }
        // tshark needs no secrets for a NULL cipher (RFC 5246, appendix A.5).
        guard let failure = show(observer, tshark, keyLog) else { return 0 }
        if keyLog == nil, inspection.keyLog.isEmpty, observer.hasTLS { return fail(Self.noSecrets, code: 2) }
        return fail(failure, code: 3)
    }

    /// Returns an exit code if the key log does not exist; `nil` if it does.
    func missing(keyLog: String?) -> Int32? {
        guard let keyLog, SmallFile.isFolder(keyLog) || !SmallFile.exists(keyLog) else { return nil }
        return fail("--key-log \(Escaped.text(keyLog)): no such file", code: 2)
    }

    /// Shows the flow data that tshark decrypts, after the data that the observer has already shown.
    ///
    /// - Returns: the reason why no data was decrypted; `nil` if data was decrypted.
    func show(_ observer: DecryptionObserver, _ tshark: Tshark, _ keyLog: String?) -> String? {
        guard let conversation = observer.conversation, let packet = observer.firstPacket, observer.hasTLS else {
            return "the flow does not use TLS"
        }
        let common = Tshark.arguments(file, keyLog: keyLog)
        guard let number = tshark.stream(ofFrame: packet + 1, common) else { return "tshark can't read the file" }
        // If the first record is split across segments, tshark detects TLS only with an option that names the port.
        for ports in [[], ["-d", "tcp.port==\(conversation.server.port),tls"]] {
            var reader = TsharkFollowReader(client: conversation.client, server: conversation.server)
            var isAny = false
            let status = tshark.run(common + ports + ["-q", "-z", "follow,tls,raw,\(number)"]) { line in
                guard let data = reader.read(line) else { return }
                isAny = true
                observer.show(decrypted: data.bytes, from: data.side)
            }
            observer.endDecrypted()
            guard status == 0 else { return "tshark failed" }
            if isAny { return nil }
        }
        return
            "no data of the flow could be decrypted: its secrets are missing, its handshake is not in the capture, or it carried no data"
    }

    /// Prints an error message about the file, and returns the exit code.
    func fail(_ text: String, code: Int32) -> Int32 {
        output.flush()
        Console.standardError.write("error: \(Escaped.text(file)): \(text)\n")
        return code
    }
}

/// The secrets for decrypting the TLS data in an HTML page.
struct PageDecryption {
    /// The path of a key log; `nil` to use only the secrets in the capture.
    var keyLog: String?
}

extension InspectShow {
    /// Writes the HTML page requested by `--html`.
    ///
    /// A file is read once for all flows and their diagnoses, and a second time for the flows that are shown in full. A
    /// pipe can be read only once, so the flows that come first in the capture are shown in full, regardless of the
    /// order of the table.
    ///
    /// - Parameter fails: for the page of `diagnose`, whether a finding makes the command fail; `nil` for that of
    ///   `inspect`.
    func page(
        _ source: consuming CaptureSource, to path: String, decryption: PageDecryption?,
        fails: ((FindingSeverity) -> Bool)? = nil
    ) -> Int32 {
        if let code = refusal(of: path, source.isRegular, decryption) { return code }
        // An unwritable path is reported before a large file is read. A pipe must be opened only once, because its
        // reader would consider the first close to be the end of the page.
        let isOrdinary =
            path != "-" && FileStatus(at: path).map { [S_IFREG, S_IFDIR].contains($0.mode & S_IFMT) } ?? true
        if isOrdinary, let failure = open(path).failure {
            return fail(page: "\(failure); choose another path", code: 2)
        }
        let isRegular = source.isRegular
        var observer = FlowsPageObserver(limit: FlowsPage.maxFlows, decrypts: decryption != nil)
        let inspection =
            isRegular
            ? Inspection.diagnosing(source, accepts: accepts, tunnels: tunnels, view: view, measures: measures)
            : Inspection.diagnosing(
                source, limits: .deliveringParts, filter: filter, observer: observer, accepts: accepts,
                tunnels: tunnels, view: view, measures: measures)
        if inspection.problem?.isInvalidUsage == true { return end(inspection) }
        let filter = criteria.applied(to: filter, in: inspection)
        let report = inspection.diagnosis(filter)
        if fails != nil, report.flows.isEmpty, !self.filter.isOpen, inspection.problem == nil {
            let flows = ByteText.count(inspection.analysis.table.conversations.count, "flow")
            return fail("there is no \(filter.text): the file has \(flows)", code: 2)
        }
        if isRegular {
            let numbers = FlowsPage.numbers(inspection, filter, options.sort, worst: fails == nil ? nil : report)
            let shown = Set(numbers.prefix(FlowsPage.maxFlows))
            observer = FlowsPageObserver(
                limit: FlowsPage.maxFlows, decrypts: decryption != nil, evidence: report.evidence(of: shown))
            if let code = readAgain(shown, observer) { return code }
        }
        if let number = filter.number, number >= inspection.analysis.table.conversations.count,
            inspection.problem == nil
        {
            return finish(inspection)
        }
        var remarks: [Int: String] = [:]
        var code: Int32 = 0
        if let decryption {
            let end = decrypt(observer, inspection, decryption)
            if let invalidUsage = end.invalidUsage { return fail(invalidUsage, code: 2) }
            remarks = end.remarks
            if let failure = end.failure { code = fail(failure, code: 3) }
        }
        let page = FlowsPage(
            inspection, filter: filter,
            options: FlowsPage.Options(
                name: file == "-" ? "standard input" : file, columns: columns, order: options.sort,
                version: ProductVersion.text, isDecrypted: decryption != nil, isDiagnosis: fails != nil),
            records: observer.records, report: report, remarks: remarks)
        if let failure = write(page, to: path) { return failure }
        if isOrdinary { printCounts(inspection.count(filter), observer.records.count, path) }
        code = max(code, end(inspection))
        guard let fails else { return code }
        if isOrdinary { output.write(DiagnosisText.sentence(report) + "\n") }
        if let worst = report.worst, fails(worst) { return 1 }
        return code == 0 && report.flows.isEmpty ? fail("there is no flow that can be judged", code: 3) : code
    }

    /// Returns an exit code if the options can't be used with these files; `nil` if they can.
    private func refusal(of path: String, _ isRegular: Bool, _ decryption: PageDecryption?) -> Int32? {
        if let target = FileStatus(at: path)?.identity, target == FileStatus(at: file)?.identity, path != "-", isRegular
        {
            return fail("--html \(Escaped.text(path)): the path is the capture itself; choose another path", code: 2)
        }
        if let log = decryption?.keyLog, let target = FileStatus(at: path), target.isRegular,
            target.identity == FileStatus(at: log)?.identity
        {
            return fail(
                "--html \(Escaped.text(path)): the path is the file given by --key-log; choose another "
                    + "path", code: 2)
        }
        if !criteria.isOpen, !isRegular {
            output.flush()
            return Failure.invalidUsage("--with and --since require a file that can be read twice, not a pipe").rawValue
        }
        guard let decryption else { return nil }
        if Tshark() == nil { return fail("--decrypt \(Tshark.advice)", code: 3) }
        return missing(keyLog: decryption.keyLog)
    }

    /// Reads the file again to collect the details of the flows that the page shows in full.
    ///
    /// - Returns: an exit code if the file could not be opened again; `nil` on success.
    private func readAgain(_ numbers: Set<Int>, _ observer: FlowsPageObserver) -> Int32? {
        if numbers.isEmpty { return nil }
        var chosen = ConnectionFilter()
        chosen.numbers = numbers
        do throws(CaptureSourceError) {
            let source = try CaptureSource(path: file)
            _ = Inspection.of(
                source, limits: .deliveringParts, filter: chosen, observer: observer, accepts: accepts,
                tunnels: tunnels,
                view: view)
            return nil
        } catch {
            return self.report(.source(error))
        }
    }

    private struct DecryptionEnd {
        /// The reasons why no data of a flow was decrypted, keyed by the number of the flow.
        var remarks: [Int: String] = [:]
        var failure: String?
        var invalidUsage: String?
    }

    /// Adds the data that tshark decrypts to the flows that use TLS.
    private func decrypt(
        _ observer: FlowsPageObserver, _ inspection: Inspection, _ decryption: PageDecryption
    ) -> DecryptionEnd {
        var end = DecryptionEnd()
        guard let tshark = Tshark() else {
            end.failure = "--decrypt \(Tshark.advice)"
            return end
        }
        let encrypted = observer.records.keys.sorted().compactMap { observer.encrypted($0) }
        if encrypted.isEmpty { end.failure = "no flow on the page uses TLS" }
        if end.failure != nil { return end }
        for flow in encrypted {
            guard let number = flow.conversation?.number else { continue }
            if let failure = show(flow, tshark, decryption.keyLog) {
                end.remarks[number] = "The TLS data is not shown: \(failure)."
            }
        }
        if end.remarks.count == encrypted.count {
            // A NULL cipher needs no secrets.
            if decryption.keyLog == nil, inspection.keyLog.isEmpty { end.invalidUsage = Self.noSecrets }
            end.failure = end.remarks.values.min()
        }
        return end
    }

    /// Opens the file to which the page is written. A file that already exists at the path is kept until the page is
    /// complete.
    private func open(_ path: String) -> (report: ReportFile?, failure: ReportFileError?) {
        do throws(ReportFileError) {
            return (try ReportFile(path, keepsOld: true, isReadByRunner: Console.isReadByRunner), nil)
        } catch {
            return (nil, error)
        }
    }

    /// Writes the page to its file. The temporary file is created only at this point, so that an interrupted inspection
    /// leaves no file behind.
    ///
    /// - Returns: an exit code if the page could not be written; `nil` on success.
    private func write(_ page: FlowsPage, to path: String) -> Int32? {
        let bytes = page.bytes
        if path == "-" {
            output.write(bytes)
            return nil
        }
        let opened = open(path)
        if let failure = opened.failure { return fail(page: "\(failure)", code: 3) }
        do throws(ReportFileError) {
            try opened.report?.append(bytes)
            try opened.report?.finish()
            return nil
        } catch {
            return fail(page: "\(error)", code: 3)
        }
    }

    private func fail(page text: String, code: Int32) -> Int32 {
        output.flush()
        Console.standardError.write("error: \(text)\n")
        return code
    }

    private func printCounts(_ flows: Int, _ full: Int, _ path: String) {
        let some = full < flows ? ", \(full) of them in full" : ""
        output.write("\(ByteText.count(flows, "flow")) in \(Escaped.text(path))\(some)\n")
    }
}

/// The notes that a run has written at the beginning of its capture.
struct RunNotes {
    private(set) var notes = CaptureNotes()
    /// The numbers of the capture's interfaces that are ends of links.
    private(set) var linkEnds: Set<Int> = []

    var hasLinks: Bool { !linkEnds.isEmpty }

    /// Reads the notes in a capture.
    ///
    /// - Parameter path: the path of a capture. The notes are not read if the capture can't be read twice.
    init(path: String) throws(CaptureSourceError) {
        var source = try CaptureSource(path: path)
        guard source.isRegular else { return }
        let head = try Self.head(of: &source).get()
        notes = CaptureNotes(comments: head.comments)
        for (number, interface) in head.interfaces.enumerated() where interface.linkEnd != nil {
            linkEnds.insert(number)
        }
    }

    /// Reads a capture up to its first packet.
    private static func head(of source: inout CaptureSource) -> Result<CaptureFileReader, CaptureSourceError> {
        var reader = CaptureFileReader()
        do throws(CaptureFileError) {
            while reader.packetCount == 0 {
                let step = try source.next { (chunk) throws(CaptureFileError) in try reader.feed(chunk) { _, _ in } }
                switch step {
                case .success(true): break
                case .success(false): return .success(reader)
                case .failure(let error): return .failure(error)
                }
            }
        } catch {
            // The file is damaged, but the part before the damage is valid. The damage is reported when the packets are
            // read.
            return .success(reader)
        }
        return .success(reader)
    }
}

extension InspectShow {
    /// Judges statements about the capture of a run.
    func judge(_ lists: [WireCheckList], _ notes: RunNotes, isOnWhole: Bool) -> Int32 {
        let run = RunCheck(notes: notes.notes, view: chosenView, isOnWhole: isOnWhole)
        let checks = lists.flatMap(\.checks)
        // Each scope is analyzed once, for all statements that apply to it.
        var assertions: [RunCheck.Scope: [WireAssertion]] = [:]
        var scopes: [RunCheck.Scope] = []
        func need(_ scope: RunCheck.Scope, _ assertion: WireAssertion) {
            if assertions[scope] == nil { scopes.append(scope) }
            assertions[scope, default: []].append(assertion)
        }
        for check in checks {
            for task in run.tasks(check) { need(task.scope, task.assertion) }
        }
        var texts = [[UInt8]](repeating: [], count: checks.count)
        var tally = CheckRun.Tally()
        var steps: Set<String> = []
        var flows = 0
        var code: Int32 = 0
        for (position, scope) in scopes.enumerated() {
            let inspection: Inspection
            do throws(CaptureSourceError) {
                inspection = Inspection.of(
                    try CaptureSource(path: file), limits: .judging(assertions[scope] ?? []),
                    accepts: accepts(scope, notes), view: scope.view)
            } catch {
                return report(.source(error))
            }
            if inspection.problem?.isInvalidUsage == true { return end(inspection) }
            let filter = criteria.applied(to: filter, in: inspection)
            var problem: CaptureSourceError?
            lazy var arrived: Inspection? = {
                do throws(CaptureSourceError) {
                    return try arrivals(of: scope, notes)
                } catch {
                    problem = error
                    return nil
                }
            }()
            for (index, check) in checks.enumerated() {
                for task in run.tasks(check) where task.scope == scope {
                    if let step = task.step { steps.insert(step) }
                    for outcome in run.outcomes(of: task, on: inspection, arrivals: { arrived }, filter: filter) {
                        word(outcome, &texts[index])
                        tally.count(outcome)
                    }
                }
            }
            if let problem { return report(.source(problem)) }
            flows = max(flows, inspection.count(filter))
            guard position == scopes.count - 1 else { continue }
            for text in texts { output.write(text) }
            if !isJSON {
                output.write(CheckText.summary(tally, checks: checks.count, flows: flows) + "\n")
                if !steps.isEmpty { output.write(Self.remark(on: steps) + "\n") }
            }
            code = end(inspection)
        }
        return tally.exitCode == 1 ? 1 : max(tally.exitCode, code)
    }

    private static func remark(on steps: Set<String>) -> String {
        let shown = steps.sorted().prefix(3).map { Escaped.text($0) }.joined(separator: ", ")
        let more = steps.count > 3 ? " and \(steps.count - 3) more" : ""
        return
            "judged as in the run at \(shown)\(more), on the packets that it had seen by then (`--whole` judges all packets)"
    }

    /// Returns the packets in a scope that arrived over links; `nil` if there are no links, or if a single end is
    /// selected.
    private func arrivals(of scope: RunCheck.Scope, _ notes: RunNotes) throws(CaptureSourceError) -> Inspection? {
        guard chosenView == nil, scope.view == .sent, !notes.linkEnds.isEmpty else { return nil }
        return Inspection.of(
            try CaptureSource(path: file), limits: .live, accepts: accepts(scope, notes), view: .received)
    }

    /// Returns the filter for the packets in a scope; `nil` if all packets are read.
    private func accepts(_ scope: RunCheck.Scope, _ notes: RunNotes) -> PacketPredicate? {
        guard let last = scope.last else { return accepts }
        let (own, ends) = (accepts, notes.linkEnds)
        return { record, bytes in
            record.time <= (ends.contains(record.interface) ? last.onLinks : last.onLoopback)
                && own?(record, bytes) ?? true
        }
    }
}
