import ProbeBase
import Glibc
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    func expect(
        _ expectation: ConnectionExpectation, _ actor: ConnectionActor, _ connection: Connection, _ timing: Timing,
        _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        switch expectation {
        case .nothing(let duration):
            try await expectNothing(actor, connection, for: duration, from: time)
        case .stalled(let duration):
            try await expectStalled(actor, for: duration)
        case .sent:
            guard let transmission = actor.background else {
                throw Finding(.error, "nothing is being sent: `\(actor.name) start sending …` comes first")
            }
            let limit = timing.within.map { time + scaled($0) }
            try await finish(transmission, actor, connection, within: limit, from: time)
            if case .done(let moment) = transmission.state {
                try judgeTime(moment, "the end of the send", limit ?? .distantFuture, timing, time, isExact: true)
            }
        case .sendFailed(let reason):
            try await expectSendFailed(actor, reason, timing, from: time)
        case .urgent(let expression):
            try await expectUrgent(try bytes(of: expression), actor, connection, timing, from: time)
        case .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .message, .eof, .reset,
            .closed:
            let input = try expectedInput(expectation)
            try await expect(input, actor, connection, timing, step, from: time)
        }
    }

    /// Computes the values of an expectation of a connection.
    func expectedInput(_ expectation: ConnectionExpectation) throws(Finding) -> ExpectedInput {
        switch expectation {
        case .bytes(let expression): return .bytes(try bytes(of: expression))
        case .line(let pattern, let name): return .line(try text(of: pattern), name: name?.value)
        case .message(let pattern, let name): return .message(try text(of: pattern), name: name?.value)
        case .untilLine(let pattern, let name): return .untilLine(try text(of: pattern), name: name?.value)
        case .linesInAnyOrder(let patterns):
            var texts: [(isOptional: Bool, text: ExpectedText)] = []
            for pattern in patterns { texts.append((pattern.isOptional, try text(of: pattern.pattern))) }
            return .linesInAnyOrder(texts)
        case .count(let expression, let name):
            let count = try integer(of: expression)
            if count < 0 { throw Finding(.error, at: expression.span, "\(count) bytes can't be expected") }
            return .count(count, name: name?.value)
        case .until(let delimiter, let name):
            let bytes = try bytes(of: delimiter)
            if bytes.isEmpty { throw Finding(.error, at: delimiter.span, "an empty delimiter is found everywhere") }
            return .until(bytes, name: name?.value)
        case .anyBytes(let name): return .anyBytes(name: name?.value)
        case .integer(let format, let name): return .integer(format, name: name?.value)
        case .eof: return .eof
        case .reset: return .reset
        case .closed: return .closed
        case .urgent, .nothing, .stalled, .sent, .sendFailed:
            throw Finding(.error, "this is not expected of what comes")
        }
    }

    func text(of pattern: Pattern) throws(Finding) -> ExpectedText {
        switch pattern {
        case .any: return .any
        case .regex(let literal): return .regex(try regex(literal))
        case .value(let expression):
            let value = try value(of: expression)
            if case .regex(let regex) = value { return .regex(regex) }
            return .value(try bytes(of: expression))
        }
    }

    // MARK: Bytes, lines, ends

    private func expect(
        _ input: ExpectedInput, _ actor: ConnectionActor, _ connection: Connection, _ timing: Timing, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = deadline(timing, from: time)
        waits[actor.name] = input.description
        actor.waitsForRawBytes = input.isRaw
        defer {
            waits[actor.name] = nil
            actor.waitsForRawBytes = false
            serveWhenevers(of: actor)
        }
        var progress = InputProgress()
        var match = try await wait(until: deadline, from: time) { () throws(Finding) -> InputMatch? in
            try look(for: input, actor, connection, &progress)
        }
        // What has come by the deadline is looked at to its end; between two looks other steps and timers have their turn.
        while match == nil, progress.isBusy {
            await pause(until: .now)
            try checkFault()
            match = try look(for: input, actor, connection, &progress)
        }
        switch match {
        case .matched(let take, let completed, let bindings):
            if let completed {
                let isExact = timing.after != nil && hasOwnPeer(connection)
                try judgeTime(completed, input.description, deadline, timing, time, isExact: isExact)
            }
            consume(take, bindings, connection, actor)
            if input.isEnd { actor.endIsTaken = true }
        case .mismatch(let mismatch):
            throw try await clarified(mismatch, input, actor, connection)
        case nil:
            throw try await missed(input, actor, connection, deadline, time)
        }
    }

    enum InputMatch {
        case matched(take: Int, completed: MonotonicTime?, bindings: [(String, Value)])
        case mismatch(InputMatcher.Mismatch)
    }

    /// One look at the inbox; nil when it may still come.
    func look(
        for input: ExpectedInput, _ actor: ConnectionActor, _ connection: Connection, _ progress: inout InputProgress
    ) throws(Finding) -> InputMatch? {
        if connection.hasOverflowed { throw overflow(of: actor) }
        // After `ignore rest` what nobody expects is no error, so an end is looked for behind it.
        if actor.ignoresRest && input.isEnd { connection.inbox.drop(connection.inbox.count) }
        let matcher = InputMatcher(inbox: connection.inbox, end: connection.readEnd, framing: actor.framing)
        switch matcher.match(input, &progress) {
        case .pending:
            if progress.isBusy {
                let changes = changes
                _ = reactor.schedule(at: .now) { changes.notifyAll() }
            }
            return nil
        case .mismatch(let mismatch): return .mismatch(mismatch)
        case .matched(let take, let completed, let bindings):
            return .matched(take: take, completed: completed, bindings: bindings)
        }
    }

    func overflow(of actor: ConnectionActor) -> Finding {
        Finding(
            .error, "\(actor.name) has 64 MiB of unread bytes: the harness keeps no more",
            hints: ["`\(actor.name) stop reading` leaves them to the kernel; an `expect` takes them"])
    }

    func consume(_ count: Int, _ bindings: [(String, Value)], _ connection: Connection, _ actor: ConnectionActor) {
        connection.inbox.drop(count)
        for (name, value) in bindings { bind(name, value) }
    }

    /// A unit that differs and has not come whole: a moment more shows all of it.
    private func clarified(
        _ mismatch: InputMatcher.Mismatch, _ input: ExpectedInput, _ actor: ConnectionActor, _ connection: Connection
    ) async throws(Finding) -> Finding {
        var mismatch = mismatch
        if mismatch.isPartial && connection.readEnd == nil {
            let count = connection.inbox.count
            let more: Bool? = try await wait(until: .now + .milliseconds(20)) { () throws(Finding) -> Bool? in
                connection.inbox.count > count || connection.readEnd != nil ? true : nil
            }
            var progress = InputProgress()
            if more != nil, case .mismatch(let clearer)? = try look(for: input, actor, connection, &progress) {
                mismatch = clearer
            }
        }
        return finding(mismatch, actor, connection, input)
    }

    private func finding(
        _ mismatch: InputMatcher.Mismatch, _ actor: ConnectionActor, _ connection: Connection,
        _ input: ExpectedInput
    ) -> Finding {
        var finding = Finding(
            .failed, "\(actor.name): \(mismatch.summary)", expected: mismatch.expected, actual: mismatch.actual,
            hints: mismatch.hints)
        if case .reset? = connection.readEnd, finding.hints.isEmpty, !input.isEnd {
            finding.hints.append(NearMiss.resetInsteadOfFin)
        }
        return finding
    }

    /// Nothing that fits came in time: say what did, and listen on to tell late from never.
    private func missed(
        _ input: ExpectedInput, _ actor: ConnectionActor, _ connection: Connection, _ deadline: MonotonicTime,
        _ start: MonotonicTime
    ) async throws(Finding) -> Finding {
        // Where the machine was late, what came may lie in the kernel still.
        if connection.reading == .atOnce { connection.receive() }
        let unread = Array(connection.inbox.unread.prefix(max(InputMatcher.shownLimit, input.shownLength)))
        var finding = Finding(
            .failed, "\(actor.name): \(input.description) did not come within \(DurationText.script(deadline - start))",
            hints: NearMiss.atDeadline(input, actual: unread, framing: actor.framing))
        switch input {
        case .bytes(let bytes): (finding.expected, finding.actual) = (bytes, unread)
        case .line(let text, _), .message(let text, _):
            finding.expected = text.value.map { $0 + (UnitScan.terminator(of: actor.framing) ?? []) }
            finding.actual = unread
        default: if !unread.isEmpty { finding.actual = unread }
        }
        switch connection.reading {
        case .atOnce: break
        case .stopped:
            finding.hints.append("\(actor.name) does not read: `resume reading` comes before an `expect`")
        case .slowly(let bytes, let interval):
            finding.hints.append(
                "\(actor.name) reads slowly, \(bytes) bytes every \(DurationText.script(interval)): that takes its time, too"
            )
        }
        var progress = InputProgress()
        let late = try await wait(until: max(deadline, .now) + lateness) { () throws(Finding) -> InputMatch? in
            try look(for: input, actor, connection, &progress)
        }
        if case .matched(_, let completed?, _)? = late {
            finding.hints.append("it came \(DurationText.script(completed - deadline)) after the deadline")
        }
        return finding
    }

    // MARK: Silence, stalls, urgent data

    /// - Parameter begun: the step's beginning. As the first step of an `either`'s branch it began with the `either`, and has been
    ///   waited for.
    private func expectNothing(
        _ actor: ConnectionActor, _ connection: Connection, for duration: Duration, from begun: MonotonicTime
    ) async throws(Finding) {
        waits[actor.name] = "nothing for \(DurationText.script(duration))"
        defer { waits[actor.name] = nil }
        let end = begun + duration
        let came = try await wait(until: end, from: begun) { () throws(Finding) -> MonotonicTime? in
            let ended = actor.hasUntakenEnd ? connection.readEnd?.time : nil
            return [connection.inbox.arrival(of: 0), connection.urgent.arrival(of: 0), ended].compactMap(\.self).min()
        }
        guard let came, try breaksSilence("\(actor.name): something came", at: came, from: begun, to: end) else {
            // An endpoint that does not read is not told: its kernel is asked.
            if connection.reading == .atOnce { return }
            if connection.unreadInKernel > 0 {
                throw Finding(
                    .failed,
                    "\(actor.name): \(connection.unreadInKernel) bytes lie in the kernel where nothing was expected")
            }
            if connection.endIsPending {
                throw Finding(
                    .failed, "\(actor.name): the peer closed or reset the connection where nothing was expected")
            }
            return
        }
        let unread = Array((connection.inbox.isEmpty ? connection.urgent : connection.inbox).unread.prefix(4096))
        if !unread.isEmpty {
            let when = came < begun ? "before the step" : "\(DurationText.script(came - begun)) after the step began"
            throw Finding(
                .failed, "\(actor.name): bytes came where nothing was expected, \(when)", expected: [], actual: unread)
        }
        let what =
            switch connection.readEnd {
            case .reset?: "the connection was reset (RST)"
            case .failed(let error, _)?: "the connection failed (\(error.reason))"
            default: "the peer closed (FIN)"
            }
        throw Finding(.failed, "\(actor.name): \(what) where nothing was expected")
    }

    private func expectStalled(_ actor: ConnectionActor, for duration: Duration) async throws(Finding) {
        guard let transmission = actor.background else {
            throw Finding(.error, "nothing is being sent: `\(actor.name) start sending …` comes first")
        }
        waits[actor.name] = "the send to stall for \(DurationText.script(duration))"
        defer { waits[actor.name] = nil }
        let begun = MonotonicTime.now
        let deadline = begun + scaled(scenario.timeout) + duration
        while true {
            if case .done = transmission.state {
                throw Finding(
                    .failed, "the send did not stall: the kernel took all \(transmission.bytes.count) bytes",
                    hints: ["loopback absorbs over 4 MB: `with receive-buffer 4KiB` on the receiving side bounds it"])
            }
            if case .failed(let error, _) = transmission.state { throw sendFailed(error, actor) }
            let (taken, state) = (transmission.taken, transmission.state)
            // A wait for the script's own pace is no stall.
            // Counted from the step on, as silence is: what was due while the machine was late gets its turn first.
            let quiet = max(transmission.lastProgressOrPace, begun) + duration
            let since = max(transmission.lastProgressOrPace, begun)
            let moved: Bool? = try await wait(until: max(quiet, .now), from: since) { () throws(Finding) -> Bool? in
                transmission.taken != taken || transmission.state != state ? true : nil
            }
            let last = max(transmission.lastProgressOrPace, begun)
            if moved == nil && isOver(last + duration, from: last) { return }
            if isOver(deadline, from: begun) {
                throw Finding(
                    .failed,
                    "the send did not stall for \(DurationText.script(duration)): \(transmission.taken) of "
                        + "\(transmission.bytes.count) bytes taken, and still moving")
            }
        }
    }

    private func sendFailed(_ error: SystemError, _ actor: ConnectionActor) -> Finding {
        Finding(.failed, "\(actor.name)'s send failed: \(error.reason)")
    }

    private func expectSendFailed(
        _ actor: ConnectionActor, _ reason: String?, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        guard let transmission = actor.background else {
            throw Finding(.error, "nothing is being sent: `\(actor.name) start sending …` comes first")
        }
        let deadline = deadline(timing, from: time)
        waits[actor.name] = "the send to fail"
        defer { waits[actor.name] = nil }
        let failure = try await wait(until: deadline, from: time) { () throws(Finding) -> SystemError? in
            switch transmission.state {
            case .failed(let error, _): return error
            case .done:
                throw Finding(.failed, "the send succeeded: the kernel took all \(transmission.bytes.count) bytes")
            default: return nil
            }
        }
        if case .failed(_, let moment) = transmission.state {
            try judgeTime(moment, "the failure of the send", deadline, timing, time)
        }
        guard let failure else {
            throw Finding(.failed, "the send did not fail within \(DurationText.script(deadline - time))")
        }
        actor.sendFailureIsTaken = true
        guard let reason else { return }
        let actual = failure.code == ECONNRESET ? "reset" : failure.code == EPIPE ? "broken-pipe" : failure.reason
        // Linux tells the first send after an RST ECONNRESET, or EPIPE when the reading side has been told of it already.
        if actual != reason && !(reason == "reset" && failure.code == EPIPE) {
            throw Finding(.failed, "the send failed with \(actual), not with \(reason)")
        }
    }

    private func expectUrgent(
        _ bytes: [UInt8], _ actor: ConnectionActor, _ connection: Connection, _ timing: Timing,
        from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = deadline(timing, from: time)
        waits[actor.name] = "urgent \(EscapedText.quoted(bytes))"
        defer { waits[actor.name] = nil }
        let matched: Bool? = try await wait(until: deadline, from: time) { () throws(Finding) -> Bool? in
            let unread = Array(connection.urgent.unread)
            if !bytes.starts(with: unread.prefix(bytes.count)) {
                throw Finding(.failed, "\(actor.name): other urgent bytes came", expected: bytes, actual: unread)
            }
            return unread.count >= bytes.count ? true : nil
        }
        guard matched != nil else {
            throw Finding(
                .failed, "\(actor.name): no urgent byte came within \(DurationText.script(deadline - time))",
                expected: bytes,
                actual: Array(connection.urgent.unread))
        }
        if let completed = connection.urgent.arrival(of: max(0, bytes.count - 1)) {
            try judgeTime(completed, "urgent \(EscapedText.quoted(bytes))", deadline, timing, time)
        }
        connection.urgent.drop(bytes.count)
    }
}
