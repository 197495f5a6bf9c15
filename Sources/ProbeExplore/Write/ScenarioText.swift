import ProbeBase
import ProbeScenario

/// The text of a scenario, with a candidate's changes applied.
package struct ScenarioText {
    private let base: ExploredScenario
    private let lines: SourceLines
    private let sends: [Int: (step: Step, actor: String, statement: SendStatement)]

    package init(_ base: ExploredScenario) {
        self.base = base
        lines = SourceLines(base.bytes)
        var sends: [Int: (Step, String, SendStatement)] = [:]
        for step in base.original.allSteps {
            if case .act(let actor, .connection(.send(let statement)), _) = step.kind {
                sends[step.id] = (step, actor.value, statement)
            }
        }
        self.sends = sends
    }

    /// Returns the script with a candidate's changes applied.
    ///
    /// - Parameter about: the text that replaces the script's `about`; `nil` if it is not changed.
    package func text(of candidate: Candidate, about: String? = nil) -> [UInt8] {
        var edits = TextEdits()
        let groups = candidate.variation.joined
        let inner = Set(groups.flatMap { $0.dropFirst() })
        for step in base.original.allSteps {
            if candidate.removedSteps.contains(step.id) || inner.contains(step.id) || base.leftOut.contains(step.id)
                || candidate.isEndCarried(step)
            {
                edits.replace(lines.whole(Self.range(of: step)), with: "")
                continue
            }
            if candidate.ignoredRests.contains(step.id), case .act(let actor, _, _) = step.kind {
                edits.replace(step.span.start..<step.span.end, with: "\(actor.value) ignore rest")
                continue
            }
            for change in candidate.variation.changes {
                if case .slowReading(let actor, step.id, let bytes) = change {
                    let start = lines.start(of: step.span.start)
                    let indentation = lines.indentation(at: start)
                    edits.replace(start..<start, with: "\(indentation)\(actor) read \(bytes)B every 1ms\n")
                }
            }
            if candidate.variation.changes.contains(.earlyEnd(send: step.id)), let send = sends[step.id] {
                let indentation = lines.indentation(at: lines.start(of: step.span.start))
                let end = lines.end(of: step.span.end)
                edits.replace(end..<end, with: "\(indentation)\(send.actor) half-close\n")
            }
            if case .act(_, .proxy(.forward), _) = step.kind {
                edits.replace(step.span.end..<step.span.end, with: clauses(step.id, candidate))
            }
            if let text = statement(step.id, candidate, groups) {
                edits.replace(step.span.start..<step.span.end, with: text)
            }
        }
        for actor in base.original.actors {
            if candidate.removedActors.contains(actor.name.value) {
                edits.replace(lines.whole(actor.span.start..<actor.span.end), with: "")
            } else if let options = options(of: actor, candidate) {
                edits.replace(actor.span.end..<actor.span.end, with: options)
            }
        }
        for (parameter, text) in base.fixedParameters {
            edits.replace(parameter.span.start..<parameter.span.end, with: text)
        }
        if let about { add(about, to: &edits) }
        return edits.applied(to: base.bytes)
    }

    private static func range(of step: Step) -> Range<Int> {
        let end = step.kind.bodies.map(\.span.end).max() ?? step.span.end
        return step.span.start..<max(step.span.end, end)
    }

    private func options(of actor: ActorDeclaration, _ candidate: Candidate) -> String? {
        let added = candidate.variation.changes.compactMap { change -> String? in
            if case .option(actor.name.value, let option) = change { option.text } else { nil }
        }
        guard !added.isEmpty else { return nil }
        let present =
            switch actor.kind {
            case .server(_, _, let options), .client(_, let options): !options.isEmpty
            case .subject, .process, .proxy, .crowd: false
            }
        return (present ? ", " : " with ") + added.joined(separator: ", ")
    }

    private func add(_ about: String, to edits: inout TextEdits) {
        for range in lines.lines(beginningWith: "about") { edits.replace(range, with: "") }
        let end = lines.end(of: base.original.title.span.end)
        edits.replace(end..<end, with: "about \"\(StreamStatements.escaped(Array(about.utf8)))\"\n")
    }

    // MARK: Sends

    /// Returns the new text of a send; `nil` if the candidate does not change the send.
    private func statement(_ id: Int, _ candidate: Candidate, _ groups: [[Int]]) -> String? {
        guard let send = sends[id] else { return nil }
        let group = groups.first { $0[0] == id }
        let offsets = candidate.variation.offsets(of: id)
        let payload = candidate.payloads[id] ?? base.literals[id]
        let recordSize = candidate.variation.recordSize(of: id)
        let carriesFIN = candidate.carriesFIN(id, groups)
        guard
            group != nil || !offsets.isEmpty || payload != nil || base.uncut.contains(id) || carriesFIN
                || recordSize != nil
        else {
            return nil
        }
        var text: String
        if let payload {
            text = "\(send.actor) \(send.statement.inBackground ? "start sending" : "send") \(Self.literal(payload))"
        } else if let group {
            text = "\(send.actor) send " + group.map(value).joined(separator: " + ")
        } else {
            text = base.sourceText(send.step.span.start..<send.statement.pieces[0].span.start) + values(send.statement)
        }
        text += recordSize.map { " in records of \($0)B" } ?? ""
        text += clauses(id, candidate) + (carriesFIN ? " with fin" : "")
        if group == nil, !base.uncut.contains(id), base.literals[id] == nil, let last = send.statement.pieces.last {
            // The timing clauses are copied from the original script.
            text += base.sourceText(min(last.span.end, send.step.span.end)..<send.step.span.end)
        }
        return text
    }

    /// Returns the clauses that cut a send's bytes and pause between the pieces.
    private func clauses(_ id: Int, _ candidate: Candidate) -> String {
        let offsets = candidate.variation.offsets(of: id)
        if offsets.isEmpty { return "" }
        let pause = candidate.variation.pauses[id].map { " every \(DurationText.script($0))" } ?? ""
        return Self.cuts(offsets, of: base.sites.first { $0.step == id }) + pause
    }

    private static func literal(_ bytes: [UInt8]) -> String { "\"\(StreamStatements.escaped(bytes))\"" }

    private func values(_ statement: SendStatement) -> String {
        statement.pieces.map { base.sourceText($0.span.start..<$0.span.end) }.joined(separator: " + ")
    }

    private func value(_ id: Int) -> String {
        if let literal = base.literals[id] { return Self.literal(literal) }
        guard let send = sends[id] else { return "\"\"" }
        let text = values(send.statement)
        return send.statement.mode == .line ? "line(\(text))" : text
    }

    private static func cuts(_ offsets: [Int], of site: SendSite?) -> String {
        guard let first = offsets.first else { return "" }
        if let site, offsets.count > 3, offsets == Array(stride(from: first, to: site.length, by: first)) {
            return " in pieces of \(first)B"
        }
        return " cut at " + offsets.map { "\($0)" }.joined(separator: ", ")
    }
}
