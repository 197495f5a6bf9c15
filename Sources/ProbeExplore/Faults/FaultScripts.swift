import ProbeBase
package import ProbeScenario

/// Creates scripts that inject a fault into a connection, instead of running the remaining steps of the original
/// script.
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
        let others = base.original.actors.filter { if case .process = $0.kind { false } else { true } }
        guard programs.count == 1, others.count == 1, let program = programs.first, let endpoint = others.first,
            let parts = Parts(base.scenario, endpoint: endpoint, program: program.name.value)
        else {
            obstacle =
                "--faults requires a script with one program and one endpoint: a client that connects to the "
                + "program, or a server that accepts its connection; the step that connects or accepts must be "
                + "outside all blocks"
            return
        }
        let isServer = if case .client = endpoint.kind { true } else { false }
        if isServer {
            control = Script(
                sentence: "", bytes: serverScript(parts, head: parts.body, nil), span: parts.body[0].span, verb: "")
            crowdedControl = Script(
                sentence: "", bytes: crowdedScript(parts), span: parts.body[0].span, verb: Fault.vanishing.verb)
        }
        for (index, step) in parts.body.enumerated() where index > 0 {
            let head = Array(parts.body[..<index])
            for fault in Fault.allCases {
                add(
                    parts, head, "", fault, ("after `\(shown(parts.body[index - 1]))`", parts.body[index - 1].span),
                    isServer)
                for (prefix, place) in beginnings(of: step, endpoint.name.value) {
                    add(parts, head, prefix, fault, (place, step.span), isServer)
                }
            }
        }
        if !isServer { addRefusal(parts) }
    }

    /// Adds a script in which the client's connection is refused. It is the last script, because the other faults
    /// reveal more bugs.
    private mutating func addRefusal(_ parts: Parts) {
        let name = parts.endpoint.name.value
        let start = parts.setUp.firstIndex { step in
            if case .act(let actor, .process(.start), _) = step.kind { actor.value == parts.program } else { false }
        }
        guard let start else { return }
        let script =
            header(parts, adding: []) + text(Array(parts.setUp[..<start])) + "\(name) stop listening\n"
            + text([parts.setUp[start]]) + look(parts.program) + "\(parts.program) stop\n"
        scripts.append(
            Script(
                sentence: "\(name) refuses the connection", bytes: Array(script.utf8), span: parts.body[0].span,
                verb: "refuses"))
    }

    private mutating func add(
        _ parts: Parts, _ head: [Step], _ prefix: String, _ fault: Fault,
        _ place: (text: String, span: SourceSpan), _ isServer: Bool
    ) {
        let name = parts.endpoint.name.value
        let bytes =
            isServer
            ? serverScript(parts, head: head, (prefix, fault)) : clientScript(parts, head: head, (prefix, fault))
        scripts.append(
            Script(sentence: "\(name) \(fault.verb) \(place.text)", bytes: bytes, span: place.span, verb: fault.verb))
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

    /// The parts of a script: the steps before the connection, the steps on the connection, and the end of the program.
    private struct Parts {
        let endpoint: ActorDeclaration
        let program: String
        let setUp: [Step]
        let body: [Step]
        let end: [Step]

        init?(_ scenario: Scenario, endpoint: ActorDeclaration, program: String) {
            let start = scenario.steps.firstIndex { step in
                guard case .act(let actor, let action, _) = step.kind, actor.value == endpoint.name.value else {
                    return false
                }
                switch action {
                case .client(.connect(_, .succeeds, nil)), .server(.accept(as: nil, .asDeclared, nil)): return true
                case .server, .client, .connection, .subject, .process, .proxy, .crowd: return false
                }
            }
            guard let start else { return nil }
            let end = scenario.steps[start...].firstIndex { step in
                guard case .act(_, .process(let action), _) = step.kind else { return false }
                switch action {
                case .stop, .signal, .expect(.exit): return true
                case .start, .send, .expect: return false
                }
            }
            self.endpoint = endpoint
            self.program = program
            setUp = Array(scenario.steps[..<start])
            body = Array(scenario.steps[start..<(end ?? scenario.steps.count)])
            self.end = end.map { Array(scenario.steps[$0...]) } ?? []
        }
    }

    private func text(_ step: Step) -> String {
        base.sourceText(step.span.start..<max(step.span.end, step.kind.bodies.map(\.span.end).max() ?? 0))
    }

    /// Returns the first line of a step's text.
    private func shown(_ step: Step) -> String { base.sourceText(step.span.start..<step.span.end) }

    private func text(_ steps: [Step]) -> String { steps.map { text($0) + "\n" }.joined() }

    /// Returns the text of steps with the name of the script's endpoint replaced by another name.
    private func text(_ steps: [Step], _ old: String, as new: String) -> String {
        text(steps).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indentation = line.prefix { $0 == " " || $0 == "\t" }
            var rest = line.dropFirst(indentation.count)
            if rest.hasPrefix("\(old) ") { rest = "\(new)\(rest.dropFirst(old.count))" }
            return "\(indentation)\(Self.replacing("${\(old).", in: String(rest), with: "${\(new)."))"
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

    /// Returns the text before the first step, with added declarations that copy the script's endpoint under other
    /// names. The timeouts in the text are raised to the given patience.
    private func header(_ parts: Parts, adding names: [String]) -> String {
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
        let declared = parts.endpoint
        for name in names {
            let text =
                base.sourceText(declared.span.start..<declared.name.span.start) + name
                + base.sourceText(declared.name.span.end..<declared.span.end)
            edits.replace(declared.span.end..<declared.span.end, with: "\n\(text)")
        }
        return String(decoding: edits.applied(to: lines.bytes), as: UTF8.self)
    }

    private func unusedNames(_ count: Int) -> [String] {
        let text = String(decoding: base.bytes, as: UTF8.self)
        return Array((1...999).lazy.map { "Next\($0)" }.filter { !text.contains($0) }.prefix(count))
    }

    /// Returns the script for a program that is a server. Two clients behave as in the original script, so that the
    /// program's allocator reaches its final size. They are followed by the client with the fault, and by another
    /// client that behaves as in the original script.
    private func serverScript(_ parts: Parts, head: [Step], _ fault: (prefix: String, fault: Fault)?) -> [UInt8] {
        let (old, program) = (parts.endpoint.name.value, parts.program)
        let isVanishing = if case (_, .vanishing)? = fault { true } else { false }
        let names = unusedNames(isVanishing ? 4 : 3)
        var script = header(parts, adding: names) + text(parts.setUp)
        script += text(parts.body, old, as: names[0]) + text(parts.body, old, as: names[1])
        script +=
            "wait 100ms\n\(program) expect descriptors as opened_before\n\(program) expect memory as used_before\n"
        if isVanishing {
            // A program can't detect that a client has vanished, so it may keep what a connected client costs.
            let name = names[3]
            script += text(head, old, as: name)
            script +=
                "wait 100ms\n\(program) expect descriptors as opened_open\n\(program) expect memory as used_open\n"
            script += "\(name) ignore rest\n\(name) reset\nwait 100ms\n"
        }
        script += text(head)
        if let fault { script += injected(fault, old) }
        script += look(program)
        if let (_, fault) = fault, fault.mustBeReset { script += "\(old) reset\n" }
        script += text(parts.body, old, as: names[2])
        let (opened, used) = isVanishing ? ("(opened_open + 1)", "used_open") : ("opened_before", "used_before")
        script += "\(program) expect descriptors <= \(opened)\n\(program) expect memory <= (\(used) + 3MiB)\n"
        return Array((script + "\(program) stop\n").utf8)
    }

    /// Returns a script with a client that connects and stays silent, and a second client that behaves as in the
    /// original script.
    private func crowdedScript(_ parts: Parts) -> [UInt8] {
        let names = unusedNames(2)
        let script =
            header(parts, adding: names) + text(parts.setUp)
            + text([parts.body[0]], parts.endpoint.name.value, as: names[0])
            + text(parts.body, parts.endpoint.name.value, as: names[1]) + "\(names[0]) ignore rest\n\(names[0]) reset\n"
            + text([parts.body[0]]) + "\(parts.endpoint.name.value) ignore rest\n\(parts.endpoint.name.value) reset\n"
        return Array((script + "\(parts.program) stop\n").utf8)
    }

    /// Returns the script for a program that is a client: the steps before the fault, and the fault. After the fault,
    /// no listener accepts connections.
    private func clientScript(_ parts: Parts, head: [Step], _ fault: (prefix: String, fault: Fault)) -> [UInt8] {
        let (old, program) = (parts.endpoint.name.value, parts.program)
        let script =
            header(parts, adding: []) + text(parts.setUp) + text(head) + fault.prefix
            + "\(old) stop listening\n" + injected(("", fault.fault), old) + look(program) + "\(program) stop\n"
        return Array(script.utf8)
    }

    private func injected(_ fault: (prefix: String, fault: Fault), _ actor: String) -> String {
        fault.prefix + "\(actor) ignore rest\n" + fault.fault.text(actor)
    }

    /// Returns the steps that check that the idle program uses no processor time.
    private func look(_ program: String) -> String {
        "wait 400ms\n\(program) expect cpu as spent_before\nwait 300ms\n\(program) expect cpu <= 50ms\n"
    }
}
