import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension ConnectionExecutor {
    /// Waits until the expectation is met.
    ///
    /// - Returns: how many bytes of the stream it took.
    func expect(
        _ expectation: ConnectionExpectation, _ actor: ConnectionActor, _ connection: Connection, _ timing: Timing,
        from time: MonotonicTime
    ) async throws(Finding) -> Int {
        let wanted = try resolve(expectation, actor)
        if wanted.isOfTLS, connection.tls == nil {
            throw Finding(
                .error, "\(actor.name)'s connection has no TLS: \(wanted.description) can't come",
                hints: ["`\(actor.name) start tls` comes first"])
        }
        let deadline = deadline(of: wanted, timing, from: time)
        var pending = PendingConnectionExpectation(wanted, actor, connection)
        actor.begin(wanted)
        defer {
            context.actors.waits[actor.name] = nil
            actor.end(wanted)
            context.serveWhenevers(of: actor)
        }
        switch try await context.conclude(&pending, of: actor.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment {
                try context.judgeTime(
                    moment, wanted.eventName, deadline, timing, time,
                    isExact: isExact(wanted, timing, connection))
            }
            connection.receiveBuffer.drop(match.bytes)
            if !match.parts.isEmpty { connection.receiveBuffer.remove(match.parts) }
            connection.urgent.drop(match.urgentBytes)
            for (name, value) in match.bindings { context.bind(name, value) }
            if match.takesEnd { actor.endIsTaken = true }
            actor.takenNews += match.news
            noteHeard(wanted, actor)
            return match.bytes
        case .impossible(let why):
            noteHeard(wanted, actor)
            throw try await explain(why, wanted, actor, connection, deadline, from: time)
        }
    }

    /// Computes the values of an expectation.
    func resolve(
        _ expectation: ConnectionExpectation, _ actor: ConnectionActor
    ) throws(Finding) -> ResolvedConnectionExpectation {
        switch expectation {
        case .bytes(let expression): return .input(.bytes(try context.bytes(of: expression)))
        case .line(let pattern, let name): return .input(.line(try context.text(of: pattern), name: name?.value))
        case .message(let pattern, let name):
            if actor.framing == .websocket, let frame = try frame(of: pattern) { return .input(frame) }
            return .input(.message(try context.text(of: pattern), name: name?.value))
        case .messageOfKind(let kind, let pattern, let name):
            try requireWebSocket(actor, "text and binary messages")
            let text = try context.text(of: pattern)
            return .input(
                .webSocket(
                    .message(text, name: name?.value, kind: kind), text.described(as: "\(kind.rawValue) message")))
        case .ping(let payload): return .input(try control(WebSocketFrame.Opcode.ping, payload, actor))
        case .pong(let payload): return .input(try control(WebSocketFrame.Opcode.pong, payload, actor))
        case .closeFrame(let code, let reason):
            return .input(try control(WebSocketFrame.Opcode.close, reason, code: code, actor))
        case .untilLine(let pattern, let name):
            try refuseLines(actor, "expect until line")
            return .input(.untilLine(try context.text(of: pattern), name: name?.value))
        case .linesInAnyOrder(let patterns):
            try refuseLines(actor, "expect lines in any order")
            var texts: [(isOptional: Bool, text: ExpectedText)] = []
            for pattern in patterns { texts.append((pattern.isOptional, try context.text(of: pattern.pattern))) }
            return .input(.linesInAnyOrder(texts))
        case .count(let expression, let name):
            return .input(.count(try context.integer(of: expression), name: name?.value))
        case .until(let delimiter, let name):
            let bytes = try context.bytes(of: delimiter)
            if bytes.isEmpty { throw Finding(.error, at: delimiter.span, "an empty delimiter is found everywhere") }
            return .input(.until(bytes, name: name?.value))
        case .anyBytes(let name): return .input(.anyBytes(name: name?.value))
        case .integer(let format, let name): return .input(.integer(format, name: name?.value))
        case .eof: return .input(.eof)
        case .reset: return .input(.reset)
        case .closed: return .input(.closed)
        case .notify: return .input(.notify)
        case .truncated: return .input(.truncated)
        case .alert(let code): return .input(.alert(try context.integer(of: code, as: UInt8.self)))
        case .urgent(let expression): return .urgent(try context.bytes(of: expression))
        case .nothing(let duration): return .nothing(for: duration)
        case .stalled(let duration): return .stalled(for: duration)
        case .sent: return .sent(count: actor.background?.bytes.count ?? 0, patience: context.time.patience)
        case .sendFailed(let reason): return .sendFailed(reason: reason)
        }
    }

    /// - Returns: for a silence, its end; for `sent` without a `within` none, since only time without progress counts.
    func deadline(
        of wanted: ResolvedConnectionExpectation, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        switch wanted {
        case .nothing(let duration): time + duration
        case .stalled(let duration): time + context.time.patience + duration
        case .sent: timing.within.map { time + context.scaled($0) } ?? .distantFuture
        case .input, .urgent, .sendFailed: context.deadline(timing, from: time)
        }
    }

    /// Whether the event can't have come earlier than it was noticed: where the peer is the harness's own, its steps stood still, too.
    private func isExact(
        _ wanted: ResolvedConnectionExpectation, _ timing: Timing, _ connection: Connection
    ) -> Bool {
        switch wanted {
        case .input: timing.after != nil && context.connections.hasOwnPeer(connection)
        case .sent: true
        case .urgent, .nothing, .stalled, .sendFailed: false
        }
    }

    /// The script knows of a failure that a step has expected, also where the step expected another one.
    private func noteHeard(_ wanted: ResolvedConnectionExpectation, _ actor: ConnectionActor) {
        if case .sendFailed = wanted, case .failed? = actor.background?.state { actor.sendFailureIsTaken = true }
    }

    // MARK: Findings

    private func explain(
        _ why: Impossibility, _ wanted: ResolvedConnectionExpectation, _ actor: ConnectionActor,
        _ connection: Connection, _ deadline: MonotonicTime, from time: MonotonicTime
    ) async throws(Finding) -> Finding {
        guard case .input(let input) = wanted else { return why.finding }
        var again = PendingConnectionExpectation(wanted, actor, connection)
        if why.isPartial {
            // A moment more shows all of a unit that has not come whole.
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
        // Where the machine was late, what came may lie in the kernel still.
        if connection.reading == .atOnce { connection.receive() }
        let window = context.window(from: time, until: deadline)
        var finding = ConnectionEvaluation(view: again.view(window), window: window).missed(input)
        if let hint = try await context.hintOfLateness(&again, of: actor.name, after: deadline) {
            finding.hints.append(hint)
        }
        return finding
    }
}
