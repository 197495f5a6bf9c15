import ProbeBase
package import ProbeScenario

/// Creates scripts that inject a fault into a connection, instead of running the remaining steps of the original
/// script. The connections of a script with several endpoints take turns.
///
/// After the fault, the original script's expectations no longer apply. Instead, the program must not be killed by a
/// signal, and must not use the processor while it receives nothing. A server must also serve the unchanged script to
/// the next client, and must then use no more descriptors or memory than after the first client.
package struct FaultScripts {
    /// A fault, and the script that injects it.
    package struct Script: Sendable {
        /// A description of the fault, such as ``C resets after `C connect` ``.
        package var sentence: String
        package var bytes: [UInt8]
        /// The step of the explored script at which the fault occurs.
        package var span: SourceSpan
        /// The verb that names the kind of fault, such as `resets`.
        package var verb: String
    }

    /// The same script without the fault, to verify that the program can meet the expectations at all; `nil` if the
    /// program is a client.
    package private(set) var control: Script?
    /// The same script, executed while another client is connected and silent. If a program fails this script, the
    /// program serves only one client at a time, so a vanished client would block the next client. `nil` if the program
    /// is a client.
    package private(set) var crowdedControl: Script?
    /// The scripts that inject a fault, in the order in which they are tried.
    package private(set) var scripts: [Script] = []
    /// The reason why no fault can be injected into the scenario; `nil` if faults can be injected.
    package private(set) var obstacle: String?

    private enum Fault: CaseIterable {
        case reset, close, halfClose, silence, slowness, vanishing

        func text(_ actor: String) -> String {
            switch self {
            case .reset: "\(actor) reset\n"
            case .close: "\(actor) close\n"
            case .halfClose: "\(actor) half-close\n"
            case .silence: ""
            case .slowness: "\(actor) read 1B every 50ms\n"
            case .vanishing: "\(actor) vanish silently\n"
            }
        }

        /// Whether the connection still exists after the fault. If so, the script resets it before the next client
        /// connects.
        var mustBeReset: Bool { [.silence, .halfClose, .slowness].contains(self) }

        var verb: String {
            switch self {
            case .reset: "resets"
            case .close: "closes"
            case .halfClose: "half-closes"
            case .silence: "falls silent"
            case .slowness: "reads slowly"
            case .vanishing: "vanishes"
            }
        }
    }

    private let base: ExploredScenario
    private let patience: Duration

    /// Creates the scripts for a scenario.
    ///
    /// - Parameter patience: the time that the program may take for each step of the next client.
    package init(_ base: ExploredScenario, patience: Duration) {
        self.base = base
        self.patience = patience
        let programs = base.original.actors.filter { if case .process = $0.kind { true } else { false } }
        let endpoints = base.original.actors.filter { if case .process = $0.kind { false } else { true } }
        guard !programs.isEmpty, !endpoints.isEmpty, endpoints.allSatisfy(Self.isClientOrServer),
            let parts = Parts(base.scenario, endpoints: endpoints, programs: programs.map(\.name.value))
        else {
            obstacle =
                "--faults requires a script with a program, and with endpoints that are clients or servers; the steps "
                + "that connect or accept must be outside all blocks"
            return
        }
        let victims = endpoints.filter { parts.connection(of: $0.name.value, in: parts.body) != nil }
        let clients = victims.filter(Self.isClient)
        if let client = clients.first {
            control = Script(
                sentence: "", bytes: serverScript(parts, head: parts.body, nil), span: parts.body[0].span, verb: "")
            if parts.servers.isEmpty {
                crowdedControl = Script(
                    sentence: "", bytes: crowdedScript(parts, client.name.value), span: parts.body[0].span,
                    verb: Fault.vanishing.verb)
            }
        }
        for victim in victims { add(parts, victim, isServer: !clients.isEmpty) }
        if clients.isEmpty { addRefusal(parts, victims) }
    }

    private static func isClient(_ endpoint: ActorDeclaration) -> Bool {
        if case .client = endpoint.kind { true } else { false }
    }

    private static func isClientOrServer(_ endpoint: ActorDeclaration) -> Bool {
        switch endpoint.kind {
        case .client, .server: true
        case .process, .subject, .proxy, .crowd: false
        }
    }

    /// Adds the scripts that inject faults into the connection of an endpoint.
    private mutating func add(_ parts: Parts, _ victim: ActorDeclaration, isServer: Bool) {
        let name = victim.name.value
        // A program between a client and a server may not notice that one of them has vanished, and whether it serves
        // others meanwhile can't be found out beforehand.
        let faults = Fault.allCases.filter { $0 != .vanishing || !isServer || parts.servers.isEmpty }
        for (index, step) in parts.body.enumerated() where index > 0 {
            let head = Array(parts.body[..<index])
            guard parts.connection(of: name, in: head) != nil else { continue }
            // The next client must not be connected with a connection that a server has not accepted before the fault.
            if isServer, !parts.haveAccepted(in: head) { continue }
            let last = parts.body[index - 1]
            // In a script with one endpoint, other steps, such as waits, are places, too.
            let isPlace = parts.endpoints.count == 1 || Parts.actor(of: last) == name
            for fault in faults {
                if isPlace {
                    add(parts, head, "", (fault, name), ("after `\(shown(last))`", last.span), isServer)
                }
                for (prefix, place) in beginnings(of: step, name) {
                    add(parts, head, prefix, (fault, name), (place, step.span), isServer)
                }
            }
        }
    }

    /// Adds a script in which the client's connection is refused. It is the last script, because the other faults
    /// reveal more bugs.
    private mutating func addRefusal(_ parts: Parts, _ servers: [ActorDeclaration]) {
        guard servers.count == 1, let name = servers.first?.name.value, let program = parts.programs.first,
            parts.programs.count == 1
        else { return }
        let start = parts.setUp.firstIndex { step in
            if case .act(let actor, .process(.start), _) = step.kind { actor.value == program } else { false }
        }
        guard let start else { return }
        let script =
            header(parts, adding: [:]) + text(Array(parts.setUp[..<start])) + "\(name) stop listening\n"
            + text([parts.setUp[start]]) + look(parts) + "\(program) stop\n"
        scripts.append(
            Script(
                sentence: "\(name) refuses the connection", bytes: Array(script.utf8), span: parts.body[0].span,
                verb: "refuses"))
    }

    private mutating func add(
        _ parts: Parts, _ head: [Step], _ prefix: String, _ injected: (fault: Fault, victim: String),
        _ place: (text: String, span: SourceSpan), _ isServer: Bool
    ) {
        let injection = Injection(prefix: prefix, fault: injected.fault, victim: injected.victim)
        let bytes =
            isServer ? serverScript(parts, head: head, injection) : clientScript(parts, head: head, injection)
        let verb = injected.fault.verb
        scripts.append(
            Script(sentence: "\(injected.victim) \(verb) \(place.text)", bytes: bytes, span: place.span, verb: verb))
    }

    /// Returns truncated sends, each of which sends the step's bytes up to a different offset.
    private func beginnings(of step: Step, _ actor: String) -> [(text: String, place: String)] {
        guard let site = base.sites.first(where: { $0.step == step.id }), site.isConstant, site.actor == actor else {
            return []
        }
        var seen: Set<Int> = []
        return [1, site.length - 1, site.length / 2].filter { $0 > 0 && $0 < site.length && seen.insert($0).inserted }
            .map { count in
                let part = StreamStatements.escaped(site.bytes.prefix(count))
                return (
                    "\(actor) send \"\(part)\"\n",
                    "after \(count) of the \(site.bytes.count) bytes of `\(shown(step))`"
                )
            }
    }

    // MARK: Scripts

    /// A fault in the connection of an endpoint, after it has sent a part of its next send.
    private struct Injection {
        let prefix: String
        let fault: Fault
        let victim: String
    }

    /// The parts of a script: the steps before the first connection, the steps from there on, and the end of the
    /// programs.
    private struct Parts {
        let endpoints: [ActorDeclaration]
        let programs: [String]
        let setUp: [Step]
        let body: [Step]
        let end: [Step]

        init?(_ scenario: Scenario, endpoints: [ActorDeclaration], programs: [String]) {
            let names = endpoints.map(\.name.value)
            guard let start = scenario.steps.firstIndex(where: { step in names.contains { Self.connects(step, $0) } })
            else { return nil }
            let end = scenario.steps[start...].firstIndex { step in
                guard case .act(_, .process(let action), _) = step.kind else { return false }
                switch action {
                case .stop, .signal, .expect(.exit): return true
                case .start, .send, .expect: return false
                }
            }
            self.endpoints = endpoints
            self.programs = programs
            setUp = Array(scenario.steps[..<start])
            body = Array(scenario.steps[start..<(end ?? scenario.steps.count)])
            self.end = end.map { Array(scenario.steps[$0...]) } ?? []
        }

        var clients: [ActorDeclaration] { endpoints.filter(FaultScripts.isClient) }
        var servers: [ActorDeclaration] { endpoints.filter { !FaultScripts.isClient($0) } }

        /// Returns whether each server that accepts a connection in the script has accepted it in the given steps.
        func haveAccepted(in steps: [Step]) -> Bool {
            servers.map(\.name.value).allSatisfy {
                connection(of: $0, in: body) == nil || connection(of: $0, in: steps) != nil
            }
        }

        private static func connects(_ step: Step, _ name: String) -> Bool {
            guard case .act(let actor, let action, _) = step.kind, actor.value == name else { return false }
            switch action {
            case .client(.connect(_, .succeeds, nil)), .server(.accept(as: nil, .asDeclared, nil)): return true
            case .server, .client, .connection, .subject, .process, .proxy, .crowd: return false
            }
        }

        static func actor(of step: Step) -> String? {
            if case .act(let actor, _, _) = step.kind { actor.value } else { nil }
        }

        /// Returns the first step with which an endpoint connects or accepts; `nil` if there is none. Only steps outside
        /// of blocks count.
        func connection(of name: String, in steps: [Step]) -> Step? { steps.first { Self.connects($0, name) } }

        /// Returns whether an endpoint's connection is open after the given steps, as far as the endpoint knows.
        func isOpen(_ name: String, after steps: [Step]) -> Bool {
            guard let start = steps.lastIndex(where: { Self.connects($0, name) }) else { return false }
            return !steps[start...].contains { step in
                guard case .act(let actor, .connection(let action), _) = step.kind, actor.value == name else {
                    return false
                }
                switch action {
                case .close, .reset: return true
                default: return false
                }
            }
        }
    }

    private func text(_ step: Step) -> String {
        base.sourceText(step.span.start..<max(step.span.end, step.kind.bodies.map(\.span.end).max() ?? 0))
    }

    /// Returns the first line of a step's text.
    private func shown(_ step: Step) -> String { base.sourceText(step.span.start..<step.span.end) }

    private func text(_ steps: [Step]) -> String { steps.map { text($0) + "\n" }.joined() }

    /// Returns the text of steps with the names of endpoints replaced by others.
    private func text(_ steps: [Step], renaming names: [String: String]) -> String {
        text(steps).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indentation = line.prefix { $0 == " " || $0 == "\t" }
            var rest = String(line.dropFirst(indentation.count))
            for (old, new) in names where rest.hasPrefix("\(old) ") {
                rest = "\(new)\(rest.dropFirst(old.count))"
                break
            }
            for (old, new) in names { rest = Self.replacing("${\(old).", in: rest, with: "${\(new).") }
            return "\(indentation)\(rest)"
        }.joined(separator: "\n")
    }

    private static func replacing(_ text: String, in line: String, with other: String) -> String {
        var edits = TextEdits()
        let (bytes, wanted) = (Array(line.utf8), Array(text.utf8))
        for index in bytes.indices where bytes[index...].starts(with: wanted) {
            edits.replace(index..<(index + wanted.count), with: other)
        }
        return String(decoding: edits.applied(to: bytes), as: UTF8.self)
    }

    /// Returns the text before the first step, with added declarations that copy endpoints of the script under other
    /// names. The timeouts in the text are raised to the given patience.
    ///
    /// - Parameter names: the names of the copies, by the name of the endpoint.
    private func header(_ parts: Parts, adding names: [String: [String]]) -> String {
        let end = base.original.steps[0].span.start
        let lines = SourceLines(Array(base.bytes[..<end]))
        var edits = TextEdits()
        for (parameter, text) in base.fixedParameters {
            edits.replace(parameter.span.start..<parameter.span.end, with: text)
        }
        if patience > base.original.timeout {
            for range in lines.lines(beginningWith: "timeout") {
                edits.replace(range, with: "timeout \(DurationText.script(patience))\n")
            }
        }
        for declared in parts.endpoints {
            let copies = (names[declared.name.value] ?? []).map { name in
                "\n" + base.sourceText(declared.span.start..<declared.name.span.start) + name
                    + base.sourceText(declared.name.span.end..<declared.span.end)
            }
            if !copies.isEmpty { edits.replace(declared.span.end..<declared.span.end, with: copies.joined()) }
        }
        return String(decoding: edits.applied(to: lines.bytes), as: UTF8.self)
    }

    /// Names of copies of the script's clients, for each of several rounds.
    private struct Copies {
        /// The names in each round, by the name of the client.
        let rounds: [[String: String]]

        var added: [String: [String]] {
            Dictionary(rounds.flatMap { $0.map { ($0.key, [$0.value]) } }, uniquingKeysWith: +)
        }
    }

    private func copies(_ parts: Parts, rounds: Int) -> Copies {
        let text = String(decoding: base.bytes, as: UTF8.self)
        var unused = (1...9999).lazy.map { "Next\($0)" }.filter { !text.contains($0) }.makeIterator()
        return Copies(
            rounds: (0..<rounds).map { _ in
                var names: [String: String] = [:]
                for client in parts.clients { names[client.name.value] = unused.next() }
                return names
            })
    }

    /// Returns the names of the variables for a program's measurements.
    private func variable(_ name: String, _ program: String, _ parts: Parts) -> String {
        parts.programs.count == 1 ? name : "\(name)_\(program)"
    }

    /// Returns the steps that keep what the programs use.
    private func measured(_ parts: Parts, _ opened: String, _ used: String) -> String {
        "wait 100ms\n"
            + parts.programs.map { program in
                "\(program) expect descriptors as \(variable(opened, program, parts))\n"
                    + "\(program) expect memory as \(variable(used, program, parts))\n"
            }.joined()
    }

    /// Returns the script for a program that is a server. Two clients behave as in the original script, so that the
    /// program's allocator reaches its final size. They are followed by the client with the fault, and by another
    /// client that behaves as in the original script.
    private func serverScript(_ parts: Parts, head: [Step], _ injection: Injection?) -> [UInt8] {
        let isVanishing = if case .vanishing? = injection?.fault { true } else { false }
        let copies = copies(parts, rounds: 3 + (injection == nil ? 0 : isVanishing ? 1 : Self.repeats))
        let rounds = copies.rounds
        var script = header(parts, adding: copies.added) + text(parts.setUp)
        script += text(parts.body, renaming: rounds[0]) + text(parts.body, renaming: rounds[1])
        script += measured(parts, "opened_before", "used_before")
        if isVanishing, let injection {
            // A program can't detect that a client has vanished, so it may keep what a connected client costs.
            let connected = Injection(prefix: "", fault: .silence, victim: injection.victim)
            script += faulty(parts, head, connected, rounds[3], measured(parts, "opened_open", "used_open"))
        }
        if let injection {
            script += faulty(parts, head, injection, [:], look(parts))
        } else {
            script += text(head) + look(parts)
        }
        if let injection, !isVanishing {
            for names in rounds[3...] { script += faulty(parts, head, injection, names, "wait 50ms\n") }
        }
        script += text(parts.body, renaming: rounds[2])
        for program in parts.programs {
            let opened = variable(isVanishing ? "opened_open" : "opened_before", program, parts)
            let used = variable(isVanishing ? "used_open" : "used_before", program, parts)
            let more = isVanishing ? 1 : Self.repeats
            script += "\(program) expect descriptors <= (\(opened) + \(more))\n"
            script += "\(program) expect memory <= (\(used) + 3MiB)\n"
        }
        return Array((script + stop(parts)).utf8)
    }

    /// The number of times that a fault is repeated. A program that keeps a few descriptors for later, as the pipes of
    /// Go's runtime, does not keep more with each fault; a program with a leak does.
    private static let repeats = 2

    /// Returns the steps before a fault, the fault, and the end of all connections.
    ///
    /// - Parameters:
    ///   - names: the names that replace those of the clients.
    ///   - observation: the steps that observe the programs after the fault.
    private func faulty(
        _ parts: Parts, _ head: [Step], _ injection: Injection, _ names: [String: String], _ observation: String
    ) -> String {
        let name = names[injection.victim] ?? injection.victim
        let renamed = Injection(
            prefix: injection.prefix.isEmpty
                ? "" : "\(name)\(injection.prefix.dropFirst(injection.victim.count))", fault: injection.fault,
            victim: name)
        let others = parts.endpoints.map(\.name.value)
            .filter { $0 != injection.victim && parts.isOpen($0, after: head) }.map { names[$0] ?? $0 }
        return text(head, renaming: names) + others.map { "\($0) ignore rest\n" }.joined() + injected(renamed)
            + observation + others.map { "\($0) reset\n" }.joined()
            + (injection.fault.mustBeReset ? "\(name) reset\n" : "")
    }

    private func stop(_ parts: Parts) -> String { parts.programs.map { "\($0) stop\n" }.joined() }

    /// Returns a script with a client that connects and stays silent, and a second client that behaves as in the
    /// original script.
    private func crowdedScript(_ parts: Parts, _ client: String) -> [UInt8] {
        let copies = copies(parts, rounds: 2)
        let connection = parts.connection(of: client, in: parts.body).map { [$0] } ?? []
        let silent = copies.rounds[0][client] ?? client
        let script =
            header(parts, adding: copies.added) + text(parts.setUp)
            + text(connection, renaming: copies.rounds[0]) + text(parts.body, renaming: copies.rounds[1])
            + "\(silent) ignore rest\n\(silent) reset\n" + text(connection)
            + "\(client) ignore rest\n\(client) reset\n"
        return Array((script + stop(parts)).utf8)
    }

    /// Returns the script for a program that is a client: the steps before the fault, and the fault. After the fault,
    /// no listener accepts connections.
    private func clientScript(_ parts: Parts, head: [Step], _ injection: Injection) -> [UInt8] {
        let script =
            header(parts, adding: [:]) + text(parts.setUp) + text(head) + injection.prefix
            + parts.endpoints.map { "\($0.name.value) stop listening\n" }.joined()
            + parts.endpoints.map(\.name.value).filter { $0 != injection.victim && parts.isOpen($0, after: head) }
            .map { "\($0) ignore rest\n" }.joined()
            + injected(Injection(prefix: "", fault: injection.fault, victim: injection.victim)) + look(parts)
            + stop(parts)
        return Array(script.utf8)
    }

    private func injected(_ injection: Injection) -> String {
        injection.prefix + "\(injection.victim) ignore rest\n" + injection.fault.text(injection.victim)
    }

    /// Returns the steps that check that the idle programs use no processor time.
    private func look(_ parts: Parts) -> String {
        let (variable, programs) = ({ self.variable("spent_before", $0, parts) }, parts.programs)
        return "wait 400ms\n" + programs.map { "\($0) expect cpu as \(variable($0))\n" }.joined() + "wait 300ms\n"
            + programs.map { "\($0) expect cpu <= 50ms\n" }.joined()
    }
}
