import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

extension CaseRun {
    func act(
        _ subject: SubjectActor, _ action: SubjectAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let refusal = subject.reports.refusal {
            if case .expect(.error) = action {} else { throw refused(refusal.code, subject, at: refusal.step) }
        }
        switch action {
        case .start: try await start(subject, step)
        case .stop:
            subject.reports.isStopping = true
            mark(step, "\(subject.name) stop", .anySubjectPacket)
            try await operate(.stop, subject, step)
        case .send(let statement):
            let message = try message(of: statement)
            try await settle(subject)
            mark(step, "\(subject.name) send \(EscapedText.quoted(message))", .subjectData)
            try await operate(.send(message), subject, step)
            if subject.reports.refusal == nil {
                subject.reports.toldToSend += FramedLength.of(message, framing: scenario.framing)
            }
        case .halfClose:
            try await settle(subject)
            mark(step, "\(subject.name) half-close", .anySubjectPacket)
            try await operate(.halfClose, subject, step)
        case .stopReading:
            try await settle(subject)
            try await operate(.stopReading, subject, step)
        case .resumeReading:
            try await settle(subject)
            try await operate(.resumeReading, subject, step)
        case .read(let request):
            try await settle(subject)
            let read: TransportRead =
                switch request {
                case .any: .any
                case .length(let expression): .length(max(0, try integer(of: expression)))
                case .until(let expression): .until(try bytes(of: expression))
                }
            try await operate(.read(read, timeout: timing.within.map(scaled)), subject, step)
        case .expect(let expectation):
            try await expect(expectation, subject, timing, from: time)
        }
    }

    // MARK: Operations

    private func start(_ subject: SubjectActor, _ step: Step) async throws(Finding) {
        var host = "127.0.0.1"
        var port: UInt16 = 0
        switch subject.target {
        case .address(let expression):
            let address = try address(of: expression)
            (host, port) = (expression.host, address.port)
            // A name is resolved by the subject itself: it may go to another address than the harness would.
            let isNumeric = SocketAddress(numeric: expression.host, port: port) != nil
            let endpoint = SocketEndpoint(address)
            let pattern = isNumeric ? EndpointPattern(endpoint) : EndpointPattern(anyAddressPort: port)
            try await noteStart(subject, at: pattern)
        case .actor(let name):
            let address = try address(of: .actor(name), for: subject.name)
            (host, port) = (address.host, address.port)
            try await noteStart(subject, at: nil)
        case nil: break
        }
        let configuration = TransportConfiguration(
            host: host, port: port, framing: Framing(rawValue: scenario.framing.rawValue) ?? .crlf,
            maxLine: try scenario.maxLine.map { (limit) throws(Finding) in try self.integer(of: limit) } ?? 1024,
            connectTimeout: subject.configuration.connectTimeout.map(scaled),
            idleTimeout: subject.configuration.idleTimeout.map(scaled))
        mark(step, "\(subject.name) start", .anySubjectPacket)
        let wasStarted = subject.wasStarted
        subject.reports.wasStarted = true
        let operation: SubjectOperation = subject.isListener ? .listen(configuration) : .connect(configuration)
        try await operate(operation, subject, step)
        if subject.reports.refusal != nil {
            subject.reports.wasStarted = wasStarted
            noteSettled(subject, at: .now, isConnected: false, hasEnded: true)
        }
        if subject.isListener, subject.reports.refusal == nil, let port = subject.port {
            wire.claimListener(EndpointPattern(anyAddressPort: port))
        }
    }

    /// After a `start`, most ops wait until it is known what came of it.
    private func settle(_ subject: SubjectActor) async throws(Finding) {
        guard subject.wasStarted, !subject.isListener else { return }
        waits[subject.name] = "started"
        defer { waits[subject.name] = nil }
        let begun = MonotonicTime.now
        let deadline = begun + scaled(scenario.timeout)
        let known: Bool? = try await wait(until: deadline, from: begun) { () throws(Finding) -> Bool? in
            subject.hasStarted || subject.stopped != nil ? true : nil
        }
        if known == nil {
            throw Finding(
                .failed,
                "\(subject.name) reported neither started nor stopped within "
                    + DurationText.script(scaled(scenario.timeout)))
        }
    }

