import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTLS

/// Waits for handshakes and judges their results.
struct TLSHandshakes {
    let context: CaseContext

    /// Begins TLS on an accepted connection on which the harness did not begin TLS earlier, because the `accept` step
    /// determines whether TLS is used.
    func beginLate(on connection: Connection, of server: ServerActor) throws(Finding) {
        guard connection.tls == nil, let tls = context.tls.actors[server.name] else { return }
        let early = connection.receiveBuffer.bytes(0..<connection.receiveBuffer.count)
        connection.receiveBuffer.drop(early.count)
        _ = try TLSSetup(context: context).begin(
            tls, on: connection, of: server.name, isServer: true, early: early)
    }

    private enum End {
        case done(MonotonicTime)
        case refused(String, MonotonicTime)
        /// The peer ended the connection after its handshake, without an alert.
        case leftWithout(String)
    }

    /// Waits for the end of a handshake and judges its result.
    ///
    /// - Throws: a finding if the result differs from the expected one.
    func finish(
        _ outcome: TLSOutcome, on connection: Connection, _ actor: ConnectionActor, _ timing: Timing,
        _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) {
        guard let layer = connection.tls else { return }
        context.actors.waits[actor.name] = "the end of the TLS handshake"
        defer { context.actors.waits[actor.name] = nil }
        let mustFail = if case .fails = outcome { true } else { false }
        let end = try await context.wait(until: deadline, from: time) { () throws(Finding) -> End? in
            self.end(of: layer, connection, mustFail: mustFail)
        }
        switch (outcome, end) {
        case (.succeeds, .done(let moment)):
            try context.requireTiming(moment, "the end of \(actor.name)'s TLS handshake", deadline, timing, time)
            context.record(.event(actor: actor.name, "\(layer.summary); \(verification(layer))"), at: moment)
        case (.succeeds, .refused(let reason, let moment)):
            context.record(.event(actor: actor.name, "TLS handshake failed: \(reason)"), at: moment)
            throw Finding(
                .failed, "\(actor.name)'s TLS handshake failed: \(reason)", details: alerts(layer),
                hints: hints(layer, of: actor.name))
        case (.fails(let alert), .refused(let reason, let moment)):
            try context.requireTiming(moment, "the failure of \(actor.name)'s TLS handshake", deadline, timing, time)
            context.record(.event(actor: actor.name, "TLS handshake failed: \(reason)"), at: moment)
            (actor.endIsConsumed, actor.handshakeFailureIsConsumed) = (true, true)
            actor.consumedEventCount = layer.events.count
            if let alert { try require(alert, layer, actor, reason) }
        case (_, .leftWithout(let how)):
            throw Finding(
                .inconclusive,
                "\(actor.name)'s TLS handshake was complete when the connection was \(how) without an alert: it is "
                    + "unknown whether the peer rejected the handshake",
                details: [layer.summary])
        case (.fails, .done),
            (.fails, nil) where layer.isDone:
            throw Finding(
                .failed, "\(actor.name)'s TLS handshake succeeded, but was expected to fail",
                details: [layer.summary, verification(layer)])
        case (_, nil), (.fails, _):
            var hints = hints(layer, of: actor.name)
            if layer.firstBytes.isEmpty, hints.isEmpty {
                hints.append("check that the peer starts TLS: it sent nothing")
            }
            throw Finding(
                .failed,
                "\(actor.name) did not complete its TLS handshake within \(DurationText.script(deadline - time))",
                details: alerts(layer), hints: hints)
        }
    }

    /// Returns the state of the handshake on a connection that waits at a server; `nil` if no handshake has begun.
    func state(of connection: Connection) -> ServerView.Handshake? {
        guard let layer = connection.tls else { return connection.layer is TLSSniffer ? .underWay : nil }
        return switch end(of: layer, connection, mustFail: false) {
        case .done: .done
        case .refused(let reason, _): .failed(reason: reason, alerts: layer.alertCodes)
        case .leftWithout: .done
        case nil: .underWay
        }
    }

    private func end(of layer: TLSLayer, _ connection: Connection, mustFail: Bool) -> End? {
        if let (reason, moment) = layer.refusal { return .refused(reason, moment) }
        switch layer.handshake {
        case .failed(let reason, let moment): return .refused(reason, moment)
        case .underWay:
            switch connection.readEnd {
            case .reset(let moment):
                return .refused("the peer reset the connection (RST) before the handshake was complete", moment)
            case .failed(let error, let moment): return .refused(error.reason, moment)
            case .eof, nil: return nil
            }
        case .done(let moment):
            // In TLS 1.3, the server verifies a client's certificate only after the client has completed its handshake.
            if mustFail, !layer.isServer, layer.session.version == .tls13, !layer.isAccepted {
                switch connection.readEnd {
                case .eof: return .leftWithout("closed (FIN)")
                case .reset: return .leftWithout("reset (RST)")
                case .failed(let error, _): return .leftWithout("lost (\(error.reason))")
                case nil: return nil
                }
            }
            return .done(moment)
        }
    }

