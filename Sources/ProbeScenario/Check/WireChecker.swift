/// Checks wire statements: their values, and whether the connections to which they refer can exist.
struct WireChecker {
    let names: NameScope
    let values: ValueChecker
    /// Whether the statements apply to a capture of links, without the script that declares the links.
    var hasGivenLinks = false

    func check(_ statement: WireStatement<Parsed>, _ timing: Timing, _ step: Step) {
        if timing.after != nil, let reason = TimingClauses.wire.after.refusal {
            names.report(.afterNotHere(reason), at: names.context.sources.clause("after", of: step))
        }
        if case .arrived = statement, !hasGivenLinks {
            LinkChecker(names: names, values: values).checkArrived(statement)
        }
        switch statement.subject {
        case .connection(let from, let to?): checkEnds(from, to)
        case .connection(let name, nil): checkEnd(name, statement)
        case .every: break
        }
        for value in statement.values { values.check(value, step) }
        if case .every = statement.subject { checkConnectionExists(step) }
    }

    // MARK: Which connection

    /// Checks both ends of one connection.
    private func checkEnds(_ from: Name, _ to: Name) {
        if from.value == to.value {
            names.report(
                .nothingOnTheWire, "`\(from.value)` has no connection to itself",
                hint: "name the two ends of one connection", at: to.span)
            return
        }
        guard let left = names.actor(from), let right = names.actor(to), !names.place.isOrderUnknown else { return }
        for (name, known) in [(from, left), (to, right)] where known.kind == .crowd { return reportCrowd(name) }
        if !mayConnect(from.value, left, to.value, right) {
            names.report(
                .nothingOnTheWire, "there is no connection between `\(from.value)` and `\(to.value)`",
                hint: "name the two ends of one connection", at: from.span.joined(with: to.span))
            return
        }
        // An end that has had exactly one connection identifies that connection.
        for (name, known) in [(from, left), (to, right)] where known.kind == .client || known.kind == .subject {
            if known.connections == 0, !known.mayHaveMore, !names.isDoubtful(name.value) {
                names.report(.neverConnected(name.value), at: name.span)
                return
            }
        }
        let isClear = [left, right].contains {
            switch $0.kind {
            case .connection: true
            // A proxy's own name refers to all of its connections; a name from `accept as` refers to a single
            // connection.
            case .proxy: $0.parent != nil
            case .process: false
            default: $0.connections == 1
            }
        }
        for (name, known) in [(from, left), (to, right)] where !isClear && known.connections > 1 {
            reportAmbiguous(name, known)
            return
        }
    }

    private func checkEnd(_ name: Name, _ statement: WireStatement<Parsed>) {
        guard let known = names.actor(name), !names.place.isOrderUnknown, !names.isDoubtful(name.value) else { return }
        switch known.kind {
        case .client, .subject:
            if known.connections == 0, !known.mayHaveMore {
                names.report(.neverConnected(name.value), at: name.span)
            } else if known.connections > 1 {
                reportAmbiguous(name, known)
            }
        case .server:
            if known.connections > 1, known.link == .none { reportAmbiguous(name, known) }
            if known.connections == 0, !known.mayHaveMore, !isReached(name.value) {
                names.report(.neverConnected(name.value), at: name.span)
            }
        case .crowd: reportCrowd(name)
        case .proxy:
            names.report(
                .twoEnds(name.value, statement.spelling, others: neighbours(name.value)), at: name.span)
        default: break
        }
    }

    /// Returns the actors on both sides of a proxy: the actors that connect to the proxy, and the actor that the proxy
    /// connects to.
    private func neighbours(_ proxy: String) -> [String] {
        let clients = names.targets.compactMap { name, target -> String? in
            if case .actor(let next) = target, next.value == proxy { name } else { nil }
        }.sorted()
        guard case .actor(let next)? = names.targets[proxy] else { return clients }
        return clients + [next.value]
    }

