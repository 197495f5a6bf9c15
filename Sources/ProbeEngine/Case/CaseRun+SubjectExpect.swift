import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension CaseRun {
    func expect(
        _ expectation: SubjectExpectation, _ subject: SubjectActor, _ timing: Timing, _ step: Step,
        from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = deadline(timing, from: time)
        defer { waits[subject.name] = nil }
        switch expectation {
        case .started:
            waits[subject.name] = "started"
            let started = try await wait(until: deadline, from: time) { () throws(Finding) -> MonotonicTime? in
                if let startedAt = subject.startedAt { return startedAt }
                if subject.stopped != nil { throw instead("started", subject) }
                return nil
            }
            guard let started else { throw missing("started", subject, deadline, time) }
            try judgeTime(started, "started", deadline, timing, time, isExact: reportsAreExact)
        case .line(let pattern, let name):
            try await expectDelivery(["line"], try text(of: pattern), name, subject, timing, deadline, time)
        case .message(let pattern, let name):
            try await expectDelivery(["message", "line"], try text(of: pattern), name, subject, timing, deadline, time)
        case .leftover(let pattern, let name):
            try await expectDelivery(["leftover"], try text(of: pattern), name, subject, timing, deadline, time)
        case .data(let pattern, let name):
            try await expectDelivery(["data"], try text(of: pattern), name, subject, timing, deadline, time)
        case .bytes(let expression):
            try await expectData(try bytes(of: expression), subject, timing, deadline, time)
        case .sent: try await expectSent(subject, timing, deadline, time)
        case .stopped(let reason): try await expectStopped(reason, subject, timing, deadline, time)
        case .error(let code):
            guard let refusal = subject.refusal else {
                throw Finding(.failed, "\(subject.name)'s last op was taken, where the error \(code) was expected")
            }
            subject.refusal = nil
            if refusal.code != code {
                throw Finding(
                    .failed, "\(subject.name)'s last op answered the error \(refusal.code), not \(code)",
                    expected: Array(code.utf8), actual: Array(refusal.code.utf8))
            }
        case .accept(let name): try await expectAccept(name, subject, timing, deadline, time)
        case .nothing(let duration): try await expectNothing(subject, for: duration, from: time)
        }
    }

    private var reportsAreExact: Bool { driver?.reportsAreExact ?? false }

    // MARK: What it delivers

    /// The next event that is neither `started` nor `sent`.
    private func expectDelivery(
        _ kinds: [String], _ text: ExpectedText, _ name: Name?, _ subject: SubjectActor, _ timing: Timing,
        _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        let wanted = text.described(as: kinds[0])
        waits[subject.name] = wanted
        let next = try await wait(until: deadline, from: start) {
            () throws(Finding) -> (SubjectReport.Event, MonotonicTime)? in
            if let first = subject.pending.first { return (first.event, first.time) }
            if subject.stopped != nil { throw instead(wanted, subject) }
            return nil
        }
        guard let (event, time) = next else {
            throw try await missedDelivery(wanted, text, subject, deadline, start)
        }
        let payload = SubjectText.payload(event) ?? []
        guard kinds.contains(SubjectText.kind(event)) else {
            throw Finding(
                .failed, "\(subject.name) reported \(SubjectText.describe(event)) where \(wanted) was expected",
                expected: text.value, actual: payload)
        }
        guard let groups = text.match(payload) else {
            throw Finding(
                .failed, "\(subject.name) reported another \(SubjectText.kind(event)) than \(wanted)",
                expected: text.value, actual: payload, hints: deliveryHints(text, payload))
        }
        try judgeTime(time, wanted, deadline, timing, start, isExact: reportsAreExact)
        subject.pending.removeFirst()
        for (name, value) in groups { bind(name, value) }
        if let name { bind(name.value, .bytes(payload)) }
    }

    private func deliveryHints(_ text: ExpectedText, _ payload: [UInt8]) -> [String] {
        if let value = text.value, let terminator = UnitScan.terminator(of: scenario.framing),
            payload == value + terminator
        {
            return ["the terminator is part of what was delivered: a line is reported without it"]
        }
        if let value = text.value, payload == value + [13] {
            return ["a CR is left at the end: the transport splits at LF and keeps the CR of CRLF"]
        }
        if payload.isEmpty { return ["an empty line was delivered: a terminator was taken for two"] }
        return NearMiss.line(expected: text, actual: payload, framing: scenario.framing)
    }

    /// `T expect "bytes"`: data as it came, in however many events.
    private func expectData(
        _ bytes: [UInt8], _ subject: SubjectActor, _ timing: Timing, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        waits[subject.name] = EscapedText.quoted(bytes)
        var got: [UInt8] = []
        var used = 0
        let completed = try await wait(until: deadline, from: start) { () throws(Finding) -> MonotonicTime? in
            // What was compared before is not compared again: it may come in thousands of pieces.
            if used > subject.pending.count { (got, used) = ([], 0) }
            for (event, time) in subject.pending[used...] {
                guard case .data(let data) = event else {
                    throw Finding(
                        .failed, "\(subject.name) reported \(SubjectText.describe(event)) where data was expected",
                        expected: bytes, actual: got)
                }
                let seen = got.count
                got += data
                used += 1
                let common = min(got.count, bytes.count)
                if seen < common, got[seen..<common] != bytes[seen..<common] {
                    throw Finding(.failed, "\(subject.name) delivered other bytes", expected: bytes, actual: got)
                }
                if got.count >= bytes.count { return time }
            }
            if subject.stopped != nil { throw instead(EscapedText.quoted(bytes), subject) }
            return nil
        }
        guard let completed else {
            throw Finding(
                .failed, "\(subject.name) did not deliver the bytes within \(DurationText.script(deadline - start))",
                expected: bytes, actual: got)
        }
        try judgeTime(completed, EscapedText.quoted(bytes), deadline, timing, start, isExact: reportsAreExact)
        let rest = Array(got[bytes.count...])
        let last = subject.pending[used - 1].time
        subject.pending.removeFirst(used)
        if !rest.isEmpty { subject.pending.insert((.data(rest), last), at: 0) }
    }

    private func missedDelivery(
        _ wanted: String, _ text: ExpectedText, _ subject: SubjectActor, _ deadline: MonotonicTime,
        _ start: MonotonicTime
    ) async throws(Finding) -> Finding {
        var finding = missing(wanted, subject, deadline, start)
        finding.expected = text.value
        let late: MonotonicTime? = try await wait(until: max(deadline, .now) + lateness) {
            () throws(Finding) -> MonotonicTime? in
            subject.pending.first?.time
        }
        if let late, let first = subject.pending.first, text.match(SubjectText.payload(first.event) ?? []) != nil {
            finding.hints.append("it came \(DurationText.script(late - deadline)) after the deadline")
        }
        return finding
    }

    private func missing(
        _ wanted: String, _ subject: SubjectActor, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) -> Finding {
        Finding(
            .failed, "\(subject.name) did not report \(wanted) within \(DurationText.script(deadline - start))",
            hints: subject.wasStarted ? [] : ["`\(subject.name) start` has not run"])
    }

    private func instead(_ wanted: String, _ subject: SubjectActor) -> Finding {
        let stopped = subject.stopped
        return Finding(
            .failed, "\(subject.name) stopped (\(stopped?.reason.rawValue ?? "other")) where \(wanted) was expected",
            details: words(stopped?.detail))
    }

    // MARK: sent, stopped, accept, nothing

    private func expectSent(
        _ subject: SubjectActor, _ timing: Timing, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        let told = subject.toldToSend
        waits[subject.name] = "sent: \(told) bytes"
        if told == 0 { throw Finding(.error, "\(subject.name) was told to send nothing: there is no `sent` to expect") }
        let done: Bool? = try await wait(until: deadline, from: start) { () throws(Finding) -> Bool? in
            if subject.reportedSent > told {
                throw Finding(
                    .failed,
                    "\(subject.name) reported \(subject.reportedSent) bytes sent, more than the \(told) that it was told to"
                )
            }
            return subject.reportedSent == told ? true : nil
        }
        if done == nil {
            throw Finding(
                .failed,
                "\(subject.name) reported \(subject.reportedSent) of \(told) bytes sent within \(DurationText.script(deadline - start))",
                hints: subject.reportedSent == 0 ? ["no `sent` event came at all"] : ["the terminators count too"])
        }
        if let last = subject.lastSentReport {
            try judgeTime(last, "the last sent", deadline, timing, start, isExact: reportsAreExact)
        }
    }

    private func expectStopped(
        _ reason: String?, _ subject: SubjectActor, _ timing: Timing, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        let wanted = "stopped" + (reason.map { " \($0)" } ?? "")
        waits[subject.name] = wanted
        let known: Bool? = try await wait(until: deadline, from: start) { () throws(Finding) -> Bool? in
            // Before any other stop than `eof` a transport is free to report a leftover or not.
            if reason != "eof", subject.pending.count == 1, case .leftover? = subject.pending.first?.event {
                if let stopped = subject.stopped, stopped.reason != .eof { subject.pending = [] }
                if subject.stopped == nil { return nil }
            }
            if let first = subject.pending.first {
                throw Finding(
                    .failed,
                    "\(subject.name) reported \(SubjectText.describe(first.event)) where \(wanted) was expected",
                    actual: SubjectText.payload(first.event))
            }
            return subject.stopped != nil ? true : nil
        }
        guard known != nil, let stopped = subject.stopped else { throw missing(wanted, subject, deadline, start) }
        var timing = timing
        if stopped.reason == .timeout, settings.timeScale < 1 {
            // The lower bound of a timeout that was told to the subject shrinks with it.
            timing.after = timing.after.map(scaled)
        }
        try judgeTime(stopped.time, wanted, deadline, timing, start, isExact: reportsAreExact)
        subject.stopIsTaken = true
        if let reason, stopped.reason.rawValue != reason {
            var hints: [String] = []
            if reason == "eof" && stopped.reason == .reset { hints.append(NearMiss.resetInsteadOfFin) }
            if reason == "reset" && stopped.reason == .eof {
                hints.append("a reset was taken for the orderly end of the stream")
            }
            throw Finding(
                .failed, "\(subject.name) stopped with \(stopped.reason.rawValue), not with \(reason)",
                expected: Array(reason.utf8), actual: Array(stopped.reason.rawValue.utf8),
                details: words(stopped.detail), hints: hints)
        }
    }

    private func expectAccept(
        _ name: Name, _ subject: SubjectActor, _ timing: Timing, _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        waits[subject.name] = "accept"
        let next = try await wait(until: deadline, from: start) { () throws(Finding) -> (Int, MonotonicTime)? in
            subject.accepted.first.map { ($0.number, $0.time) }
        }
        guard let (number, time) = next else { throw missing("accept", subject, deadline, start) }
        try judgeTime(time, "accept", deadline, timing, start, isExact: reportsAreExact)
        subject.accepted.removeFirst()
        let connection = SubjectActor(
            name: name.value, number: number, target: nil, configuration: SubjectOptions(), isListener: false)
        connection.acceptedBy = subject.name
        connection.acceptIndex = subject.acceptCount
        connection.acceptedAt = wire.captureTime(of: time)
        subject.acceptCount += 1
        connection.wasStarted = true
        connection.startedAt = time
        context.actors.enter(name.value, .subject(connection))
        for report in strayReports.removeValue(forKey: number) ?? [] { take(report, connection) }
    }

    private func expectNothing(
        _ subject: SubjectActor, for duration: Duration, from begun: MonotonicTime
    ) async throws(Finding) {
        waits[subject.name] = "nothing for \(DurationText.script(duration))"
        let sentBefore = subject.reportedSent
        let end = begun + duration
        let broken = try await wait(until: end, from: begun) { () throws(Finding) -> (String, MonotonicTime)? in
            if let first = subject.pending.first { return (SubjectText.describe(first.event), first.time) }
            if subject.reportedSent != sentBefore {
                return ("sent \(subject.reportedSent - sentBefore)", subject.lastSentReport ?? .now)
            }
            // Taken is also the one that `T stop` asked for, whether it comes before this step or during it.
            if let stopped = subject.stopped, !subject.stopIsTaken {
                return ("stopped \(stopped.reason.rawValue)", stopped.time)
            }
            return subject.accepted.first.map { ("accept", $0.time) }
        }
        if let (broken, moment) = broken,
            try breaksSilence("\(subject.name) reported \(broken)", at: moment, from: begun, to: end)
        {
            throw Finding(
                .failed, "\(subject.name) reported \(broken) where nothing was expected",
                expected: subject.pending.isEmpty ? nil : [],
                actual: subject.pending.first.flatMap { SubjectText.payload($0.event) })
        }
    }
}
