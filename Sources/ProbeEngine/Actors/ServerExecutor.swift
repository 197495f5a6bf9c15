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
        case .accept(let name, let mode, let opening):
            let (owner, connection, deadline) = try await accept(server, as: name, mode, timing, step, from: time)
            guard let opening else { return }
            try await WebSocketExecutor(context: context).answer(
                opening, owner, connection, step, deadline, from: time)
        case .listen:
            if server.listener != nil { throw Finding(.error, "\(server.name) is already listening") }
            try ServerSetup(context: context).listen(server)
            try await CrowdSinks(context: context).beginAgain(at: server)
        case .stopListening:
            try stopListening(server, or: "`stop listening` would reset it")
            try await CrowdSinks(context: context).stopListening(at: server)
        case .reboot:
            try stopListening(server, or: "`reboot` would drop it")
            try endConnections(of: server)
            await CrowdSinks(context: context).end(at: server)
            try ServerSetup(context: context).listen(server)
            try await CrowdSinks(context: context).beginAgain(at: server)
        case .expect(.noConnection(let duration)):
            try await expectNoConnection(server, for: duration, from: time)
        }
    }

    /// Stops listening.
    ///
    /// - Parameter consequence: what would happen to a waiting connection, for the message.
    private func stopListening(_ server: ServerActor, or consequence: String) throws(Finding) {
        guard let listener = server.listener else { throw Finding(.error, "\(server.name) is not listening") }
        if context.hasWaiting(server) {
            throw Finding(
                .failed,
                "\(server.name) (\(server.place)) has a waiting connection that no step accepted: \(consequence)")
        }
        listener.stopWatching(on: context.reactor)
        server.listener = nil
    }

    /// Ends all connections that the server has accepted, without a FIN or an RST.
    private func endConnections(of server: ServerActor) throws(Finding) {
        for (owner, connection) in context.connections.entries where connection.isOpen {
            guard case .accepted(server.name) = owner.role else { continue }
            do throws(SystemError) { try Vanishing(of: connection).end() } catch {
                throw Finding(.error, "\(owner.name)'s connection can't vanish: \(error.reason)")
            }
        }
    }

    /// Runs an action of the connection that the server's name refers to after a plain `accept`.
    func act(
        _ server: ServerActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if server.plain?.hasNoConnection ?? true,
            let reading = try ConnectionExecutor(context: context).initialReading(action, step)
        {
            server.initialReading = reading
        } else if let connection = server.plain {
            try await ConnectionExecutor(context: context).act(connection, action, timing, step, from: time)
        } else if case .set(let option) = action {
            server.connectionOptions.append(try context.rawOption(option))
        } else {
            throw Finding(
                .error, "\(server.name) has no connection yet",
                hints: ["add `\(server.name) accept`, or `\(server.name) accept as A` to name the connection A"])
        }
    }

    private func accept(
        _ server: ServerActor, as name: Name?, _ mode: ServerAction.AcceptMode, _ timing: Timing, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) -> (owner: ConnectionActor, Connection, deadline: MonotonicTime) {
        let deadline = context.deadline(timing, from: time)
        var pending = PendingServerExpectation(.connection, server, context)
        defer { context.actors.waits[server.name] = nil }
        while true {
            switch try await context.conclude(&pending, of: server.name, from: time, until: deadline) {
            case .satisfied:
                // The peer may have reset the connection while it was waiting to be accepted.
                guard let accepted = try takeConnection(server) else { continue }
                accepted.endSniffing()
                let outcome = outcome(of: mode, server)
                if outcome == nil, let openedAt = accepted.openedAt {
                    let isExact = timing.after != nil && context.connections.hasOwnPeer(accepted)
                    try context.requireTiming(
                        openedAt, "the connection to \(server.name)", deadline, timing, time, isExact: isExact)
                }
                let owner = adopt(accepted, of: server, as: name)
                context.annotations.add(step, "\(server.name) accept", .handshake(accepted))
                if let outcome {
                    let handshakes = TLSHandshakes(context: context)
                    try handshakes.beginLate(on: accepted, of: server)
                    try await handshakes.finish(outcome, on: accepted, owner, timing, deadline, from: time)
                    if server.initialReading.mode != .atOnce { accepted.setReading(server.initialReading.mode) }
                }
                return (owner, accepted, deadline)
            case .impossible(let why):
                throw why.isMissed ? try await explain(why.finding, server, deadline) : why.finding
            }
        }
    }

    /// Returns the expected outcome of the TLS handshake; `nil` if there is no handshake.
    private func outcome(of mode: ServerAction.AcceptMode, _ server: ServerActor) -> TLSOutcome? {
        switch mode {
        case .asDeclared: context.tls.actors[server.name] == nil ? nil : .succeeds
        case .withoutTLS: nil
        case .tlsFails(let alert): .fails(alert: alert)
        }
    }

    private func adopt(_ accepted: Connection, of server: ServerActor, as name: Name?) -> ConnectionActor {
        let owner = ConnectionActor(
            name: name?.value ?? server.name, role: .accepted(server: server.name), framing: context.scenario.framing)
        // No event has been delivered since the connection was taken, so nothing has been read from it yet. With TLS,
        // the reading mode applies only after the handshake.
        if server.initialReading.mode != .atOnce, accepted.tls == nil {
            accepted.setReading(server.initialReading.mode)
        }
        context.adopt(accepted, for: owner)
        server.initialReading.note(accepted, of: owner, in: context)
        if let name {
            context.actors.enter(name.value, .connection(owner))
        } else {
            server.plain = owner
        }
        return owner
    }

    private func takeConnection(_ server: ServerActor) throws(Finding) -> Connection? {
        guard let listener = server.listener else { return nil }
        do throws(SystemError) {
            guard let connection = try context.nextConnection(server, listener) else { return nil }
            context.stopWatching(server)
            return connection
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
                "a connection is waiting on another server: \(other.name) (\(other.place))")
        }
        // Keep waiting briefly, to distinguish a late connection from one that never arrives.
        let now = MonotonicTime.now
        var pending = PendingServerExpectation(.connection, server, context)
        let late = try await context.conclude(
            &pending, of: server.name, from: now, until: max(deadline, now) + CaseTime.lateness)
        if case .satisfied = late, let openedAt = try takeConnection(server)?.openedAt {
            finding.details.append(
                "a connection arrived \(DurationText.script(openedAt - deadline)) after the deadline")
        }
        context.stopWatching(server)
        return finding
    }

    private func expectNoConnection(
        _ server: ServerActor, for duration: Duration, from time: MonotonicTime
    ) async throws(Finding) {
        var pending = PendingServerExpectation(.noConnection(for: duration), server, context)
        defer {
            context.actors.waits[server.name] = nil
            context.stopWatching(server)
        }
        if case .impossible(let why) = try await context.conclude(
            &pending, of: server.name, from: time, until: time + duration)
        {
            throw why.finding
        }
    }
}
