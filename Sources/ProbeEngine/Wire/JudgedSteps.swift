import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

/// The `wire` steps that a case has judged, each with the connection to which it applied and the packets that had been
/// captured when the step was judged.
struct JudgedSteps {
    private struct Entry {
        var span: SourceSpan
        /// The names of actors in the statement.
        var names: [String]
        var target: CaptureNotes.Target
        var lastOnLoopback: UInt64
        var lastOnLinks: UInt64
        var values: [String: CaptureNotes.NamedValue]
    }

    private var entries: [Entry] = []

    mutating func add(_ step: Step, _ names: [String], _ target: CaptureNotes.Target, _ context: CaseContext) {
        guard context.settings.keep != .none else { return }
        entries.append(
            Entry(
                span: step.span, names: names, target: target, lastOnLoopback: context.capture.lastOnLoopback,
                lastOnLinks: context.capture.lastOnLinks, values: context.namedValues(of: step)))
    }

    /// Returns the notes to write into the case's capture file.
    func notes(_ names: WireNames, _ context: CaseContext) -> CaptureNotes {
        var notes = CaptureNotes()
        notes.framing = context.scenario.framing
        notes.actors = context.actors.order
        notes.places = notes.actors.filter { !names.isConnection($0) }
        let all = names.traffic.openings.indices.filter {
            !names.binding.others.contains($0) && !names.binding.possiblyOthers.contains($0)
        }
        let numbers = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($0.element, $0.offset) })
        notes.connections = connections(all, numbers, names, context.actors.order)
        // A proxy that has ended no longer has a list of its connections, so the names are taken from the statements
        // about the connections.
        let known = Set(notes.connections.flatMap { $0.clientNames + $0.serverNames })
        for entry in entries {
            guard case .end(let index, let side) = entry.target, let number = numbers[index] else { continue }
            for (name, side) in zip(entry.names, [side, side.opposite]) where !known.contains(name) {
                notes.connections[number].add(name, at: side)
            }
        }
        notes.steps = entries.map { entry in
            let location = context.sources.location(of: entry.span)
            let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
            var step = CaptureNotes.Step(
                place: "\(file):\(location.line)", text: Self.text(of: entry.span, context.sources),
                lastOnLoopback: entry.lastOnLoopback, lastOnLinks: entry.lastOnLinks,
                target: Self.target(entry.target, numbers))
            step.values = entry.values
            return step
        }
        return notes
    }

    private func connections(
        _ all: [Int], _ numbers: [Int: Int], _ names: WireNames, _ actors: [String]
    ) -> [CaptureNotes.Connection] {
        let judge = WireJudge(names: names)
        var connections = all.map { index in
            let opening = names.traffic.openings[index]
            var connection = CaptureNotes.Connection(
                client: opening.client, server: opening.server, sequence: opening.sequence.value)
            connection.isDiscarded = names.isDiscarded(index)
            if !names.listens(atServerOf: index), let candidates = names.binding.candidates[index],
                candidates.count > 1
            {
                connection.doubt = judge.doubt(about: candidates, index)
            }
            return connection
        }
        for name in actors {
            let certain = names.ends(name, nil, isCertain: true)
            for end in Set(certain + names.ends(name, nil, isCertain: false)) {
                guard let number = numbers[end.index] else { continue }
                switch (end.side, certain.contains(end)) {
                case (.client, true): connections[number].clientNames.append(name)
                case (.server, true): connections[number].serverNames.append(name)
                case (.client, false): connections[number].clientCandidates.append(name)
                case (.server, false): connections[number].serverCandidates.append(name)
                }
            }
            for end in names.earlierEnds(of: name) where !certain.contains(end) {
                guard let number = numbers[end.index] else { continue }
                connections[number].earlierNames.append(.init(name: name, side: end.side))
            }
        }
        return connections
    }

    private static func target(_ target: CaptureNotes.Target, _ numbers: [Int: Int]) -> CaptureNotes.Target {
        switch target {
        case .end(let index, let side):
            numbers[index].map { .end($0, side) }
                ?? .inconclusive("the connection may belong to another program, and is not in the capture")
        case .every(let except): .every(except: except.compactMap { numbers[$0] })
        case .nothing, .inconclusive: target
        }
    }

    private static func text(of span: SourceSpan, _ sources: SourceMap) -> String {
        guard span.file < sources.files.count else { return "" }
        let bytes = sources.files[span.file].bytes
        guard span.start <= span.end, span.end <= bytes.count else { return "" }
        return CaptureNotes.normalized(String(decoding: bytes[span.start..<span.end], as: UTF8.self))
    }
}

extension CaseContext {
    /// Returns the values of the variables in a step, in a form that another program can use.
    fileprivate func namedValues(of step: Step) -> [String: CaptureNotes.NamedValue] {
        var values: [String: CaptureNotes.NamedValue] = [:]
        for name in namesRead(by: step) {
            switch value(of: name) {
            case .integer(let number)?: values[name] = .integer(number)
            case .bytes(let bytes)?: values[name] = .bytes(bytes)
            case .pieces(let pieces)?: values[name] = .bytes(Array(pieces.joined()))
            // A `wire` statement accepts no number of 2^63 or more, and no regex.
            case .unsigned?, .regex?, nil: break
            }
        }
        return values
    }
}

extension CaptureNotes.Connection {
    /// Adds the name of an actor that is known to be at the given side of the connection.
    fileprivate mutating func add(_ name: String, at side: ConversationSide) {
        guard !names(at: side).contains(name) else { return }
        if side == .client { clientNames.append(name) } else { serverNames.append(name) }
    }
}
