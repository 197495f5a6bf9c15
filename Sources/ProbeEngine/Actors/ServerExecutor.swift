import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the actions of a server.
struct ServerExecutor {
    let context: CaseContext

    func act(
        _ server: ServerActor, _ action: ServerAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .accept(let name):
            try await accept(server, as: name, timing, step, from: time)
        case .listen:
            if server.listener != nil { throw Finding(.error, "\(server.name) listens already") }
            try ServerSetup(context: context).listen(server)
        case .stopListening:
            guard let listener = server.listener else { throw Finding(.error, "\(server.name) does not listen") }
            if context.hasWaiting(server) {
                throw Finding(
                    .failed,
                    "a connection waits at \(server.name) (\(server.place)) that no step accepted: "
                        + "`stop listening` would reset it")
            }
            listener.stopWatching(on: context.reactor)
            server.listener = nil
        case .expect(.noConnection(let duration)):
            try await expectNoConnection(server, for: duration, from: time)
        }
    }

    /// After a plain `accept` the server's name is that connection's.
    func act(
        _ server: ServerActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if server.plain?.hasNoConnection ?? true,
            let reading = try ConnectionExecutor(context: context).readingToCome(action, step)
        {
            server.readingToCome = reading
        } else if let connection = server.plain {
            try await ConnectionExecutor(context: context).act(connection, action, timing, step, from: time)
        } else if case .set(let option) = action {
            server.connectionOptions.append(try context.rawOption(option))
        } else {
            throw Finding(
                .error, "\(server.name) has no connection yet",
                hints: ["`\(server.name) accept` takes one; `accept as A` names it A instead"])
        }
    }

    private func accept(
        _ server: ServerActor, as name: Name?, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = context.deadline(timing, from: time)
        var pending = PendingServerExpectation(.connection, server, context)
        defer { context.actors.waits[server.name] = nil }
        while true {
            switch try await context.conclude(&pending, of: server.name, from: time, until: deadline) {
            case .satisfied:
                // The peer may have taken it back meanwhile.
                guard let accepted = try takeConnection(server) else { continue }
                if let openedAt = accepted.openedAt {
                    let isExact = timing.after != nil && context.connections.hasOwnPeer(accepted)
                    try context.judgeTime(
                        openedAt, "the connection to \(server.name)", deadline, timing, time, isExact: isExact)
                }
                adopt(accepted, of: server, as: name)
                context.annotations.add(step, "\(server.name) accept", .handshake(accepted))
                return
            case .impossible(let why):
                throw why.isMissed ? try await explain(why.finding, server, deadline) : why.finding
            }
        }
    }

    private func adopt(_ accepted: Connection, of server: ServerActor, as name: Name?) {
        let owner = ConnectionActor(
            name: name?.value ?? server.name, role: .accepted(server: server.name), framing: context.scenario.framing)
        // No event was delivered since it was taken, so nothing has been read of it.
        if server.readingToCome.mode != .atOnce { accepted.setReading(server.readingToCome.mode) }
        context.adopt(accepted, for: owner)
        server.readingToCome.note(accepted, of: owner, in: context)
        if let name {
            context.actors.enter(name.value, .connection(owner))
        } else {
            server.plain = owner
        }
    }

    private func takeConnection(_ server: ServerActor) throws(Finding) -> Connection? {
        guard let listener = server.listener else { return nil }
        do throws(SystemError) {
            guard let socket = try context.nextSocket(server, listener) else { return nil }
            listener.stopWatching(on: context.reactor)
            return try Connection(accepted: socket, reactor: context.reactor, options: server.connectionOptions)
        } catch {
            throw Finding(.error, "\(server.name) can't accept: \(error)")
        }
    }

    private func explain(
        _ missed: Finding, _ server: ServerActor, _ deadline: MonotonicTime
    ) async throws(Finding) -> Finding {
        var finding = missed
        for case .server(let other) in context.actors.values where other !== server && context.hasWaiting(other) {
            finding.hints.append(
                "another server got the connection: one waits at \(other.name) (\(other.place))")
        }
        // Listen on a little: late is another thing than never.
        let now = MonotonicTime.now
        var pending = PendingServerExpectation(.connection, server, context)
        let late = try await context.conclude(
            &pending, of: server.name, from: now, until: max(deadline, now) + CaseTime.lateness)
        if case .satisfied = late, let openedAt = try takeConnection(server)?.openedAt {
            finding.hints.append("a connection came \(DurationText.script(openedAt - deadline)) after the deadline")
        }
        server.listener?.stopWatching(on: context.reactor)
        return finding
    }

    private func expectNoConnection(
        _ server: ServerActor, for duration: Duration, from time: MonotonicTime
    ) async throws(Finding) {
        var pending = PendingServerExpectation(.noConnection(for: duration), server, context)
        defer {
            context.actors.waits[server.name] = nil
            server.listener?.stopWatching(on: context.reactor)
        }
        if case .impossible(let why) = try await context.conclude(
            &pending, of: server.name, from: time, until: time + duration)
        {
            throw why.finding
        }
    }
}
