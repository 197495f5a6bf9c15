import ArgumentParser
import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeInspect
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Inspects one file in one mode: reads it, shows it, and returns the exit code.
struct InspectShow {
    enum Mode {
        case table, ladder, follow
        case decrypt(keyLog: String?)
        case extract(Folder, path: String)
        case messages(Framing, protobuf: ProtobufText?)
        case judge([WireCheckList], RunNotes, isOnWhole: Bool)
        case page(String, keyLog: String?, decrypts: Bool)

        /// Whether packets are shown as they are read.
        var isObserved: Bool {
            switch self {
            case .table, .judge, .page: false
            case .ladder, .follow, .decrypt, .extract, .messages: true
            }
        }
    }

    let file: String
    var filter: ConnectionFilter
    let criteria: ConnectionCriteria
    let packetFilter: PacketFilter?
    let output: OutputBuffer
    /// The width that was asked for, or of the terminal; nil if the output is none.
    let width: Int?
    let paint: Paint
    let options: ShowOptions
    let columns: [ConnectionColumn]
    /// Whether the file's name is printed above its output.
    let hasHeading: Bool
    /// Whether this is the last file.
    let isLast: Bool
    /// The end of a link that was asked for; nil for the default.
    let chosenView: LinkView?
    /// The file is shown once for each side.
    let isSideShown: Bool

    /// What is shown of links.
    var view: LinkView { chosenView ?? .received }

    var tunnels: TunnelReading { options.noTunnels ? .named : .opened }

    /// Whether the table shows or is sorted by what takes a look at every packet.
    var measures: Bool { columns.contains(where: \.isTiming) || options.sort?.isTiming == true }

    var isJSON: Bool { options.json }

    /// The packets that are read; nil for all.
    var accepts: PacketPredicate? {
        packetFilter.map { filter in
            { record, bytes in
                filter.matches(bytes, linkType: record.linkType, originalLength: record.originalLength)
            }
        }
    }

    var name: String { file == "-" ? "standard input" : Escaped.text(file) }

    func run(_ mode: Mode) -> Int32 {
        if hasHeading {
            let side = if isSideShown, case .at(let end)? = chosenView { ", \(end.rawValue) side" } else { "" }
            output.write("\(name)\(side):\n")
        }
        // What an observer sees packet by packet must be chosen before: the file is read once more.
        if !criteria.isOpen, mode.isObserved {
            var chosen = self
            do throws(CaptureSourceError) {
                let source = try CaptureSource(path: file)
                guard source.isRegular else {
                    output.flush()
                    return Failure.wrongUse("--with and --since need a file that can be read twice, no pipe").rawValue
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
                    source, limits: .handingOut, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels,
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
                    source, limits: .handingOut, filter: filter, observer: observer, accepts: accepts, tunnels: tunnels,
                    view: view)
            )
        case .extract(let folder, let path): return extract(source, into: folder, path)
        case .judge(let lists, let notes, let isOnWhole):
            return notes.notes.framing == nil ? judge(source, lists) : judge(lists, notes, isOnWhole: isOnWhole)
        case .page(let path, let keyLog, let decrypts):
            return page(source, to: path, decryption: decrypts ? PageDecryption(keyLog: keyLog) : nil)
        }
    }

    // MARK: Modes

    private func table(_ source: consuming CaptureSource) -> Int32 {
        let inspection = Inspection.of(source, accepts: accepts, tunnels: tunnels, view: view, measures: measures)
        let filter = criteria.applied(to: filter, in: inspection)
        if isJSON {
            writeFlows(of: inspection, filter)
        } else if inspection.problem?.isWrongUse != true {
            let style = ConnectionTableText.Style(columns: columns, width: width, order: options.sort, paint: paint)
            let shown = ConnectionTableText.write(
                inspection.analysis.table.conversations, inspection.anomalies, timings: inspection.timings,
                filter: filter,
                style: style
            ) { output.write($0) }
            output.write(ConnectionTableText.summary(inspection, shown: shown, width: width) + "\n")
        }
        let code = end(inspection)
        if isLast { inspection.abandon() }
        return code
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
            source, limits: .handingOut, filter: filter, observer: extractor, accepts: accepts, tunnels: tunnels,
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

    /// Appends the text of an outcome.
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
        if inspection.problem?.isWrongUse == true { return end(inspection) }
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

    /// Says that no flow was found, or prints the remarks on the flows that were shown.
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
        if inspection.problem?.isWrongUse != true { last() }
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
        return problem.isWrongUse ? 2 : 3
    }
}
