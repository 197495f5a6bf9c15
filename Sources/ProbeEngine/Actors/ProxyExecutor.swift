import ProbeBase
import ProbeEvents
import ProbeNetwork
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
                .error, "\(proxy.name) has no connection yet", hints: ["`\(proxy.name) accept` takes the next one"])
        } else {
            let change = try change(action, of: proxy.name)
            if case .forward(let statement, nil, let side) = action, statement.isPlain {
                proxy.plainForwards[.init(side)] = step.id
            }
            proxy.forConnectionsToCome.append { [weak context] connection in
                do throws(Finding) { try change(connection) } catch { context?.raise(error.at(step.focus)) }
            }
        }
    }

    func act(
        _ actor: ProxiedActor, _ action: ProxyAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .accept: throw Finding(.error, "\(actor.name) is one connection of a proxy: it accepts none")
        case .expect(let expectation, let side):
            try await expect(expectation, from: ProxiedConnection.Side(side), of: actor, timing, from: time)
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish:
            actor.connection.willCut = { [weak context] _, operation in
                context?.injected.addSend(operation, at: step.span)
            }
            noteIfNothingIsLeft(action, actor, step)
            try change(action, of: actor.name)(actor.connection)
        }
    }

    /// A fault that met nothing proves nothing.
    private func noteIfNothingIsLeft(_ action: ProxyAction, _ actor: ProxiedActor, _ step: Step) {
        let side: ProxySide
        let meets: Bool
        switch action {
        case .insert(_, let to), .halfClose(let to): (side, meets) = (to, actor.connection.canSend(to: .init(to)))
        case .close(let to), .reset(let to), .vanish(let to):
            (side, meets) = (to, actor.connection.isThere(.init(to)))
        case .accept, .forward, .hold, .release, .discard, .replace, .expect: return
        }
        guard !meets else { return }
        context.note(
            Finding(
                .inconclusive, at: step.focus,
                "\(actor.name)'s connection to its \(side.rawValue) had ended: the step did nothing",
                hints: ["a step before it has ended it, or the \(side.rawValue) itself"]))
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
            if let moment { try context.judgeTime(moment, "the connection to \(actor.name)", deadline, timing, time) }
            actor.accepted += 1
            adopt(connection, of: actor, as: name)
        case .impossible(let why):
            if !why.isMissed { actor.accepted += 1 }
            throw why.finding
        }
    }

    private func adopt(_ connection: ProxiedConnection, of actor: ProxyActor, as name: Name?) {
        var owners: [ProxiedConnection.Side: ConnectionActor] = [:]
        for side in ProxiedConnection.Side.allCases {
            owners[side] = context.connections.owner(of: connection[side])
        }
        let accepted = ProxiedActor(name: name?.value ?? actor.name, connection, owners: owners)
        if let name {
            context.actors.enter(name.value, .proxied(accepted))
        } else {
            actor.plain = accepted
        }
    }

    // MARK: How bytes go on

    /// What a step does to a connection, with its values as they are now.
    private func change(
        _ action: ProxyAction, of name: String
    ) throws(Finding) -> (ProxiedConnection) throws(Finding) -> Void {
        switch action {
        case .forward(let statement, let count, let side):
            let style = try style(statement)
            let number = try count.map { (count) throws(Finding) in max(0, try context.integer(of: count)) }
            return { (connection) throws(Finding) in connection.forward(style, count: number, to: .init(side)) }
        case .hold(let side): return { (connection) throws(Finding) in connection.hold(to: .init(side)) }
        case .release(let side):
            return { (connection) throws(Finding) in
                for wanted in ProxiedConnection.Side.allCases where side.map({ .init($0) == wanted }) ?? true {
                    connection.release(to: wanted)
                }
            }
        case .discard(let side): return { (connection) throws(Finding) in connection.discard(to: .init(side)) }
        case .replace(let wanted, let replacement, let side):
            let (old, new) = (try context.bytes(of: wanted), try context.bytes(of: replacement))
            if old.isEmpty { throw Finding(.error, at: wanted.span, "nothing can't be replaced: the value is empty") }
            return { (connection) throws(Finding) in connection.replace(old, with: new, to: .init(side)) }
        case .insert(let value, let side):
            let bytes = try context.bytes(of: value)
            return { (connection) throws(Finding) in connection.insert(bytes, to: .init(side)) }
        case .close(let side): return { (connection) throws(Finding) in connection.end(.close, to: .init(side)) }
        case .halfClose(let side):
            return { (connection) throws(Finding) in connection.end(.halfClose, to: .init(side)) }
        case .reset(let side):
            return { (connection) throws(Finding) in
                if connection[.init(side)].isUnix {
                    throw Finding(
                        .error, "\(name) is connected to its \(side.rawValue) over a Unix socket: no RST there")
                }
                connection.reset(.init(side))
            }
        case .vanish(let side):
            return { (connection) throws(Finding) in
                do throws(SystemError) { try connection.vanish(.init(side)) } catch {
                    throw Finding(.error, "\(name)'s connection to its \(side.rawValue) can't vanish: \(error.reason)")
                }
            }
        case .accept, .expect: return { (_) throws(Finding) in }
        }
    }

    private func style(_ statement: ForwardStatement) throws(Finding) -> ForwardStyle {
        var style = ForwardStyle(delay: statement.delay ?? .zero, isJoined: statement.isJoined)
        switch statement.cut {
        case .inPieces(let size)?: style.cut = .inPieces(of: max(1, try context.integer(of: size)))
        case .random(let seed)?:
            style.cut = .random(seed: UInt64(bitPattern: Int64(try context.integer(of: seed))))
        case .at(let expressions)?:
            var offsets: [Int] = []
            for expression in expressions {
                let offset = try context.integer(of: expression)
                guard offset > (offsets.last ?? 0) else {
                    throw Finding(
                        .error, at: expression.span, "a cut at \(offset) is not behind the one before it",
                        hints: ["offsets rise, and begin at 1"])
                }
                offsets.append(offset)
            }
            style.cut = .at(offsets)
        case nil: break
        }
        switch statement.pace {
        case .every(let interval)?: style.pace = .every(interval)
        case .rate(let rate)?: style.pace = .rate(rate)
        case nil: break
        }
        return style
    }

    // MARK: expect

    private func expect(
        _ expectation: ConnectionExpectation, from side: ProxiedConnection.Side, of actor: ProxiedActor,
        _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        var pending = try watch(expectation, from: side, of: actor)
        let deadline = deadline(of: pending, timing, from: time)
        defer { context.actors.waits[actor.name] = nil }
        switch try await context.conclude(&pending, of: actor.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment { try context.judgeTime(moment, pending.wanted.eventName, deadline, timing, time) }
            actor.connection.watched?[side]?.drop(match.bytes)
            if !match.parts.isEmpty { actor.connection.watched?[side]?.remove(match.parts) }
            for (name, value) in match.bindings { context.bind(name, value) }
            if match.takesEnd { actor.takenEnds.insert(side) }
        case .impossible(let why):
            var finding = why.finding
            if why.isMissed, let hint = try await context.hintOfLateness(&pending, of: actor.name, after: deadline) {
                finding.hints.append(hint)
            }
            throw finding
        }
    }

    func watch(
        _ expectation: ConnectionExpectation, from side: ProxiedConnection.Side, of actor: ProxiedActor
    ) throws(Finding) -> PendingWatch {
        guard let owner = actor.owners[side] else { throw Finding(.error, "\(actor.name) has no such connection") }
        return PendingWatch(try ConnectionExecutor(context: context).resolve(expectation, owner), actor, side, owner)
    }

    func deadline(of pending: PendingWatch, _ timing: Timing, from time: MonotonicTime) -> MonotonicTime {
        ConnectionExecutor(context: context).deadline(of: pending.wanted, timing, from: time)
    }
}

extension ProxiedConnection.Side {
    init(_ side: ProxySide) {
        switch side {
        case .client: self = .client
        case .server: self = .server
        }
    }
}
