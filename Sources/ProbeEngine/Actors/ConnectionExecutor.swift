import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the actions of a connection of the harness.
struct ConnectionExecutor {
    let context: CaseContext

    func act(
        _ actor: ConnectionActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if actor.hasNoConnection, actor.isClient, let reading = try readingToCome(action, step) {
            actor.readingToCome = reading
            return
        }
        switch action {
        case .set(let option) where actor.hasNoConnection:
            actor.options.append(try context.rawOption(option))
            return
        case .framing(let framing):
            actor.framing = framing
            actor.wheneverProgress.searched = 0
            return
        case .ignoreRest:
            actor.ignoresRest = true
            return
        case .send, .expect, .close, .halfClose, .reset, .vanish, .stopReading, .resumeReading, .readSlowly, .set, .tls:
            break
        }
        guard let connection = actor.connection, connection.phase != .connecting else {
            throw Finding(
                .error, "\(actor.name) is not connected",
                hints: actor.isClient ? ["`\(actor.name) connect` comes first"] : [])
        }
        if connection.phase == .closed {
            throw Finding(.error, "\(actor.name)'s connection was closed by the script: this step has none to act on")
        }
        if connection.isUnix, let what = action.neededOfTCP {
            throw Finding(
                .error, "\(actor.name) is connected over a Unix socket, and that has no \(what)",
                hints: what == "reset" ? ["`\(actor.name) close` ends it; an RST needs TCP"] : [])
        }
        if actor.opening != nil {
            try await WebSocketExecutor(context: context).finishOpening(
                actor, connection, context.deadline(timing, from: time), from: time)
        }
        switch action {
        case .send(let statement):
            try await send(statement, actor, connection, step, from: time)
        case .expect(let expectation):
            let taken = try await expect(expectation, actor, connection, timing, from: time)
            context.settings.observe?(StepObservation(step: step.id, actor: actor.name, event: .took(taken)))
        case .close:
            try await close(actor, connection, step, notifies: true)
        case .tls(.closeWithoutNotify):
            try await close(actor, connection, step, notifies: false)
        case .tls(let action):
            try await TLSExecutor(context: context).act(actor, connection, action, timing, step, from: time)
        case .halfClose:
            try refuseUntaken(connection, actor, "half-close")
            try await notify(actor, connection)
            do throws(SystemError) {
                context.annotations.add(step, "\(actor.name) half-close", .fin(connection))
                try connection.halfClose()
            } catch {
                throw Finding(.failed, "\(actor.name) can't half-close: \(error.reason)")
            }
        case .reset:
            context.annotations.add(step, "\(actor.name) reset", .rst(connection))
            actor.wasReset = true
            connection.abort()
        case .vanish(let silently):
            try await vanish(
                actor, connection, silently: silently, step, context.deadline(timing, from: time), from: time)
        case .stopReading:
            connection.setReading(.stopped)
            context.injected.addStop(connection, of: context.connections.owner(of: connection), at: step.span)
        case .resumeReading:
            connection.setReading(.atOnce)
        case .readSlowly(let count, let interval):
            connection.setReading(.slowly(bytes: max(1, try context.integer(of: count)), every: interval))
        case .set(let option):
            let raw = try context.rawOption(option)
            do throws(SystemError) {
                try connection.set(raw)
            } catch {
                throw Finding(.error, "the socket option can't be set: \(error.reason)")
            }
        case .framing, .ignoreRest: break
        }
    }

    /// What a step says of connections to come; nil where it says nothing of reading.
    func readingToCome(_ action: ConnectionAction, _ step: Step) throws(Finding) -> ReadingToCome? {
        switch action {
        case .stopReading: ReadingToCome(.stopped, stop: step.span)
        case .resumeReading: ReadingToCome()
        case .readSlowly(let count, let interval):
            ReadingToCome(.slowly(bytes: max(1, try context.integer(of: count)), every: interval))
        case .send, .expect, .close, .halfClose, .reset, .vanish, .set, .ignoreRest, .framing, .tls: nil
        }
    }

    // MARK: send

    private func send(
        _ statement: SendStatement, _ actor: ConnectionActor, _ connection: Connection, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        let pieces = try await pieces(of: statement, actor, connection, step)
        if connection.tls == nil {
            context.settings.observe?(StepObservation(step: step.id, actor: actor.name, event: .sent(pieces)))
        }
        if connection.isHalfClosed { throw Finding(.error, "\(actor.name) has half-closed: it can send no more") }
        if statement.carriesFIN, connection.tls != nil {
            throw Finding(
                .error, "\(actor.name)'s connection has TLS: a close_notify comes before its FIN",
                hints: ["`\(actor.name) half-close` behind the send sends both"])
        }
        let operation = SendOperation(
            pieces: pieces, pace: statement.pace, isUrgent: statement.mode == .urgent, now: .now,
            carriesFIN: statement.carriesFIN)
        context.injected.addSend(operation, at: step.span)
        connection.send(operation)
        context.annotations.addSend(step, actor.name, connection, operation)
        if statement.inBackground {
            actor.background = operation
            return
        }
        try await finish(operation, actor, connection)
    }

    /// What leaves as segments of its own.
    private func pieces(
        of statement: SendStatement, _ actor: ConnectionActor, _ connection: Connection, _ step: Step
    ) async throws(Finding) -> [[UInt8]] {
        if connection.tls != nil, statement.mode == .bytes || statement.mode == .line {
            return try await TLSExecutor(context: context).sealedPieces(of: statement, actor, connection, step)
        }
        if connection.tls == nil, statement.mode == .plaintext || statement.recordLength != nil {
            throw Finding(.error, "\(actor.name)'s connection has no TLS that this send could be about")
        }
        return try context.evaluator(actor.framing, isClient: actor.isClient).sentPieces(of: statement)
    }

    /// Waits until the kernel has taken it all; the deadline counts only time without progress.
    func finish(
        _ operation: SendOperation, _ actor: ConnectionActor, _ connection: Connection
    ) async throws(Finding) {
        let wanted = ResolvedConnectionExpectation.sent(
            count: operation.bytes.count, patience: context.time.patience)
        var pending = PendingConnectionExpectation(wanted, actor, connection, send: operation)
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

    private func close(
        _ actor: ConnectionActor, _ connection: Connection, _ step: Step, notifies: Bool
    ) async throws(Finding) {
        try refuseUntaken(connection, actor, "close")
        try refuseUnread(connection.unreadAtClose, actor)
        if notifies { try await notify(actor, connection) }
        context.annotations.add(step, "\(actor.name) close", .fin(connection))
        try refuseUnread(connection.close(), actor)
    }

    /// close_notify, where TLS is up, and the peer can still be told.
    private func notify(_ actor: ConnectionActor, _ connection: Connection) async throws(Finding) {
        guard let operation = try await TLSExecutor(context: context).notification(of: actor, connection) else {
            return
        }
        // A peer that is gone needs no close_notify: the end that follows says the same.
        do throws(Finding) { try await finish(operation, actor, connection) } catch  where error.verdict == .failed {}
    }

    private func refuseUnread(_ unread: Int, _ actor: ConnectionActor) throws(Finding) {
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
