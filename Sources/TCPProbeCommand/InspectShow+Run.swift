import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeInspect
import ProbeReport
import ProbeWire

/// The notes that a run left in its capture, from the beginning of the file.
struct RunNotes {
    private(set) var notes = CaptureNotes()
    /// The numbers of the interfaces that are ends of links.
    private(set) var linkEnds: Set<Int> = []

    var hasLinks: Bool { !linkEnds.isEmpty }

    /// - Parameter path: of a file; what can't be read twice has no notes.
    init(path: String) throws(CaptureSourceError) {
        var source = try CaptureSource(path: path)
        guard source.isRegular else { return }
        let head = try Self.head(of: &source).get()
        notes = CaptureNotes(comments: head.comments)
        for (number, interface) in head.interfaces.enumerated() where interface.linkEnd != nil {
            linkEnds.insert(number)
        }
    }

    /// Reads up to the first packet.
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
            // A damaged file: what was read before the damage is valid, and reading the packets reports the rest.
            return .success(reader)
        }
        return .success(reader)
    }
}

extension InspectShow {
    /// Judges statements on the capture of a run.
    func judge(_ lists: [WireCheckList], _ notes: RunNotes, isOnWhole: Bool) -> Int32 {
        let run = RunCheck(notes: notes.notes, view: chosenView, isOnWhole: isOnWhole)
        let checks = lists.flatMap(\.checks)
        // One analysis for each scope, with what all its judgements need.
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
            if inspection.problem?.isWrongUse == true { return end(inspection) }
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
        return "judged as the run did at \(shown)\(more): on the packets that it had seen by then (`--whole`: on all)"
    }

    /// The packets of a scope that arrived over links; nil without links, or for one end of them.
    private func arrivals(of scope: RunCheck.Scope, _ notes: RunNotes) throws(CaptureSourceError) -> Inspection? {
        guard chosenView == nil, scope.view == .sent, !notes.linkEnds.isEmpty else { return nil }
        return Inspection.of(
            try CaptureSource(path: file), limits: .live, accepts: accepts(scope, notes), view: .received)
    }

    /// The packets of a scope; nil for all.
    private func accepts(_ scope: RunCheck.Scope, _ notes: RunNotes) -> PacketPredicate? {
        guard let last = scope.last else { return accepts }
        let (own, ends) = (accepts, notes.linkEnds)
        return { record, bytes in
            record.time <= (ends.contains(record.interface) ? last.onLinks : last.onLoopback)
                && own?(record, bytes) ?? true
        }
    }
}
