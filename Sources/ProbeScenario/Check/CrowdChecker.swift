import ProbeBase

/// Checks crowds: their declarations, and the steps that act on a whole crowd.
struct CrowdChecker {
    let names: NameScope

    private var context: ParseContext { names.context }

    // MARK: The header

    func check(_ crowd: CrowdDeclaration, of actor: ActorDeclaration, _ values: ValueChecker) {
        values.requireInteger(crowd.count, "the number of members", 1, CrowdDeclaration.most)
        if let size = crowd.receiveBuffer { values.requireInteger(size, "the buffer size", 1, 1 << 30) }
        guard case .clients(let target) = crowd.role else { return }
        switch target {
        case .address(let address):
            if address.unix != nil { names.report(.overUnix(actor.name.value), at: address.span) }
        case .actor(let other):
            guard let known = names.state.actors[other.value] else { return }
            if known.isUnix || listensOnUnix(other.value) {
                names.report(.overUnix(actor.name.value), at: other.span)
            }
            guard known.kind == .server else { return }
            if let tls = actor.tls {
                names.report(
                    .crowdScript,
                    "`\(other.value)` is one of the script's servers, which discard what a crowd sends and perform no TLS handshake",
                    hint: "remove `tls`, or connect the crowd to a process", at: tls.span)
            } else if known.tls != nil {
                names.report(
                    .crowdScript,
                    "`\(other.value)` is declared with `tls`, but it accepts a crowd's connections without TLS",
                    hint: "connect the crowd to a server without `tls`, or to a process", at: other.span)
            }
        }
    }

    private func listensOnUnix(_ name: String) -> Bool {
        context.scenario.actors.contains { actor in
            guard actor.name.value == name, case .subject(nil, let options) = actor.kind else { return false }
            return options.local?.unix != nil
        }
    }

    // MARK: Steps

    func follow(_ name: Name, _ known: ScriptState.Actor, _ action: Action, _ step: Step) {
        guard case .crowd(let action) = action else { return }
        switch action {
        case .start(_, let script):
            if known.lifecycle == .running {
                names.reportOrder(
                    .alreadyRunning, "`\(name.value)` is already running",
                    hint: "add `\(name.value) stop` before this step", at: step.focus)
            }
            setLifecycle(of: name, .running)
            MemberChecker(names: names, target: names.targets[name.value]).check(script)
        case .stop:
            if known.lifecycle == .stopped {
                names.reportOrder(
                    .notRunning, "`\(name.value)` is no longer running",
                    hint: "add `\(name.value) start { … }` before this step", at: step.focus)
            }
            requireStarted(name, known)
            setLifecycle(of: name, .stopped)
        case .expect(let expectation):
            requireStarted(name, known)
            check(expectation, of: name, step)
        }
    }

    /// Requires that the crowd has been started; it may have been stopped since.
    private func requireStarted(_ name: Name, _ known: ScriptState.Actor) {
        guard known.lifecycle == .idle else { return }
        names.reportOrder(
            .notRunning, "`\(name.value)` has not been started",
            hint: "add `\(name.value) start { … }`, with the members' script, before this step", at: name.span)
        setLifecycle(of: name, .unknown)
    }

    /// Requires that a crowd of servers has been started before a client connects to it. Until then, the crowd does not
    /// listen.
    func requireListening(_ target: Target?, from client: Name) {
        guard case .actor(let name) = target, let known = names.state.actors[name.value], known.kind == .crowd,
            known.lifecycle == .idle
        else { return }
        names.reportOrder(
            .notRunning,
            "`\(client.value)` connects to `\(name.value)`, which has not been started and is not listening yet",
            hint: "add `\(name.value) start { … }` before this step", at: client.span)
    }

    private func setLifecycle(of name: Name, _ lifecycle: ScriptState.Actor.Lifecycle) {
        guard var actor = names.state.actors[name.value] else { return }
        actor.lifecycle = lifecycle
        names.state.set(name.value, actor)
    }

    private func check(_ expectation: CrowdExpectation, of name: Name, _ step: Step) {
        let scripts = names.collected.scriptsOfCrowds[name.value] ?? []
        switch expectation {
        case .count(let count, let comparison, let number):
            guard case .integer(let wanted) = names.constants.fold(number) else { return }
            // A negative number has already been reported as an error.
            if wanted == 0, comparison.holdsForAnyCount(wanted) {
                names.report(
                    .outOfRange,
                    "this comparison is always true: `\(count.rawValue)` of `\(name.value)` is never less than 0",
                    hint:
                        "write `\(name.value) expect \(count.rawValue) == 0` if the number must be 0, or write the "
                        + "required number",
                    at: number.span)
            }
            let least: Int? =
                switch comparison {
                case .equal, .greaterOrEqual: wanted
                case .greater: wanted + 1
                case .notEqual, .less, .lessOrEqual: nil
                }
            guard let least, least > 0 else { return }
            if let members = members(of: name.value), least > members {
                names.report(
                    .outOfRange,
                    "this comparison is never true: `\(name.value)` has only \(counted(members, "member"))",
                    hint: "expect at most \(members), or declare `crowd \(name.value)` with more members",
                    at: number.span)
            }
            if count == .done, !scripts.isEmpty, scripts.allSatisfy({ $0.statements.contains { $0.kind.isEndless } }) {
                names.report(
                    .crowdScript,
                    "the members of `\(name.value)` are never done: their script runs until the crowd stops",
                    hint: "expect `alive` or `connected` instead", at: step.focus)
            }
        case .latency(_, _, _, let what):
            let isMeasured = scripts.contains { $0.all.contains { MemberWait($0.kind) == what } }
            if !scripts.isEmpty, !isMeasured { names.report(.notMeasured(name.value, what), at: step.focus) }
        }
    }

    /// Returns the number of members of a crowd; `nil` if the number can differ between cases.
    private func members(of name: String) -> Int? {
        for actor in context.scenario.actors where actor.name.value == name {
            if case .crowd(let crowd) = actor.kind, case .integer(let count) = names.constants.fold(crowd.count) {
                return count
            }
        }
        return nil
    }

    /// Reports crowds that are used but never started. Called at the end of the timeline.
    func reportNeverStarted() {
        for actor in context.scenario.actors where actor.span.file == 0 {
            let name = actor.name.value
            guard case .crowd = actor.kind, !names.unusedActors.contains(name), !names.isDoubtful(name),
                !names.collected.crowdsOfSteps.contains(name)
            else { continue }
            names.report(
                .notRunning, "`\(name)` is never started, so its members do nothing",
                hint: "add `\(name) start { … }` with the members' script", at: actor.name.span)
        }
    }
}

extension Diagnostic.Message {
    static func overUnix(_ name: String) -> Self {
        Self(
            .notAnActor, "`\(name)` is a crowd, and crowds connect over TCP only",
            hint: "connect the crowd to a TCP address, such as `server S on 127.0.0.1`")
    }

    static func notMeasured(_ name: String, _ what: MemberWait) -> Self {
        Self(
            .crowdScript, "the members of `\(name)` never wait for `\(what.rawValue)`, so there is nothing to measure",
            hint: "add `\(Self.example(of: what))` to the members' script, or measure a wait that the script contains")
    }

    private static func example(of latency: MemberWait) -> String {
        switch latency {
        case .connect: "connect"
        case .line: "expect line"
        case .bytes: "expect 10 bytes"
        case .until: "expect until \"x\""
        case .eof: "expect eof"
        }
    }
}