    /// Gives the subject one operation and waits until it is taken.
    func operate(_ operation: SubjectOperation, _ subject: SubjectActor, _ step: Step?) async throws(Finding) {
        guard let driver else {
            throw Finding(.error, "there is no transport under test: `--transport NAME` chooses one")
        }
        nextReply += 1
        let ticket = nextReply
        driver.perform(operation, on: subject.number) { [weak self] reply in
            guard let self else { return }
            self.reactor.post {
                self.assumeIsolated { run in
                    run.subjectReplies[ticket] = reply
                    run.context.changes.notifyAll()
                }
            }
        }
        waits[subject.name] = "the subject to take the op"
        defer { waits[subject.name] = nil }
        let (begun, patience) = (MonotonicTime.now, scaled(scenario.timeout))
        let reply = try await wait(until: begun + patience, from: begun) { () throws(Finding) -> SubjectReply? in
            subjectReplies.removeValue(forKey: ticket)
        }
        switch reply {
        case .done(let port): if let port { subject.port = port }
        case .refused(let code):
            record(.event(actor: subject.name, "error \(EscapedBytes.safeText(code.utf8))"))
            guard let step else { return }
            if code == "unsupported" && !index.expectsRefusal(after: step.id) {
                throw Finding(.unsupported, "\(context.job.subject?.name ?? subject.name) does not support this op")
            }
            guard index.expectsRefusal(after: step.id) else { throw refused(code, subject, at: step.focus) }
            subject.reports.refusal = (code, step.focus)
        case .broken(let failure):
            throw finding(failure)
        case nil:
            if let failure = driver.silence() { throw finding(failure) }
            throw Finding(
                .failed,
                "\(subject.name) did not take the op within \(DurationText.script(patience)): the transport blocks")
        }
    }

    private func refused(_ code: String, _ subject: SubjectActor, at span: SourceSpan) -> Finding {
        Finding(
            .failed, at: span, "\(subject.name) answered this op with the error \(EscapedBytes.safeText(code.utf8))",
            hints: ["where that is right, `\(subject.name) expect error \(EscapedBytes.safeText(code.utf8))` says so"])
    }

    // MARK: Reports

    /// Something that the subject said; also what it must not say fails the case here.
    func receive(_ report: SubjectReport) {
        switch report.event {
        case .broken(let failure):
            raise(finding(failure))
            return
        case .output(let line):
            recordOutput(line, at: report.time)
            return
        default: break
        }
        guard let subject = actors.subject(number: report.connection) else {
            strayReports[report.connection, default: []].append(report)
            changes.notifyAll()
            return
        }
        take(report, subject)
        changes.notifyAll()
    }

    func take(_ report: SubjectReport, _ subject: SubjectActor) {
        record(.event(actor: subject.name, SubjectText.describe(report.event)), at: report.time)
        if let stopped = subject.stopped {
            raise(
                Finding(
                    .failed,
                    "\(subject.name) reported \(SubjectText.describe(report.event)) after it had reported "
                        + "stopped \(stopped.reason.rawValue)",
                    hints: ["a transport reports its stop exactly once, and nothing after it"]))
            return
        }
        let violation = subject.reports.protocolViolation(report.event) { strayReports[$0]?.isEmpty ?? true }
        if let what = violation {
            raise(
                Finding(
                    .failed, "\(subject.name) reported \(SubjectText.describe(report.event)) \(what)",
                    actual: SubjectText.payload(report.event),
                    hints: ["a transport's life is: start, started, what it delivers, stopped; each of the three once"])
            )
            return
        }
        subject.reports.add(report)
        switch report.event {
        case .started: noteSettled(subject, at: report.time, isConnected: true, hasEnded: false)
        case .stopped(let reason, let detail):
            noteSettled(subject, at: report.time, isConnected: false, hasEnded: true)
            if subject.reports.isStopping && reason == .stopped {
                subject.reports.stopIsTaken = true
            } else if !index.expectsStop(of: subject.name, from: position) {
                raise(unexpectedStop(subject, reason, detail))
            }
        case .sent, .accepted, .line, .message, .data, .leftover, .output, .broken: break
        }
    }