    private func require(
        _ alert: Expression, _ layer: TLSLayer, _ actor: ConnectionActor, _ reason: String
    ) throws(Finding) {
        let code = try context.integer(of: alert, as: UInt8.self)
        if layer.alertCodes.contains(code) { return }
        let seen = alerts(layer)
        throw Finding(
            .failed,
            "\(actor.name)'s TLS handshake failed without the alert \(TLSAlert(level: 2, code: code)): \(reason)",
            details: seen.isEmpty ? ["no alert was sent or received"] : seen)
    }

    /// Waits, for `stop after`, until the beginning of the flight has been sent.
    func waitForStop(
        _ layer: TLSLayer, _ connection: Connection, _ actor: ConnectionActor, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) async throws(Finding) {
        context.actors.waits[actor.name] = "its first TLS flight"
        defer { context.actors.waits[actor.name] = nil }
        let operation = try await context.wait(until: deadline, from: time) { () throws(Finding) in layer.stoppedFlight
        }
        guard let operation else {
            throw Finding(
                .failed,
                "\(actor.name) had no handshake message to send within \(DurationText.script(deadline - time))",
                hints: layer.isServer
                    ? [
                        "check the client: the server received no ClientHello, and sends nothing until it receives one"
                    ] : [])
        }
        if operation.bytes.isEmpty { return }
        try await ConnectionExecutor(context: context).finish(operation, actor, connection)
    }

    /// Waits until a paced flight has been sent. As with a `send` step, the deadline is extended by the time that the
    /// pacing requires.
    func waitForFlight(
        _ layer: TLSLayer, _ connection: Connection, _ actor: ConnectionActor, _ deadline: MonotonicTime,
        from time: MonotonicTime
    ) async throws(Finding) {
        context.actors.waits[actor.name] = "its first TLS flight"
        defer { context.actors.waits[actor.name] = nil }
        let operation = try await context.wait(until: deadline, from: time) { () throws(Finding) -> SendOperation?? in
            if let operation = layer.sentFlight { return .some(operation) }
            return layer.refusal == nil && connection.readEnd == nil ? nil : .some(nil)
        }
        guard case .some(.some(let operation)) = operation else { return }
        // If the peer ends the connection during the wait, the handshake has failed. A failure may be what the step
        // expects, so no error is thrown here.
        do throws(Finding) {
            try await ConnectionExecutor(context: context).finish(operation, actor, connection)
        } catch  where error.verdict == .failed && (layer.refusal != nil || connection.readEnd != nil) {}
    }

    // MARK: Texts

    /// Returns a clause that states which side's certificate was verified.
    private func verification(_ layer: TLSLayer) -> String {
        if layer.isServer {
            return layer.session.hasPeerCertificate
                ? "the client's certificate was verified" : "the client sent no certificate"
        }
        return layer.verifies ? "the server's certificate was verified" : "the server's certificate was not verified"
    }

    private func alerts(_ layer: TLSLayer) -> [String] {
        layer.session.alertsReceived.map { "it received the alert \($0.alert) (\($0.alert.code))" }
            + layer.session.alertsSent.map { "it sent the alert \($0) (\($0.code))" }
    }

    private func hints(_ layer: TLSLayer, of name: String) -> [String] {
        var hints: [String] = []
        if context.tls.forges(name) {
            hints.append("\(name) speaks only TLS 1.3, because one of its steps forges a record")
        }
        if let first = layer.firstBytes.first, first < 20 || first > 24, !layer.isDone {
            hints.append(
                "check that the peer starts TLS: it first sent \(Escaped.phrase(layer.firstBytes)), which is not TLS")
        }
        let codes = layer.session.alertsReceived.map(\.alert.code)
        let refusals: Set<UInt8> = [42, 43, 44, 45, 46, 48]
        if layer.isServer, !refusals.isDisjoint(with: codes) {
            switch layer.certificate {
            case .issuedByRun where codes.contains(48) || codes.contains(46):
                hints.append("pass the run's authority, `${ca}`, to the peer: it does not trust the certificate")
            case .flawed(let what):
                hints.append(
                    "remove the option after `cert` if the handshake should succeed: \(name) presents a certificate "
                        + "\(what)"
                )
            case .issuedByRun, .other: break
            }
        }
        return hints
    }
}
