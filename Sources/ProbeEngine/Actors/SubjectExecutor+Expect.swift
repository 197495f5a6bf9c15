import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension SubjectExecutor {
    func expect(
        _ expectation: SubjectExpectation, _ subject: SubjectActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        let wanted = try resolve(expectation, subject)
        let deadline = deadline(of: wanted, timing, from: time)
        guard canMeasure(wanted) else {
            throw SubjectRequirements.unmeasurable(context.job.subject?.name ?? subject.name, at: nil)
        }
        let meter = meter(for: wanted)
        var pending = PendingSubjectExpectation(wanted, subject, framing: framing(of: subject), meter: meter)
        defer { context.actors.waits[subject.name] = nil }
        switch try await context.conclude(&pending, of: subject.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment {
                try context.judgeTime(
                    moment, wanted.eventName, deadline, scaledForTimeout(timing, wanted, subject), time,
                    own: pending.ownTime, isExact: driver?.reportsAreExact ?? false)
            }
            take(match, of: wanted, expectation, subject)
            meter?.take()
        case .impossible(let why):
            meter?.take()
            noteHeard(wanted, subject)
            throw try await explain(why, wanted, subject, deadline)
        }
    }

    /// With WebSocket, a value is compared with a text message only, as on a connection.
    private func message(
        _ pattern: Pattern, _ name: Name?, _ subject: SubjectActor
    ) throws(Finding) -> ResolvedSubjectExpectation {
        let text = try context.text(of: pattern)
        let isText = if case .any = text { false } else { framing(of: subject) == .websocket }
        if isText, case .value(let expression) = pattern { try context.refuseFrame(expression) }
        return .message(text, name: name?.value, kind: isText ? .text : nil)
    }

    /// Computes the values of an expectation.
    func resolve(
        _ expectation: SubjectExpectation, _ subject: SubjectActor
    ) throws(Finding) -> ResolvedSubjectExpectation {
        switch expectation {
        case .started: .started
        case .secured: .secured
        case .line(let pattern, let name): .line(try context.text(of: pattern), name: name?.value)
        case .message(let pattern, let name): try message(pattern, name, subject)
        case .messageOfKind(let kind, let pattern, let name):
            .message(try context.text(of: pattern), name: name?.value, kind: kind)
        case .ping(let payload): .control(isPing: true, try context.payload(of: payload))
        case .pong(let payload): .control(isPing: false, try context.payload(of: payload))
        case .leftover(let pattern, let name): .leftover(try context.text(of: pattern), name: name?.value)
        case .data(let pattern, let name): .data(try context.text(of: pattern), name: name?.value)
        case .halfClosed: .halfClosed
        case .discarded: .discarded
        case .full: .full
        case .drained: .drained
        case .lost(let reason, let name): .lost(reason: reason, name: name?.value)
        case .attemptFailed(let reason): .attemptFailed(reason: reason)
        case .bytes(let expression): .bytes(try context.bytes(of: expression))
        case .sent: .sent(told: subject.reports.toldToSend)
        case .accept: .accept
        case .error(let code): .error(code)
        case .stopped(let reason, let code):
            .stopped(reason: reason, code: try code.map { (code) throws(Finding) in try context.integer(of: code) })
        case .nothing(let duration): .nothing(for: duration)
        case .resource(let wanted): .resource(try context.resolve(wanted))
        }
    }

    /// - Returns: for a silence, its end.
    func deadline(
        of wanted: ResolvedSubjectExpectation, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        if case .nothing(let duration) = wanted { return time + duration }
        return context.deadline(timing, from: time)
    }

    /// The lower bound of a timeout that was told to the subject shrinks with it.
    private func scaledForTimeout(
        _ timing: Timing, _ wanted: ResolvedSubjectExpectation, _ subject: SubjectActor
    ) -> Timing {
        guard case .stopped = wanted, subject.reports.stopped?.reason == .timeout, context.settings.timeScale < 1 else {
            return timing
        }
        return Timing(within: timing.within, after: timing.after.map(context.scaled))
    }

    // MARK: What a met expectation takes

    private func take(
        _ match: SubjectMatch, of wanted: ResolvedSubjectExpectation, _ expectation: SubjectExpectation,
        _ subject: SubjectActor
    ) {
        if match.deliveries > 0 {
            let last = subject.reports.pending[match.deliveries - 1].time
            subject.reports.pending.removeFirst(match.deliveries)
            if !match.rest.isEmpty { subject.reports.pending.insert((.data(match.rest), last), at: 0) }
        }
        for (name, value) in match.bindings { context.bind(name, value) }
        if case .accept(let name) = expectation, match.accepted != nil { takeAccepted(as: name, subject) }
        if match.controls > 0 { subject.reports.controls.removeFirst(match.controls) }
        if match.failedAttempts > 0 { subject.reports.failedAttempts.removeFirst(match.failedAttempts) }
        if match.pressures > 0 { subject.reports.pressures.removeFirst(match.pressures) }
        noteHeard(wanted, subject)
    }

    /// The script knows of a stop or a refusal that a step has expected, also where the step expected another one.
    private func noteHeard(_ wanted: ResolvedSubjectExpectation, _ subject: SubjectActor) {
        switch wanted {
        case .error: subject.reports.refusal = nil
        case .stopped:
            if subject.reports.stopped != nil, subject.reports.pending.isEmpty { subject.reports.stopIsTaken = true }
        case .started, .secured, .line, .message, .control, .leftover, .data, .halfClosed, .discarded, .full, .drained,
            .lost, .attemptFailed, .bytes, .sent, .accept, .nothing, .resource:
            break
        }
    }

    /// The connection that a listening subject has accepted is a subject from here on.
    private func takeAccepted(as name: Name, _ listener: SubjectActor) {
        let (number, time) = listener.reports.accepted.removeFirst()
        let connection = SubjectActor(
            name: name.value, number: number, target: nil, configuration: SubjectOptions(), isListener: false)
        connection.acceptedBy = listener.name
        connection.acceptPort = listener.port
        connection.acceptIndex = listener.port.flatMap { listener.acceptCounts[$0] } ?? 0
        connection.acceptedAt = context.capture.captureTime(of: time)
        if let port = listener.port { listener.acceptCounts[port, default: 0] += 1 }
        connection.reports.wasStarted = true
        connection.reports.startedAt = time
        connection.reports.mayHalfClose = listener.reports.mayHalfClose
        connection.reports.mayDiscard = listener.reports.mayDiscard
        connection.reports.hasHighWater = listener.reports.hasHighWater
        connection.reports.speaksWebSocket = listener.reports.speaksWebSocket
        context.actors.enter(name.value, .subject(connection))
        for report in strayReports.removeValue(forKey: number) ?? [] { take(report, connection) }
    }

    private func explain(
        _ why: Impossibility, _ wanted: ResolvedSubjectExpectation, _ subject: SubjectActor, _ deadline: MonotonicTime
    ) async throws(Finding) -> Finding {
        var finding = why.finding
        if case .resource(let resource) = wanted { finding.details += meter?.details(of: resource.resource) ?? [] }
        if why.isMissed, wanted.delivery != nil {
            var again = PendingSubjectExpectation(wanted, subject, framing: framing(of: subject))
            if let hint = try await context.hintOfLateness(&again, of: subject.name, after: deadline) {
                finding.hints.append(hint)
            }
        }
        return finding
    }
}
