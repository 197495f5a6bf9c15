import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// Runs the actions of a proxy and of its connections.
struct ProxyExecutor {
    let context: CaseContext

    func act(
        _ proxy: ProxyActor, _ action: ProxyAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if case .accept(let name) = action {
            try await accept(proxy, as: name, timing, from: time)
        } else if let connection = proxy.plain {
            try await act(connection, action, timing, step, from: time)
        } else if case .expect = action {
            throw Finding(
                .error, "\(proxy.name) has no connection yet", hints: ["add `\(proxy.name) accept` before this step"])
        } else {
            let number = context.conditions.number()
            let change = try change(action, of: proxy.name, by: number)
            context.conditions.add(at: step.span, isOptional: step.isOptional) {
                [text = context.text(of: step.span)] in
                ProxyCondition(action: change.action, number: number, text: text, name: proxy.name)
                    .shortfall(of: proxy.proxy?.connections ?? [])
            }
            if case .forward(let statement, nil, let side) = action, statement.isPlain {
                proxy.plainForwards[side] = step.id
            }
            proxy.effectsOnNewConnections.append { [weak context] connection in
                do throws(Finding) { try change.apply(connection) } catch { context?.raise(error.at(step.focus)) }
            }
        }
    }

    func act(
        _ actor: ProxiedActor, _ action: ProxyAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .accept: throw Finding(.error, "\(actor.name) is a connection of a proxy and can't accept connections")
        case .expect(let expectation, let side):
            try await expect(expectation, from: side, of: actor, timing, from: time)
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish:
            actor.connection.willCut = { [weak context] _, operation in
                context?.injected.addSend(operation, at: step.span)
            }
            let number = context.conditions.number()
            let change = try change(action, of: actor.name, by: number)
            context.conditions.add(at: step.span, isOptional: step.isOptional) {
                [text = context.text(of: step.span)] in
                ProxyCondition(action: change.action, number: number, text: text, name: actor.name)
                    .shortfall(of: [actor.connection])
            }
            try change.apply(actor.connection)
        }
    }

    // MARK: accept

    private func accept(
        _ actor: ProxyActor, as name: Name?, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = context.deadline(timing, from: time)
        var pending = PendingProxyAccept(actor)
        defer { context.actors.waits[actor.name] = nil }
        switch try await context.conclude(&pending, of: actor.name, from: time, until: deadline) {
        case .satisfied(let connection, let moment):
            if let moment {
                try context.requireTiming(moment, "the connection to \(actor.name)", deadline, timing, time)
            }
            actor.accepted += 1
            adopt(connection, of: actor, as: name)
        case .impossible(let why):
            if !why.isMissed { actor.accepted += 1 }
            throw why.finding
        }
    }

    private func adopt(_ connection: ProxiedConnection, of actor: ProxyActor, as name: Name?) {
        var owners: [ConversationSide: ConnectionActor] = [:]
        for side in ConversationSide.allCases {
            owners[side] = context.connections.owner(of: connection[side])
        }
        let accepted = ProxiedActor(name: name?.value ?? actor.name, connection, owners: owners)
        if let name {
            context.actors.enter(name.value, .proxied(accepted))
        } else {
            actor.plain = accepted
        }
    }

    // MARK: Forwarding

    /// The effect of a step on a connection, with the current values of its expressions.
    private struct Change {
        var action: ProxyCondition.Action
        var apply: (ProxiedConnection) throws(Finding) -> Void
    }

    /// Returns the change that a step makes to a connection.
    ///
    /// - Parameter number: the number of the condition that the change satisfies.
    private func change(_ action: ProxyAction, of name: String, by number: Int) throws(Finding) -> Change {
        switch action {
        case .forward(let statement, let count, let side):
            let style = try style(statement)
            let count = try count.map { (count) throws(Finding) in try context.integer(of: count) }
            return Change(action: .forward(style, count: count, side)) { (connection) throws(Finding) in
                connection.forward(style, count: count, to: side, by: number)
            }
        case .hold(let side):
            return Change(action: .hold(side)) { (connection) throws(Finding) in
                connection.hold(to: side, by: number)
            }
        case .release(let side):
            let sides = side.map { [$0] } ?? ConversationSide.allCases
            return Change(action: .release(sides)) { (connection) throws(Finding) in
                for wanted in sides { connection.release(to: wanted, by: number) }
            }
        case .discard(let side):
            return Change(action: .discard(side)) { (connection) throws(Finding) in
                connection.discard(to: side, by: number)
            }
        case .replace(let wanted, let replacement, let side):
            let (old, new) = (try context.bytes(of: wanted), try context.bytes(of: replacement))
            if old.isEmpty { throw Finding(.error, at: wanted.span, "an empty value can't be replaced") }
            if old == new {
                throw Finding(
                    .error, at: wanted.span, "the replacement is equal to the value that it replaces")
            }
            return Change(action: .replace(side)) { (connection) throws(Finding) in
                connection.replace(old, with: new, to: side, by: number)
            }
        case .insert(let value, let side):
            let bytes = try context.bytes(of: value)
            return Change(action: .acts(side)) { (connection) throws(Finding) in
                connection.insert(bytes, to: side, by: number)
            }
        case .close(let side): return end(.close, to: side, by: number)
        case .halfClose(let side): return end(.halfClose, to: side, by: number)
        case .reset(let side):
            return Change(action: .acts(side)) { (connection) throws(Finding) in
                if connection[side].isUnix {
                    throw Finding(
                        .error, "\(name) is connected to its \(side.word) over a Unix socket, which has no RST")
                }
                connection.reset(side, by: number)
            }
        case .vanish(let side):
            return Change(action: .acts(side)) { (connection) throws(Finding) in
                do throws(SystemError) { try connection.vanish(side, by: number) } catch {
                    throw Finding(.error, "\(name)'s connection to its \(side.word) can't vanish: \(error.reason)")
                }
            }
        case .accept, .expect: throw Finding(.error, "\(name) can't run this step")
        }
    }

    private func end(_ end: ForwardEnd, to side: ConversationSide, by number: Int) -> Change {
        Change(action: .acts(side)) { (connection) throws(Finding) in connection.end(end, to: side, by: number) }
    }

    private func style(_ statement: ForwardStyle<Parsed>) throws(Finding) -> ForwardStyle<Resolved> {
        let style: ForwardStyle<Resolved>
        do throws(EvaluationError) { style = try context.evaluator().style(of: statement) } catch {
            throw Finding(error)
        }
        if case .at(let offsets)? = style.cut, case .at(let expressions)? = statement.cut {
            var last = 0
            for (offset, expression) in zip(offsets, expressions) {
                guard offset > last else {
                    throw Finding(
                        .error, at: expression.span, "the cut at \(offset) is not after the previous cut",
                        hints: ["list the offsets in ascending order, starting at 1 or later"])
                }
                last = offset
            }
        }
        return style
    }

    // MARK: expect

    private func expect(
        _ expectation: ConnectionExpectation<Parsed>, from side: ConversationSide, of actor: ProxiedActor,
        _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        var pending = try watch(expectation, from: side, of: actor)
        let deadline = deadline(of: pending, timing, from: time)
        defer { context.actors.waits[actor.name] = nil }
        switch try await context.conclude(&pending, of: actor.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment { try context.requireTiming(moment, pending.expectation.eventName, deadline, timing, time) }
            actor.connection.watched?[side]?.drop(match.bytes)
            if !match.parts.isEmpty { actor.connection.watched?[side]?.remove(match.parts) }
            for (name, value) in match.bindings { context.bind(name, value) }
            if match.consumesEnd { actor.consumedEnds.insert(side) }
        case .impossible(let why):
            var finding = why.finding
            if why.isMissed, let hint = try await context.latenessHint(&pending, of: actor.name, after: deadline) {
                finding.hints.append(hint)
            }
            throw finding
        }
    }

    func watch(
        _ expectation: ConnectionExpectation<Parsed>, from side: ConversationSide, of actor: ProxiedActor
    ) throws(Finding) -> PendingWatch {
        guard let owner = actor.owners[side] else {
            throw Finding(
                .error,
                "\(actor.name) has no connection to its \(side.word)")
        }
        return PendingWatch(try ConnectionExecutor(context: context).resolve(expectation, owner), actor, side, owner)
    }

    func deadline(of pending: PendingWatch, _ timing: Timing, from time: MonotonicTime) -> MonotonicTime {
        ConnectionExecutor(context: context).deadline(of: pending.expectation, timing, from: time)
    }
}
