import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// Runs the TLS actions of the harness's connections.
struct TLSExecutor {
    let context: CaseContext

    func act(
        _ actor: ConnectionActor, _ connection: Connection, _ action: TLSAction, _ timing: Timing, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        if case .start(let start) = action {
            try await self.start(start, actor, connection, timing, step, from: time)
            return
        }
        let layer = try layer(of: actor, connection)
        if case .sendMessage = action {
            try await waitForLaterHandshake(layer, actor, connection, to: "send the message")
        }
        let bytes: [UInt8]
        do throws(TLSError) {
            switch action {
            case .start, .closeWithoutNotify: return
            case .fault(let fault):
                layer.apply(fault, at: step.span)
                return
            case .sendRecord(let type, let value):
                let (type, value) = try contents(type, value)
                bytes = try layer.forge(type: type, value)
            case .sendAlert(let level, let alert):
                bytes = try layer.forge(type: 21, try values(level, alert))
            case .sendNotify: bytes = try layer.notify()
            case .sendMessage(let message): bytes = try layer.make(message)
            }
        } catch {
            throw Finding(.error, "\(actor.name) can't send the message: \(error.reason)")
        }
        try await send(bytes, actor, connection, step)
    }

    private func contents(_ type: Expression, _ value: Expression) throws(TLSError) -> (UInt8, [UInt8]) {
        do throws(Finding) {
            let bytes = try context.bytes(of: value)
            guard bytes.count <= 65_518 else {
                throw Finding(.error, "a record can have at most 65518 bytes, not \(bytes.count)")
            }
            return (try context.integer(of: type, as: UInt8.self), bytes)
        } catch {
            throw TLSError(error.summary)
        }
    }

    private func values(_ level: Expression, _ alert: Expression) throws(TLSError) -> [UInt8] {
        do throws(Finding) {
            return [
                try context.integer(of: level, as: UInt8.self), try context.integer(of: alert, as: UInt8.self),
            ]
        } catch {
            throw TLSError(error.summary)
        }
    }

    private func layer(of actor: ConnectionActor, _ connection: Connection) throws(Finding) -> TLSLayer {
        guard let layer = connection.tls else {
            throw Finding(
                .error, "\(actor.name)'s connection does not use TLS",
                hints: ["add `\(actor.name) start tls` before this step"])
        }
        guard layer.isDone else {
            throw Finding(.error, "\(actor.name) can't send over TLS: its handshake is not complete")
        }
        if let failure = layer.failure {
            throw Finding(.failed, "\(actor.name)'s TLS session failed: \(failure.reason)")
        }
        return layer
    }

    private func send(
        _ bytes: [UInt8], _ actor: ConnectionActor, _ connection: Connection, _ step: Step
    ) async throws(Finding) {
        if bytes.isEmpty { return }
        let operation = SendOperation(pieces: [bytes], isUrgent: false, now: .now)
        connection.send(operation)
        context.annotations.addSend(step, actor.name, connection, operation)
        try await ConnectionExecutor(context: context).finish(operation, actor, connection)
    }

    // MARK: Sends and ends

    /// Returns the encrypted bytes of a send, divided into the pieces that the statement specifies for the wire.
    func sealedPieces(
        of statement: SendStatement, _ actor: ConnectionActor, _ connection: Connection, _ step: Step
    ) async throws(Finding) -> [[UInt8]] {
        let layer = try layer(of: actor, connection)
        try await waitForLaterHandshake(layer, actor, connection, to: "send")
        let longest = try statement.recordLength.map { (length) throws(Finding) in try context.integer(of: length) }
        var problem: TLSError?
        var plain: [UInt8] = []
        let pieces: [[UInt8]]
        do throws(EvaluationError) {
            pieces = try context.evaluator(actor.framing, isClient: actor.isClient).pieces(of: statement) { plaintext in
                plain = plaintext
                do throws(TLSError) { return try layer.seal(plaintext, recordLength: longest) } catch {
                    problem = error
                    return []
                }
            }
        } catch {
            throw Finding(error)
        }
        if let problem { throw Finding(.failed, "\(actor.name) can't send: \(problem.reason)") }
        let length = pieces.reduce(0) { $0 + $1.count }
        context.settings.observe?(
            StepObservation(step: step.id, actor: actor.name, event: .sealed(plain, length: length)))
        return pieces.isEmpty ? [[]] : pieces
    }

