import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs a client's only action, which is to connect. All later actions are actions of the connection.
struct ClientExecutor {
    let context: CaseContext

    func act(
        _ client: ConnectionActor, _ action: ClientAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .connect(let address, let outcome, let path):
            try await connect(client, to: address, outcome, timing, step, from: time)
            guard let path, let connection = client.connection else { return }
            try await WebSocketExecutor(context: context).ask(
                for: path, client, connection, step, context.deadline(timing, from: time), from: time)
        }
    }

    private func connect(
        _ actor: ConnectionActor, to address: AddressExpression?, _ outcome: ClientAction.ConnectOutcome,
        _ timing: Timing,
        _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let old = actor.connection, old.phase == .open || old.phase == .connecting {
            throw Finding(
                .error, "\(actor.name) is already connected", hints: ["add `\(actor.name) close` before this step"])
        }
        let destination: SocketAddress
        if let address {
            destination = try AddressResolver(context: context).address(of: address)
        } else if case .client(let target?) = actor.role {
            destination = try AddressResolver(context: context).address(of: target, for: actor.name)
        } else {
            throw Finding(.error, "\(actor.name) has no address to connect to")
        }
        let deadline = context.deadline(timing, from: time)
        context.actors.waits[actor.name] = "a connection to \(destination)"
        defer { context.actors.waits[actor.name] = nil }
        let tls = tls(of: actor, outcome)
        let connection: Connection
        do throws(SystemError) {
            connection = try context.links.inNetwork(of: actor.name) { () throws(SystemError) in
                try Connection(
                    connectingTo: destination, reactor: context.reactor, options: actor.options,
                    // With TLS, a reading mode that steps have set applies only after the handshake.
                    reading: tls == nil ? actor.initialReading.mode : .atOnce,
                    willConnect: { context.capture.addClient($0, to: destination) })
            }
        } catch {
            throw Finding(
                .error, "\(actor.name) can't connect to \(destination): \(error)", details: error.resourcesLeft,
                hints: error.advice)
        }
        let earlier = actor.connection
        context.adopt(connection, for: actor)
        actor.initialReading.note(connection, of: actor, in: context)
        context.annotations.add(step, "\(actor.name) connect", .syn(connection))
        let _: Bool? = try await context.wait(until: deadline, from: time) { () throws(Finding) -> Bool? in
            connection.phase == .connecting ? nil : true
        }
        // If the machine stalled, the peer's answer may have arrived unnoticed. Check for the answer, because only the
        // peer's own silence counts as a timeout.
        connection.checkConnecting()
        try evaluateConnect(connection, actor, destination, outcome, timing, deadline, from: time)
        guard let tls, connection.isOpen else { return }
        _ = try TLSSetup(context: context).begin(
            tls.actor, on: connection, of: actor.name, isServer: false, earlier: earlier)
        try await TLSHandshakes(context: context).finish(
            tls.outcome, on: connection, actor, timing, deadline, from: time)
        if actor.initialReading.mode != .atOnce { connection.setReading(actor.initialReading.mode) }
    }

    /// Returns the client's TLS settings and the expected outcome of the handshake; `nil` without TLS.
    private func tls(
        of actor: ConnectionActor, _ outcome: ClientAction.ConnectOutcome
    ) -> (actor: CaseTLS.Actor, outcome: TLSOutcome)? {
        guard let tls = context.tls.actors[actor.name] else { return nil }
        return switch outcome {
        case .succeeds: (tls, .succeeds)
        case .tlsFails(let alert): (tls, .fails(alert: alert))
        case .refused, .timesOut, .withoutTLS: nil
        }
    }

    private func evaluateConnect(
        _ connection: Connection, _ actor: ConnectionActor, _ destination: SocketAddress,
        _ outcome: ClientAction.ConnectOutcome, _ timing: Timing, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) throws(Finding) {
        if case .connectFailed(let error) = connection.phase, MachineFaults.isCause(error, of: connection) {
            throw Finding(
                .error, "\(actor.name) can't connect to \(destination): \(error.reason)", details: error.resourcesLeft,
                hints: error.advice)
        }
        switch (outcome, connection.phase) {
        // With TLS, the time at which the handshake ended is judged instead of the time at which the connection was
        // opened.
        case (.succeeds, .open) where context.tls.actors[actor.name] != nil, (.tlsFails, .open): break
        case (.succeeds, .open), (.withoutTLS, .open):
            if let openedAt = connection.openedAt {
                try context.requireTiming(openedAt, "the connection", deadline, timing, time)
            }
        case (.refused, .connectFailed(let error)) where isRefusal(error, destination):
            try context.requireTiming(connection.failedAt ?? .now, "the refusal", deadline, timing, time)
        case (.timesOut, .connecting):
            connection.abort()
        case (.timesOut, _) where try !isAnsweredInTime(connection, destination, deadline, from: time):
            connection.abort()
        case (_, .connectFailed(let error)):
            let refused = isRefusal(error, destination)
            var hints: [String] = []
            if refused, case .client(.actor(let name)) = actor.role,
                case .process(let process) = context.actors[name.value]
            {
                if process.child == nil {
                    hints.append("add `\(name.value) start` before this step: \(name.value) has not been started")
                } else if ProcessObserver.unreachablePlaces(process).isEmpty {
                    hints.append(
                        "add `\(name.value) expect listening` before this step: nothing listens on its port "
                            + "yet")
                }
            } else if refused {
                hints.append("start a server before this step: nothing listens on \(destination)")
            }
            throw Finding(
                .failed,
                outcome.isTimeout
                    ? "\(destination) answered (\(error.reason)), but was expected not to answer"
                    : "\(actor.name) could not connect to \(destination): \(error.reason)", hints: hints)
        case (_, .connecting):
            connection.abort()
            throw Finding(
                .failed,
                "\(destination) did not answer \(actor.name)'s SYN within \(DurationText.script(deadline - time))",
                hints: [
                    "accept the listener's connections, or give the listener a larger backlog: its queue may be full"
                ])
        case (.refused, _), (.timesOut, _):
            connection.abort()
            throw Finding(
                .failed,
                "\(destination) accepted the connection, but was expected "
                    + (outcome.isTimeout ? "not to answer" : "to refuse the connection"))
        case (.succeeds, .closed), (.withoutTLS, .closed), (.tlsFails, .closed):
            throw Finding(.error, "\(actor.name)'s connection was closed before it was established")
        }
    }

    /// Returns whether an error means that nothing listens at the destination. A missing socket file of a Unix socket
    /// also counts as such an error.
    private func isRefusal(_ error: SystemError, _ destination: SocketAddress) -> Bool {
        error.code == ECONNREFUSED || destination.isUnix && error.code == ENOENT
    }

    /// Returns whether the peer answered within the period in which the step expects no answer.
    private func isAnsweredInTime(
        _ connection: Connection, _ destination: SocketAddress, _ deadline: MonotonicTime, from time: MonotonicTime
    ) throws(Finding) -> Bool {
        guard let moment = connection.openedAt ?? connection.failedAt else { return true }
        return try context.breaksSilence("\(destination) answered", at: moment, from: time, to: deadline)
    }
}

extension ClientAction.ConnectOutcome {
    fileprivate var isTimeout: Bool { if case .timesOut = self { true } else { false } }
}
