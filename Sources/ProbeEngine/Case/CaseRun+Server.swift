import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    func act(
        _ server: ServerActor, _ action: ServerAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .accept(let name):
            try await accept(server, as: name, timing, step, from: time)
        case .listen:
            if server.listener != nil { throw Finding(.error, "\(server.name) listens already") }
            try listen(server)
        case .stopListening:
            guard let listener = server.listener else { throw Finding(.error, "\(server.name) does not listen") }
            if hasWaiting(server) {
                throw Finding(
                    .failed,
                    "a connection waits at \(server.name) (port \(listener.address.port)) that no step accepted: "
                        + "`stop listening` would reset it")
            }
            listener.stopWatching(on: reactor)
            server.listener = nil
        case .expect(.noConnection(let duration)):
            try await expectNoConnection(server, for: duration, from: time)
        }
    }

    /// After a plain `accept` the server's name is that connection's.
    func act(
        _ server: ServerActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let connection = server.plain {
            try await act(connection, action, timing, step, from: time)
        } else if case .set(let option) = action {
            server.connectionOptions.append(try rawOption(option))
        } else {
            throw Finding(
                .error, "\(server.name) has no connection yet",
                hints: ["`\(server.name) accept` takes one; `accept as A` names it A instead"])
        }
    }

    private func accept(
        _ server: ServerActor, as name: Name?, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        guard server.listener != nil else { throw Finding(.error, "\(server.name) does not listen") }
        let deadline = deadline(timing, from: time)
        waits[server.name] = "a connection on port \(server.address?.port ?? 0)"
        defer { waits[server.name] = nil }
        let accepted = try await wait(until: deadline, from: time) { () throws(Finding) -> Connection? in
            try takeConnection(server)
        }
        guard let accepted else { throw try await missedConnection(server, deadline, time) }
        if let openedAt = accepted.openedAt {
            let isExact = timing.after != nil && hasOwnPeer(accepted)
            try judgeTime(
                openedAt, "the connection to \(server.name)", deadline, timing, time, isExact: isExact)
        }
        let owner = ConnectionActor(
            name: name?.value ?? server.name, role: .accepted(server: server.name), framing: scenario.framing)
        adopt(accepted, for: owner)
        if let name {
            context.actors.enter(name.value, .connection(owner))
        } else {
            server.plain = owner
        }
        mark(step, "\(server.name) accept", .handshake(accepted))
    }

    /// Accepts the next connection if one waits; watches for the next one if none does.
    private func takeConnection(_ server: ServerActor) throws(Finding) -> Connection? {
        guard let listener = server.listener else { return nil }
        do throws(SystemError) {
            guard let socket = try nextSocket(server, listener) else {
                try watch(listener)
                return nil
            }
            listener.stopWatching(on: reactor)
            return try Connection(accepted: socket, reactor: reactor, options: server.connectionOptions)
        } catch {
            throw Finding(.error, "\(server.name) can't accept: \(error)")
        }
    }

    private func missedConnection(
        _ server: ServerActor, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) -> Finding {
        var hints: [String] = []
        for case .server(let other) in actors.values where other !== server && hasWaiting(other) {
            hints.append(
                "another server got the connection: one waits at \(other.name) (port \(other.address?.port ?? 0))")
        }
        // Listen on a little: late is another thing than never.
        let late = try await wait(until: max(deadline, .now) + lateness) { () throws(Finding) -> Connection? in
            try takeConnection(server)
        }
        if let openedAt = late?.openedAt {
            hints.append("a connection came \(DurationText.script(openedAt - deadline)) after the deadline")
        }
        server.listener?.stopWatching(on: reactor)
        return Finding(
            .failed, "no connection came to \(server.name) within \(DurationText.script(deadline - start))",
            hints: hints)
    }

    private func expectNoConnection(
        _ server: ServerActor, for duration: Duration, from begun: MonotonicTime
    ) async throws(Finding) {
        guard let listener = server.listener else { throw Finding(.error, "\(server.name) does not listen") }
        waits[server.name] = "no connection for \(DurationText.script(duration))"
        defer {
            waits[server.name] = nil
            listener.stopWatching(on: reactor)
        }
        let came = try await wait(until: begun + duration, from: begun) { () throws(Finding) -> MonotonicTime? in
            try isPending(server) ? .now : nil
        }
        let what = "a connection came to \(server.name)"
        if let came, try breaksSilence(what, at: came, from: begun, to: begun + duration) {
            throw Finding(
                .failed,
                "\(what) \(DurationText.script(came - begun)) after the step began"
            )
        }
    }

    /// Takes a connection into the case: its changes ring the bell, its end is in the timeline, the last look sees it.
    func adopt(_ connection: Connection, for owner: ConnectionActor) {
        context.connections.add(connection, for: owner)
        StepContext.attempt?.add(connection)
        let changes = changes
        let identity = ObjectIdentifier(owner)
        connection.onChange = { [weak self] in
            changes.notifyAll()
            self?.assumeIsolated { run in
                guard let owner = run.connections.last(where: { ObjectIdentifier($0.owner) == identity })?.owner else {
                    return
                }
                if owner.connection?.hasOverflowed == true { run.raise(run.overflow(of: owner)) }
                run.serveWhenevers(of: owner)
            }
        }
    }
}