    private func reportCrowd(_ name: Name) {
        names.report(
            .notAnActor, "`\(name.value)` is a crowd, whose packets are not captured",
            hint: "write wire statements about a client that the script runs alongside the crowd", at: name.span)
    }

    private func reportAmbiguous(_ name: Name, _ known: ScriptState.Actor) {
        // In a loop, the name may refer to a different connection in each iteration.
        guard !names.place.isSecondPass, !known.mayHaveMore else { return }
        names.report(
            .ambiguousConnection,
            "`\(name.value)` has had \(known.connections) connections, and it is unclear which one is meant",
            hint: "name each connection with `accept as`, and use its name in this statement", at: name.span)
    }

    /// Returns whether a client, a subject or a process may have connected to this server, whether or not the
    /// connection was accepted.
    private func isReached(_ server: String) -> Bool {
        names.state.actors.contains { name, actor in
            switch actor.kind {
            case .client, .subject:
                guard actor.connections > 0 || actor.mayHaveMore else { return false }
                if case .actor(let target) = names.targets[name] { return target.value == server }
                return true
            case .process, .proxy: return true
            default: return false
            }
        }
    }

    private func mayConnect(_ left: String, _ a: ScriptState.Actor, _ right: String, _ b: ScriptState.Actor) -> Bool {
        let isLeftActive = isActive(left, a)
        let isRightActive = isActive(right, b)
        if [a.kind, b.kind].contains(where: { $0 == .process || $0 == .proxy }) { return true }
        if isLeftActive == isRightActive { return false }
        let (active, passive, passiveName) = isLeftActive ? (left, b, right) : (right, a, left)
        guard case .actor(let target) = names.targets[active] else { return true }
        if let known = names.state.actors[target.value], known.kind == .process { return false }
        return target.value == passiveName || passive.parent == target.value
    }

    /// Returns whether the actor opens connections.
    private func isActive(_ name: String, _ actor: ScriptState.Actor) -> Bool {
        actor.kind == .client || actor.kind == .subject && actor.parent == nil && names.targets[name] != nil
    }

    /// Checks that there has been a connection, for a statement that names no actor and therefore refers to every
    /// connection so far.
    private func checkConnectionExists(_ step: Step) {
        guard !names.place.isOrderUnknown, names.context.doubtful.isEmpty else { return }
        let hasAny = names.state.actors.values.contains { actor in
            switch actor.kind {
            case .process: actor.lifecycle != .idle
            case .proxy: true
            default: actor.connections > 0 || actor.mayHaveMore
            }
        }
        if !hasAny {
            names.report(
                .nothingOnTheWire, "there is no connection before this step, so this step would check nothing",
                hint: "move this step after the `connect`, `accept` or `start`", at: step.span)
        }
    }
}

extension Diagnostic.Message {
    static func neverConnected(_ actor: String) -> Self {
        Self(
            .nothingOnTheWire, "`\(actor)` has had no connection before this step, so nothing is on the wire",
            hint: "move the step after its `connect`, `accept` or `start`")
    }

    /// The message for a wire statement that names a proxy but not the other end of the connection. `others` contains
    /// the actors on both sides of the proxy.
    static func twoEnds(_ proxy: String, _ what: String, others: [String]) -> Self {
        Self(
            .ambiguousConnection,
            "`\(proxy)` is a proxy with a connection on each side, and it is unclear which one is meant",
            hint: what == "closed by"
                ? "state which FIN is meant: \(ends("fin from", proxy, others))"
                : "name the other end: \(ends(what, proxy, others))")
    }

    /// Returns the end of a hint, such as "`wire rst from X to C` or `wire rst from X to S`".
    private static func ends(_ what: String, _ proxy: String, _ others: [String]) -> String {
        (others.isEmpty ? ["S"] : others.prefix(3)).map { "`wire \(what) \(proxy) to \($0)`" }.joined(separator: " or ")
    }
}