    private func unexpectedStop(_ subject: SubjectActor, _ reason: StopReason, _ detail: String?) -> Finding {
        Finding(
            .failed, "\(subject.name) stopped (\(reason.rawValue)), and no later step expects that",
            details: SubjectText.words(detail),
            hints: [
                subject.reports.isStopping
                    ? "it was told to stop: behind that its reason is `stopped`, whatever else it met"
                    : "where that is right, `\(subject.name) expect stopped \(reason.rawValue)` says so"
            ])
    }

    // MARK: The end

    /// Tells subjects that have not stopped to stop; what they say until they have answered still counts.
    func concludeSubjects() async throws(Finding) {
        try await stopSubjects()
        try await settleSubject()
        for name in actorOrder {
            guard case .subject(let subject)? = actors[name] else { continue }
            if subject.stopped != nil && !subject.reports.stopIsTaken, let stopped = subject.stopped {
                throw unexpectedStop(subject, stopped.reason, stopped.detail)
            }
            if subject.reports.reportedSent > subject.reports.toldToSend {
                throw Finding(
                    .failed,
                    "\(subject.name) reported \(subject.reports.reportedSent) bytes sent, more than the \(subject.reports.toldToSend) that it "
                        + "was told to")
            }
            // A leftover before any other stop than `eof` is free: what lay half received when it was told to stop.
            if let stopped = subject.stopped, stopped.reason != .eof, case .leftover? = subject.pending.last?.event {
                subject.reports.pending.removeLast()
            }
            if let first = subject.pending.first {
                throw Finding(
                    .failed, "\(subject.name) reported \(SubjectText.describe(first.event)), and no step expected it",
                    actual: SubjectText.payload(first.event),
                    details: subject.pending.count > 1 ? ["and \(subject.pending.count - 1) more after it"] : [])
            }
            if !subject.reports.accepted.isEmpty {
                throw Finding(
                    .failed, "\(subject.name) accepted a connection that no step took",
                    hints: ["`\(subject.name) expect accept as A` takes it"])
            }
        }
        if let (number, reports) = strayReports.min(by: { $0.key < $1.key }), let first = reports.first {
            throw Finding(
                .failed,
                "the subject reported \(SubjectText.describe(first.event)) for a connection (\(number)) that it never announced"
            )
        }
        if driver != nil {
            // A second `stopped` comes on the heels of the first: a moment for it to arrive.
            let _: Void? = try await wait(until: .now + .milliseconds(2)) { () throws(Finding) -> Void? in nil }
        }
    }

    private func stopSubjects() async throws(Finding) {
        for name in actorOrder {
            guard case .subject(let subject)? = actors[name] else { continue }
            if let refusal = subject.reports.refusal { throw refused(refusal.code, subject, at: refusal.step) }
            if subject.wasStarted && !subject.isListener && subject.stopped == nil {
                subject.reports.isStopping = true
                try await operate(.stop, subject, nil)
                let (begun, patience) = (MonotonicTime.now, scaled(scenario.timeout))
                let known: Bool? = try await wait(until: begun + patience, from: begun) { () throws(Finding) -> Bool? in
                    subject.stopped != nil ? true : nil
                }
                if known == nil {
                    throw Finding(
                        .failed,
                        "\(subject.name) did not report stopped within \(DurationText.script(patience)) of being told to stop"
                    )
                }
            }
        }
    }
}
