import ProbeBase

/// Checks crowds: their declarations, and what steps say of them as a whole.
struct CrowdChecker {
    let names: NameScope

    private var context: ParseContext { names.context }

    // MARK: The header

    func check(_ crowd: CrowdDeclaration, of actor: ActorDeclaration, _ values: ValueChecker) {
        values.requireInteger(crowd.count, "the number of members", 1, CrowdDeclaration.most)
        if let size = crowd.receiveBuffer { values.requireInteger(size, "the buffer", 1, 1 << 30) }
        guard case .clients(let target) = crowd.role else { return }
        switch target {
        case .address(let address):
            if address.unix != nil { report(.overUnix(actor.name.value), at: address.span) }
        case .actor(let other):
            guard let known = names.state.actors[other.value] else { return }
            if known.isUnix || listensOnUnix(other.value) { report(.overUnix(actor.name.value), at: other.span) }
            guard known.kind == .server else { return }
            if let tls = actor.tls {
                report(.tlsToServer(other.value), at: tls.span)
            } else if known.tls != nil {
                report(.serverWithTLS(other.value), at: other.span)
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
            if known.life == .running { reportOrder(.startedTwice(name.value), at: step.focus) }
            setLife(of: name, .running)
            MemberChecker(names: names, target: names.targets[name.value]).check(script)
        case .stop:
            if known.life == .stopped { reportOrder(.stoppedTwice(name.value), at: step.focus) }
            requireStarted(name, known)
            setLife(of: name, .stopped)
        case .expect(let expectation):
            requireStarted(name, known)
            check(expectation, of: name, step)
        }
    }

    /// A step that needs a crowd which was started, if it runs now or not.
    private func requireStarted(_ name: Name, _ known: ScriptState.Actor) {
        guard known.life == .idle else { return }
        reportOrder(.notStarted(name.value), at: name.span)
        setLife(of: name, .unknown)
    }

    /// A client connects: nobody listens before a crowd of servers is started.
    func requireListening(_ target: Target?, from client: Name) {
        guard case .actor(let name) = target, let known = names.state.actors[name.value], known.kind == .crowd,
            known.life == .idle
        else { return }
        reportOrder(.notListening(name.value, client: client.value), at: client.span)
    }

    private func setLife(of name: Name, _ life: ScriptState.Actor.Life) {
        guard var actor = names.state.actors[name.value] else { return }
        actor.life = life
        names.state.set(name.value, actor)
    }

    private func check(_ expectation: CrowdExpectation, of name: Name, _ step: Step) {
        let scripts = names.collected.scriptsOfCrowds[name.value] ?? []
        switch expectation {
        case .count(let count, let comparison, let number):
            guard case .integer(let wanted) = names.constants.fold(number) else { return }
            // What is less than 0 has been reported as a value.
            if wanted == 0, comparison.holdsForAnyCount(wanted) {
                report(.alwaysHolds(name.value, count), at: number.span)
            }
            let least: Int? =
                switch comparison {
                case .equal, .greaterOrEqual: wanted
                case .greater: wanted + 1
                case .notEqual, .less, .lessOrEqual: nil
                }
            guard let least, least > 0 else { return }
            if let members = members(of: name.value), least > members {
                report(.tooFew(name.value, members: members), at: number.span)
            }
            if count == .done, !scripts.isEmpty, scripts.allSatisfy({ $0.statements.contains { $0.kind.isEndless } }) {
                report(.neverDone(name.value), at: step.focus)
            }
        case .latency(_, _, _, let what):
            let isMeasured = scripts.contains { $0.all.contains { CrowdLatency($0.kind) == what } }
            if !scripts.isEmpty, !isMeasured { report(.notMeasured(name.value, what), at: step.focus) }
        }
    }

    /// How many the crowd has; nil where that differs between the cases.
    private func members(of name: String) -> Int? {
        for actor in context.scenario.actors where actor.name.value == name {
            if case .crowd(let crowd) = actor.kind, case .integer(let count) = names.constants.fold(crowd.count) {
                return count
            }
        }
        return nil
    }

    /// At the end of the timeline: crowds that something connects to or names, and that no step is about.
    func reportNeverStarted() {
        for actor in context.scenario.actors where actor.span.file == 0 {
            let name = actor.name.value
            guard case .crowd = actor.kind, !names.unusedActors.contains(name), !names.isDoubtful(name),
                !names.collected.crowdsOfSteps.contains(name)
            else { continue }
            report(.neverStarted(name), at: actor.name.span)
        }
    }

    private func report(_ kind: CrowdDiagnosticKind, at span: SourceSpan) { names.report(.crowd(kind), at: span) }

    private func reportOrder(_ kind: CrowdDiagnosticKind, at span: SourceSpan) {
        if !names.place.isOrderUnknown { report(kind, at: span) }
    }
}
