import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the actions of a client: it connects. What it does then are the actions of a connection.
struct ClientExecutor {
    let context: CaseContext

    func act(
        _ client: ConnectionActor, _ action: ClientAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .connect(let address, let outcome):
            try await connect(client, to: address, outcome, timing, step, from: time)
        }
    }

    private func connect(
        _ actor: ConnectionActor, to address: AddressExpression?, _ outcome: ClientAction.ConnectOutcome,
        _ timing: Timing,
        _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let old = actor.connection, old.phase == .open || old.phase == .connecting {
            throw Finding(.error, "\(actor.name) is connected already", hints: ["`\(actor.name) close` comes first"])
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
        let connection: Connection
        do throws(SystemError) {
            connection = try Connection(
                connectingTo: destination, reactor: context.reactor, options: actor.options,
                reading: actor.readingToCome.mode,
                willConnect: { context.capture.addClient($0, to: destination) })
        } catch {
            throw Finding(.error, "\(actor.name) can't connect to \(destination): \(error)")
        }
        context.adopt(connection, for: actor)
        actor.readingToCome.note(connection, of: actor, in: context)
        actor.wasReset = false
        context.annotations.add(step, "\(actor.name) connect", .syn(connection))
        let _: Bool? = try await context.wait(until: deadline, from: time) { () throws(Finding) -> Bool? in
            connection.phase == .connecting ? nil : true
        }
        // Where the machine was late, an answer may have come that nobody has looked at: silence has to be the peer's.
        connection.checkConnecting()
        try judgeConnect(connection, actor, destination, outcome, timing, deadline, from: time)
    }

    private func judgeConnect(
        _ connection: Connection, _ actor: ConnectionActor, _ destination: SocketAddress,
        _ outcome: ClientAction.ConnectOutcome, _ timing: Timing, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) throws(Finding) {
        switch (outcome, connection.phase) {
        case (.succeeds, .open):
            if let openedAt = connection.openedAt {
                try context.judgeTime(openedAt, "the connection", deadline, timing, time)
            }
        case (.refused, .connectFailed(let error)) where isRefusal(error, destination):
            try context.judgeTime(connection.failedAt ?? .now, "the refusal", deadline, timing, time)
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
                hints.append(
                    process.child == nil
                        ? "\(name.value) has not been started: `\(name.value) start`"
                        : "nothing listens there yet: `\(name.value) expect listening` waits for it")
            } else if refused {
                hints.append("nothing listens on \(destination)")
            }
            throw Finding(
                .failed,
                outcome == .timesOut
                    ? "\(destination) answered (\(error.reason)) where no answer was expected"
                    : "\(actor.name) could not connect to \(destination): \(error.reason)", hints: hints)
        case (_, .connecting):
            connection.abort()
            throw Finding(
                .failed,
                "\(destination) did not answer \(actor.name)'s SYN within \(DurationText.script(deadline - time))",
                hints: ["a full backlog looks like this: the listener must accept, or have a larger backlog"])
        case (.refused, _), (.timesOut, _):
            connection.abort()
            throw Finding(
                .failed,
                "\(destination) accepted the connection where it was expected "
                    + (outcome == .refused ? "to refuse it" : "not to answer"))
        case (.succeeds, .closed):
            throw Finding(.error, "\(actor.name)'s connection was closed while it connected")
        }
    }

    /// Whether nobody listens there. A Unix socket may have gone with its listener.
    private func isRefusal(_ error: SystemError, _ destination: SocketAddress) -> Bool {
        error.code == ECONNREFUSED || destination.isUnix && error.code == ENOENT
    }

    /// Whether the answer came before the deadline until which there was to be none.
    private func isAnsweredInTime(
        _ connection: Connection, _ destination: SocketAddress, _ deadline: MonotonicTime, from time: MonotonicTime
    ) throws(Finding) -> Bool {
        guard let moment = connection.openedAt ?? connection.failedAt else { return true }
        return try context.breaksSilence("\(destination) answered", at: moment, from: time, to: deadline)
    }
}