    /// Queues a close_notify. Returns `nil` if the connection has no session or no peer to notify, or if close_notify
    /// was already sent.
    func notification(of actor: ConnectionActor, _ connection: Connection) async throws(Finding) -> SendOperation? {
        guard let layer = connection.tls, layer.isDone, layer.failure == nil, !layer.hasNotified,
            !connection.isHalfClosed
        else { return nil }
        switch connection.readEnd {
        case .reset, .failed: return nil
        case .eof, nil: break
        }
        try await waitForLaterHandshake(layer, actor, connection, to: "send close_notify")
        if layer.session.isInHandshake { return nil }
        do throws(TLSError) {
            let bytes = try layer.notify()
            if bytes.isEmpty { return nil }
            let operation = SendOperation(pieces: [bytes], isUrgent: false, now: .now)
            connection.send(operation)
            return operation
        } catch {
            throw Finding(.failed, "\(actor.name) can't send close_notify: \(error.reason)")
        }
    }

    /// Waits for the end of a later handshake. OpenSSL sends no data during a handshake that was requested by a
    /// HelloRequest.
    private func waitForLaterHandshake(
        _ layer: TLSLayer, _ actor: ConnectionActor, _ connection: Connection, to what: String
    ) async throws(Finding) {
        let start = MonotonicTime.now
        let isIdle: Void? = try await context.wait(until: start + context.time.scaledTimeout, from: start) {
            () throws(Finding) -> Void? in layer.session.isInHandshake && connection.readEnd == nil ? nil : ()
        }
        if isIdle == nil {
            throw Finding(
                .failed, "\(actor.name) can't \(what): a handshake after the first one did not complete",
                hints: ["use `\(actor.name) close without notify` to end the connection with a FIN alone"])
        }
    }

    // MARK: `start tls`

    private func start(
        _ start: TLSStart, _ actor: ConnectionActor, _ connection: Connection, _ timing: Timing, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        if connection.tls != nil { throw Finding(.error, "\(actor.name) already uses TLS") }
        let early = try handshakeBytes(actor, connection)
        let options = start.options.over(declared(actor))
        let tls = try TLSSetup(context: context).make(options, of: actor.name, isServer: !actor.isClient)
        let stopsAfter = try start.stopsAfter.map { (value) throws(Finding) in
            try context.integer(of: value)
        }
        let layer = try TLSSetup(context: context).begin(
            tls, on: connection, of: actor.name, isServer: !actor.isClient, early: early,
            firstFlight: flight(start, stopsAfter), at: step.span)
        context.annotations.add(step, "\(actor.name) start tls", .handshake(connection))
        let handshakes = TLSHandshakes(context: context)
        var deadline = context.deadline(timing, from: time)
        if start.pace != nil, stopsAfter == nil, timing.within == nil {
            try await handshakes.waitForFlight(layer, connection, actor, deadline, from: time)
            deadline = max(deadline, context.deadline(timing, from: .now))
        }
        if stopsAfter != nil {
            try await handshakes.waitForStop(layer, connection, actor, deadline, from: time)
        } else {
            try await handshakes.finish(start.outcome, on: connection, actor, timing, deadline, from: time)
        }
        if layer.hasUnsentFlight {
            throw Finding(
                .inconclusive, "\(actor.name) sent no handshake flight, so none was cut or paced")
        }
    }

    /// Consumes and returns the unread bytes, which must be the beginning of the peer's handshake; the result is empty
    /// if there are none.
    private func handshakeBytes(_ actor: ConnectionActor, _ connection: Connection) throws(Finding) -> [UInt8] {
        let count = connection.receiveBuffer.count
        if count == 0 { return [] }
        let unread = connection.receiveBuffer.bytes(0..<count)
        guard unread.prefix(2).elementsEqual([22, 3].prefix(count)) else {
            throw Finding(
                .failed,
                "\(actor.name) received \(ByteText.count(count, "byte")) of plaintext that no step consumed before TLS",
                expected: [], actual: Array(unread.prefix(4096)),
                hints: ["add an `expect` that consumes the plaintext before `start tls`"])
        }
        connection.receiveBuffer.drop(count)
        return unread
    }

    private func declared(_ actor: ConnectionActor) -> TLSOptions? {
        let name =
            switch actor.role {
            case .client: actor.name
            case .accepted(let server): server
            }
        return context.scenario.actors.first { $0.name.value == name }?.tls
    }

    private func flight(_ start: TLSStart, _ stopsAfter: Int?) -> TLSLayer.FirstFlight? {
        guard stopsAfter != nil || start.cut != nil || start.pace != nil else { return nil }
        return TLSLayer.FirstFlight(stopsAfter: stopsAfter) { [unowned context] (bytes) throws(Finding) in
            var pieces = [bytes]
            if let cut = start.cut {
                do throws(EvaluationError) {
                    pieces = try context.evaluator().pieces(of: bytes, cut, span: start.options.span)
                } catch {
                    throw Finding(error)
                }
            }
            return SendOperation(pieces: pieces, pace: start.pace, isUrgent: false, now: .now)
        }
    }
}
