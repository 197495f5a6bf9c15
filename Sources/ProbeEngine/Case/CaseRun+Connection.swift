import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    func act(
        _ actor: ConnectionActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .set(let option) where actor.connection == nil || actor.connection?.phase == .closed:
            actor.options.append(try rawOption(option))
            return
        case .framing(let framing):
            actor.framing = framing
            actor.wheneverSearched = 0
            return
        case .ignoreRest:
            actor.ignoresRest = true
            return
        case .send, .expect, .close, .halfClose, .reset, .stopReading, .resumeReading, .readSlowly, .set: break
        }
        guard let connection = actor.connection, connection.phase != .connecting else {
            throw Finding(
                .error, "\(actor.name) is not connected",
                hints: actor.isClient ? ["`\(actor.name) connect` comes first"] : [])
        }
        if connection.phase == .closed {
            throw Finding(.error, "\(actor.name)'s connection was closed by the script: this step has none to act on")
        }
        switch action {
        case .send(let statement):
            try await send(statement, actor, connection, step, from: time)
        case .expect(let expectation):
            try await expect(expectation, actor, connection, timing, from: time)
        case .close:
            try close(actor, connection, step)
        case .halfClose:
            try refuseUntaken(connection, actor, "half-close")
            do throws(SystemError) {
                mark(step, "\(actor.name) half-close", .fin(connection))
                try connection.halfClose()
            } catch {
                throw Finding(.failed, "\(actor.name) can't half-close: \(error.reason)")
            }
        case .reset:
            mark(step, "\(actor.name) reset", .rst(connection))
            actor.wasReset = true
            connection.abort()
        case .stopReading:
            connection.setReading(.stopped)
            stoppedReading(connection, step)
        case .resumeReading:
            connection.setReading(.atOnce)
        case .readSlowly(let count, let interval):
            connection.setReading(.slowly(bytes: max(1, try integer(of: count)), every: interval))
        case .set(let option):
            let raw = try rawOption(option)
            do throws(SystemError) {
                try connection.set(raw)
            } catch {
                throw Finding(.error, "the socket option can't be set: \(error.reason)")
            }
        case .framing, .ignoreRest: break
        }
    }

    // MARK: connect

    func connect(
        _ actor: ConnectionActor, to address: AddressExpression?, _ outcome: ClientAction.ConnectOutcome,
        _ timing: Timing,
        _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let old = actor.connection, old.phase == .open || old.phase == .connecting {
            throw Finding(.error, "\(actor.name) is connected already", hints: ["`\(actor.name) close` comes first"])
        }
        let destination: SocketAddress
        if let address {
            destination = try self.address(of: address)
        } else if case .client(let target?) = actor.role {
            destination = try self.address(of: target, for: actor.name)
        } else {
            throw Finding(.error, "\(actor.name) has no address to connect to")
        }
        let deadline = deadline(timing, from: time)
        waits[actor.name] = "a connection to \(destination)"
        defer { waits[actor.name] = nil }
        let connection: Connection
        do throws(SystemError) {
            connection = try Connection(
                connectingTo: destination, reactor: reactor, options: actor.options,
                willConnect: { wire.claimClient($0, to: destination) })
        } catch {
            throw Finding(.error, "\(actor.name) can't connect to \(destination): \(error)")
        }
        adopt(connection, for: actor)
        actor.wasReset = false
        mark(step, "\(actor.name) connect", .syn(connection))
        let _: Bool? = try await wait(until: deadline, from: time) { () throws(Finding) -> Bool? in
            connection.phase == .connecting ? nil : true
        }
        // Where the machine was late, an answer may have come that nobody has looked at: silence has to be the peer's.
        connection.lookAtConnecting()
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
                try judgeTime(openedAt, "the connection", deadline, timing, time)
            }
        case (.refused, .connectFailed(let error)) where error.code == ECONNREFUSED:
            try judgeTime(connection.failedAt ?? .now, "the refusal", deadline, timing, time)
        case (.timesOut, .connecting):
            connection.abort()
        case (.timesOut, _) where try !isAnsweredInTime(connection, destination, deadline, from: time):
            connection.abort()
        case (_, .connectFailed(let error)):
            let refused = error.code == ECONNREFUSED
            var hints: [String] = []
            if refused, case .client(.actor(let name)) = actor.role, case .process(let process) = actors[name.value] {
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

    /// Whether the answer came before the deadline until which there was to be none.
    private func isAnsweredInTime(
        _ connection: Connection, _ destination: SocketAddress, _ deadline: MonotonicTime, from time: MonotonicTime
    ) throws(Finding) -> Bool {
        guard let moment = connection.openedAt ?? connection.failedAt else { return true }
        return try breaksSilence("\(destination) answered", at: moment, from: time, to: deadline)
    }

    // MARK: send

    private func send(
        _ statement: SendStatement, _ actor: ConnectionActor, _ connection: Connection, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        let pieces = try pieces(of: statement, framing: actor.framing)
        let pace: Transmission.Pace =
            switch statement.pace {
            case nil: .atOnce
            case .every(let interval): .every(interval)
            case .rate(let rate): .rate(rate)
            }
        if connection.isHalfClosed { throw Finding(.error, "\(actor.name) has half-closed: it can send no more") }
        let transmission = Transmission(pieces: pieces, pace: pace, isUrgent: statement.mode == .urgent, now: .now)
        if transmission.isCut { sendSpans[ObjectIdentifier(transmission)] = step.span }
        connection.send(transmission)
        markSend(step, actor.name, connection, transmission)
        if statement.inBackground {
            actor.background = transmission
            return
        }
        try await finish(transmission, actor, connection)
    }

    /// Waits until the kernel has taken it all; the deadline counts only time without progress.
    private func finish(
        _ transmission: Transmission, _ actor: ConnectionActor, _ connection: Connection
    ) async throws(Finding) {
        let wanted = ResolvedConnectionExpectation.sent(
            count: transmission.bytes.count, patience: context.time.patience)
        var pending = PendingConnectionExpectation(wanted, actor, connection, send: transmission)
        defer { context.actors.waits[actor.name] = nil }
        let conclusion = try await context.conclude(&pending, of: actor.name, from: .now, until: .distantFuture)
        if case .impossible(let why) = conclusion { throw why.finding }
    }

    // MARK: close

    /// What has not left can't be behind a FIN: it would be dropped without a word.
    private func refuseUntaken(_ connection: Connection, _ actor: ConnectionActor, _ verb: String) throws(Finding) {
        if connection.untaken == 0 { return }
        throw Finding(
            .error,
            "\(connection.untaken) bytes of a send under way have not been taken by the kernel: `\(verb)` would drop them",
            hints: ["`\(actor.name) expect sent` waits for it; `\(actor.name) reset` drops it on purpose"])
    }

    private func close(_ actor: ConnectionActor, _ connection: Connection, _ step: Step) throws(Finding) {
        try refuseUntaken(connection, actor, "close")
        mark(step, "\(actor.name) close", .fin(connection))
        let unread = connection.close()
        if unread > 0 {
            throw Finding(
                .error,
                "\(unread) bytes lie unread in the kernel (reading is stopped): closing would send RST, not FIN",
                hints: [
                    "`\(actor.name) resume reading` and an `expect` take them; `\(actor.name) reset` sends the RST on purpose"
                ])
        }
    }
}
