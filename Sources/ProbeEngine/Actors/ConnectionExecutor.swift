import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the actions of one of the harness's connections.
struct ConnectionExecutor {
    let context: CaseContext

    func act(
        _ actor: ConnectionActor, _ action: ConnectionAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if actor.hasNoConnection, actor.isClient, let reading = try initialReading(action, step) {
            actor.initialReading = reading
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
                hints: actor.isClient ? ["add `\(actor.name) connect` before this step"] : [])
        }
        if connection.phase == .closed {
            throw Finding(.error, "\(actor.name)'s connection was already closed by the script")
        }
        if connection.isUnix, let what = action.tcpOnlyFeature {
            throw Finding(
                .error, "\(actor.name) is connected over a Unix socket, which has no \(what)",
                hints: what == "reset" ? ["use `\(actor.name) close` to end the connection: an RST requires TCP"] : [])
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
            try refuseUnacceptedBytes(connection, actor, "half-close")
            try await notify(actor, connection)
            do throws(SystemError) {
                context.annotations.add(step, "\(actor.name) half-close", .fin(connection))
                try connection.halfClose()
            } catch {
                throw Finding(.failed, "\(actor.name) can't half-close: \(error.reason)")
            }
        case .reset:
            context.annotations.add(step, "\(actor.name) reset", .rst(connection))
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

    /// Returns the reading mode that an action sets for future connections; `nil` if the action doesn't concern
    /// reading.
    func initialReading(_ action: ConnectionAction, _ step: Step) throws(Finding) -> InitialReading? {
        switch action {
        case .stopReading: InitialReading(.stopped, stop: step.span)
        case .resumeReading: InitialReading()
        case .readSlowly(let count, let interval):
            InitialReading(.slowly(bytes: max(1, try context.integer(of: count)), every: interval))
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
        if connection.isHalfClosed {
            throw Finding(.error, "\(actor.name) has half-closed its connection and can no longer send")
        }
        if statement.carriesFIN, connection.tls != nil {
            throw Finding(
                .error, "\(actor.name)'s connection uses TLS, which sends a close_notify before the FIN",
                hints: ["add `\(actor.name) half-close` after the `send`, so that the data and the FIN are both sent"])
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

    /// Returns the pieces of a send, each of which is sent as a separate segment.
    private func pieces(
        of statement: SendStatement, _ actor: ConnectionActor, _ connection: Connection, _ step: Step
    ) async throws(Finding) -> [[UInt8]] {
        if connection.tls != nil, statement.mode == .bytes || statement.mode == .line {
            return try await TLSExecutor(context: context).sealedPieces(of: statement, actor, connection, step)
        }
        if connection.tls == nil, statement.mode == .plaintext || statement.recordLength != nil {
            throw Finding(.error, "\(actor.name)'s connection does not use TLS, which this send requires")
        }
        return try context.evaluator(actor.framing, isClient: actor.isClient).sentPieces(of: statement)
    }

    /// Waits until the kernel has accepted all bytes of a send. Only time without progress counts toward the deadline.
    func finish(
        _ operation: SendOperation, _ actor: ConnectionActor, _ connection: Connection
    ) async throws(Finding) {
        var pending = PendingConnectionExpectation(.sent, actor, connection, send: operation)
        defer { context.actors.waits[actor.name] = nil }
        let conclusion = try await context.conclude(&pending, of: actor.name, from: .now, until: .distantFuture)
        if case .impossible(let why) = conclusion { throw why.finding }
    }

    // MARK: close

    /// Throws if the kernel has not accepted all bytes of a send. The connection can't be ended in this state, because
    /// the remaining bytes would be dropped silently.
    private func refuseUnacceptedBytes(_ connection: Connection, _ actor: ConnectionActor, _ verb: String)
        throws(Finding)
    {
        if connection.unacceptedBytes == 0 { return }
        throw Finding(
            .error,
            "\(actor.name)'s send is still in progress: `\(verb)` would drop "
                + "\(ByteText.count(connection.unacceptedBytes, "byte")) that the kernel has not accepted",
            hints: [
                "add `\(actor.name) expect sent` to wait for the send, or use `\(actor.name) reset` to drop the "
                    + "bytes"
            ])
    }

    private func close(
        _ actor: ConnectionActor, _ connection: Connection, _ step: Step, notifies: Bool
    ) async throws(Finding) {
        try refuseUnacceptedBytes(connection, actor, "close")
        try refuseUnread(connection.unreadAtClose, actor)
        if notifies { try await notify(actor, connection) }
        context.annotations.add(step, "\(actor.name) close", .fin(connection))
        try refuseUnread(connection.close(), actor)
    }

    /// Sends a close_notify if TLS is established and the peer can still receive it.
    private func notify(_ actor: ConnectionActor, _ connection: Connection) async throws(Finding) {
        guard let operation = try await TLSExecutor(context: context).notification(of: actor, connection) else {
            return
        }
        // If the peer has already ended the connection, no close_notify is sent, because the close that follows has the
        // same meaning.
        do throws(Finding) { try await finish(operation, actor, connection) } catch  where error.verdict == .failed {}
    }

    private func refuseUnread(_ unread: Int, _ actor: ConnectionActor) throws(Finding) {
        if unread > 0 {
            throw Finding(
                .error,
                "\(actor.name) has left \(ByteText.count(unread, "byte")) unread in the kernel's buffer (reading is "
                    + "stopped): closing would send an RST instead of a FIN",
                hints: [
                    "add `\(actor.name) resume reading` and an `expect` to consume the bytes, or use `\(actor.name) "
                        + "reset` to send an RST"
                ])
        }
    }
}

extension ConnectionExecutor {
    /// Waits until an expectation of the connection is met.
    ///
    /// - Returns: the number of bytes of the stream that the expectation consumed.
    func expect(
        _ expectation: ConnectionExpectation<Parsed>, _ actor: ConnectionActor, _ connection: Connection,
        _ timing: Timing,
        from time: MonotonicTime
    ) async throws(Finding) -> Int {
        let resolved = try resolve(expectation, actor)
        if resolved.requiresTLS, connection.tls == nil {
            throw Finding(
                .error, "\(actor.name)'s connection does not use TLS, so it can't receive \(resolved.description)",
                hints: ["add `\(actor.name) start tls` before this step"])
        }
        let deadline = deadline(of: resolved, timing, from: time)
        var pending = PendingConnectionExpectation(resolved, actor, connection)
        actor.begin(resolved)
        defer {
            context.actors.waits[actor.name] = nil
            actor.end(resolved)
            context.runWheneverBlocks(of: actor)
        }
        switch try await context.conclude(&pending, of: actor.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment {
                try context.requireTiming(
                    moment, resolved.eventName, deadline, timing, time,
                    isExact: isExact(resolved, timing, connection))
            }
            connection.receiveBuffer.drop(match.bytes)
            if !match.parts.isEmpty { connection.receiveBuffer.remove(match.parts) }
            connection.urgent.drop(match.urgentBytes)
            for (name, value) in match.bindings { context.bind(name, value) }
            if match.consumesEnd { actor.endIsConsumed = true }
            actor.consumedEventCount += match.events
            noteConsumed(resolved, actor)
            return match.bytes
        case .impossible(let why):
            noteConsumed(resolved, actor)
            throw try await explain(why, resolved, actor, connection, deadline, from: time)
        }
    }

    /// Computes the values of the expressions in an expectation.
    func resolve(
        _ expectation: ConnectionExpectation<Parsed>, _ actor: ConnectionActor
    ) throws(Finding) -> ConnectionExpectation<Resolved> {
        if let needed = expectation.webSocketFeature { try requireWebSocket(actor, needed) }
        if expectation.needsLines { try refuseLines(actor, "expect \(expectation.spelling)") }
        if case .message(let pattern, _) = expectation, actor.framing == .websocket, let frame = try frame(of: pattern)
        {
            return .frame(frame)
        }
        do throws(EvaluationError) { return try expectation.resolved(by: context.evaluator()) } catch {
            throw Finding(error)
        }
    }

    /// Returns the deadline of an expectation. For an expected silence, this is the end of the period. `sent` without a
    /// `within` has no deadline, because only the time without progress is limited.
    func deadline(
        of resolved: ConnectionExpectation<Resolved>, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        switch resolved {
        case .nothing(let duration): time + duration
        case .stalled(let duration): time + context.time.scaledTimeout + duration
        case .sent: timing.within.map { time + context.scaled($0) } ?? .distantFuture
        default: context.deadline(timing, from: time)
        }
    }

    /// Returns whether an event can't have happened before the harness noticed it, for example because it was caused by
    /// a peer that belongs to the harness and was therefore stalled together with it.
    private func isExact(
        _ resolved: ConnectionExpectation<Resolved>, _ timing: Timing, _ connection: Connection
    ) -> Bool {
        switch resolved {
        case .sent: true
        default: resolved.isInput && timing.after != nil && context.connections.hasOwnPeer(connection)
        }
    }

    /// Records that a step has expected a send to fail, even if the step expected a different reason.
    private func noteConsumed(_ resolved: ConnectionExpectation<Resolved>, _ actor: ConnectionActor) {
        if case .sendFailed = resolved, case .failed? = actor.background?.state { actor.sendFailureIsConsumed = true }
    }

    // MARK: Findings

    private func explain(
        _ why: Impossibility, _ resolved: ConnectionExpectation<Resolved>, _ actor: ConnectionActor,
        _ connection: Connection, _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) -> Finding {
        guard resolved.isInput else { return why.finding }
        var again = PendingConnectionExpectation(resolved, actor, connection)
        if why.isPartial {
            // Wait briefly for the rest of a partially received unit (such as a line), so that the message can show the
            // complete unit.
            let count = connection.receiveBuffer.count
            let more: Void? = try await context.wait(until: .now + .milliseconds(20)) { () throws(Finding) -> Void? in
                connection.receiveBuffer.count > count || connection.readEnd != nil ? () : nil
            }
            if more != nil, case .impossible(let clearer) = again.evaluate(context.window(from: time, until: deadline)),
                !clearer.isMissed
            {
                var finding = clearer.finding
                finding.decided = why.finding.decided
                return finding
            }
        }
        guard why.isMissed else { return why.finding }
        // If the machine stalled, received bytes may still be in the kernel's buffer.
        if connection.reading == .atOnce { connection.receive() }
        let window = context.window(from: time, until: deadline)
        var finding = ConnectionEvaluation(view: again.view(window), window: window).missed(resolved)
        if let hint = try await context.latenessHint(&again, of: actor.name, after: deadline) {
            finding.hints.append(hint)
        }
        return finding
    }
}

/// The `vanish` action, which ends a connection without signaling the end to the peer.
extension ConnectionExecutor {
    /// Ends the connection without a FIN or an RST.
    ///
    /// - Parameter silently: whether packets that the peer sends later remain unanswered. The kernel would retransmit
    ///   bytes that the peer has not acknowledged, so the step waits for the acknowledgment of these bytes.
    func vanish(
        _ actor: ConnectionActor, _ connection: Connection, silently: Bool, _ step: Step, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) async throws(Finding) {
        let vanishing = Vanishing(of: connection)
        if vanishing.hasEnded {
            let text = context.text(of: step.span)
            context.conditions.add(at: step.span, isOptional: step.isOptional) {
                .never(
                    text, "\(actor.name)'s connection had already ended",
                    hints: ["move the step before the one that ends the connection"])
            }
        }
        if silently {
            let step = Duration.milliseconds(1)
            while vanishing.unacknowledged > 0 {
                guard MonotonicTime.now < context.reactor.extended(deadline, from: time) else {
                    throw Finding(
                        .error,
                        "\(actor.name) can't vanish silently: its peer has not acknowledged "
                            + "\(ByteText.count(vanishing.unacknowledged, "byte")) that \(actor.name) sent, and the "
                            + "kernel would retransmit them",
                        hints: [
                            "use `\(actor.name) vanish` to drop the bytes: whatever the peer sends later is then "
                                + "answered with an RST"
                        ])
                }
                try await context.wait(until: .now + step)
            }
        }
        do throws(SystemError) {
            if silently { try vanishing.endSilently() } else { try vanishing.end() }
        } catch {
            throw Finding(.error, "\(actor.name)'s connection can't vanish: \(error.reason)")
        }
    }
}

/// Expectations that concern WebSocket frames.
extension ConnectionExecutor {
    /// Returns the frame that `expect message ws.text("x")` accepts, with any masking key unless the script specifies
    /// one; `nil` if the pattern is not a frame.
    func frame(of pattern: Pattern) throws(Finding) -> ExpectedFrame? {
        guard case .value(let expression) = pattern else { return nil }
        guard case .webSocket(let value) = expression.kind else {
            try context.refuseFrame(expression)
            return nil
        }
        let bytes = try context.bytes(of: expression)
        guard case .frame(let frame, bytes.count) = WebSocketFrame.scan(bytes.span, limit: WebSocketMatcher.limit)
        else {
            throw Finding(
                .error, at: expression.span,
                "this frame can't be expected: the length in its header differs from the length of its payload",
                hints: ["use `expect` with the bytes of the frame"])
        }
        let mask: ExpectedFrame.Mask =
            switch value.mask {
            case nil: .asMust
            case .none?: .unmasked
            case .chosen?: .masked
            case .key?: .key(frame.key ?? [])
            }
        return ExpectedFrame(frame, mask)
    }

    /// Throws if lines are expected on a connection whose framing is `websocket`, because frames contain no lines.
    func refuseLines(_ actor: ConnectionActor, _ what: String) throws(Finding) {
        guard actor.framing == .websocket else { return }
        throw Finding(
            .error,
            "\(actor.name)'s framing is `websocket`, which has messages instead of lines, so `\(what)` is "
                + "not available",
            hints: ["use `expect message`, with or without a regex"])
    }

    func requireWebSocket(_ actor: ConnectionActor, _ what: String) throws(Finding) {
        guard actor.framing != .websocket else { return }
        throw Finding(
            .error, "\(actor.name)'s framing is `\(actor.framing.rawValue)`, which has no \(what)",
            hints: ["add `\(actor.name) framing websocket` before this step"])
    }
}

extension CaseContext {
    /// Rejects a value that consists of complete WebSocket frames (for example, a variable's value), because the value
    /// would be compared with the payload of a message.
    ///
    /// Only frames without reserved bits are recognized. Their first byte is a UTF-8 continuation byte, which can't be
    /// the first byte of text. If reserved bits were allowed, text of the right length could be mistaken for a frame.
    func refuseFrame(_ expression: Expression) throws(Finding) {
        let value = try bytes(of: expression)
        guard let first = value.first, first & 0xf0 == 0x80 else { return }
        var position = 0
        while position < value.count {
            let rest = value.span.extracting(droppingFirst: position)
            guard case .frame(_, let length) = WebSocketFrame.scan(rest, limit: WebSocketMatcher.limit) else { return }
            position += length
        }
        throw Finding(
            .error, at: expression.span,
            "this value is a frame, but it would be compared with the content of a message",
            hints: [
                "write the frame in this step: `expect message ws.text(…)`",
                "use `expect` with the value to compare the frame's bytes",
            ])
    }
}
