import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

/// Runs the actions of subjects: passes operations to the transport under test, and handles its reports.
final class SubjectExecutor {
    let context: CaseContext
    /// The Swift actor of the case, through which callbacks return to the case's thread.
    private weak var run: CaseRun?
    private(set) var driver: (any SubjectDriver)?
    /// The meter for the resource usage of the subject's program; `nil` if the subject has no separate program, or if
    /// no step measures the usage.
    private(set) var meter: ResourceMeter?
    /// The name of the case that the subject's process served before this case.
    private(set) var servedBefore: String?
    /// The reason why no driver for the transport under test is available.
    private var failure: SubjectFailure?
    /// The replies that have not been processed yet, by the number of the operation.
    private var replies: [Int: SubjectReply] = [:]
    /// The first machine error that the subject has reported.
    var machineFailure: SubjectFailure?
    private var nextReply = 0
    /// The subjects that were asked to start TLS, by the number of the operation. Once a subject has replied, it must
    /// not deliver anything until the handshake is complete.
    private var securing: [Int: SubjectActor] = [:]
    /// Whether steps of this case request reads.
    private var readsOnDemand = false
    var outputLines = 0
    /// Reports for connections that no step has named yet (`expect accept as`).
    var strayReports: [Int: [SubjectReport]] = [:]

    init(_ context: CaseContext) { self.context = context }

    /// Prepares the transport under test, if the scenario involves one.
    ///
    /// - Throws: an error that states why there is no transport, or which capability required by the scenario is
    ///   missing.
    func prepare(for run: CaseRun) async throws(Finding) {
        self.run = run
        guard context.scenario.needsSubject, let source = context.job.subject else { return }
        let scan = CapabilityScan(context.scenario)
        source.makeDriver(
            // Resources that connections of other cases still occupy must not be measured.
            isFresh: context.job.needsFreshSubject || scan.measures,
            in: try context.links.subjectPlace(in: context.scenario),
            handler: { [weak run] report in
                guard let run else { return }
                run.reactor.post { run.assumeIsolated { $0.subjects.receive(report) } }
            },
            ready: { [weak run] result in
                // A driver that is not handed over to a run closes itself.
                guard let run else { return }
                run.reactor.post { run.assumeIsolated { $0.subjects.take(result) } }
            })
        // Most driver sources limit the time for creating a driver. This deadline applies to the sources that set no
        // limit.
        let begun = MonotonicTime.now
        let made = try await context.wait(until: begun + .seconds(60), from: begun) {
            () throws(Finding) -> (any SubjectDriver)? in
            if let failure { throw Finding(failure) }
            return driver
        }
        guard let driver = made else { throw Finding(.error, "\(source.name) did not become ready") }
        servedBefore = driver.servedBefore
        driver.serve(context.job.id)
        let requirements = SubjectRequirements(scenario: context.scenario, scan: scan, name: source.name)
        try requirements.checkHeader(driver)
        if !context.hasSubject { return }
        try requirements.checkSteps(driver)
        readsOnDemand = scan.asksToRead && driver.capabilities.contains(.reads)
        if scan.measures { meter = driver.processes.map(ResourceMeter.forRunning) }
    }

    /// Returns the meter for an expectation about resource usage; `nil` for any other expectation.
    func meter(for resolved: ResolvedSubjectExpectation) -> ResourceMeter? {
        if case .resource = resolved { meter } else { nil }
    }

    func canMeasure(_ resolved: ResolvedSubjectExpectation) -> Bool {
        if case .resource = resolved { meter != nil } else { true }
    }

    func take(_ result: Result<any SubjectDriver, SubjectFailure>) {
        switch result {
        case .success(let made):
            if context.faults.isTearingDown { made.close(isReusable: true, late: nil) } else { driver = made }
        case .failure(let failure): self.failure = failure
        }
        context.changes.notifyAll()
    }

    /// Releases the transport.
    ///
    /// - Parameters:
    ///   - late: receives what the subject's program reports until the program has ended.
    ///   - ended: called on any thread when the subject's program has ended.
    func close(isReusable: Bool, late: LateReportCollector?, ended: @escaping @Sendable () -> Void = {}) {
        guard let driver else { return ended() }
        driver.close(isReusable: isReusable, late: late)
        driver.whenEnded(ended)
        self.driver = nil
    }

    func act(
        _ subject: SubjectActor, _ action: SubjectAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        if let refusal = subject.reports.refusal {
            if case .expect(.error) = action {} else { throw subject.refused(refusal.code, at: refusal.step) }
        }
        switch action {
        case .start: try await start(try await renewed(subject, step), step)
        case .stop:
            try await waitForReports([subject])
            subject.reports.isStopping = true
            context.annotations.add(step, "\(subject.name) stop", .anySubjectPacket)
            try await operate(.stop, subject, step)
        case .send(let statement), .sendBinary(let statement):
            let message = try context.message(of: statement)
            try await settle(subject)
            let isBinary = if case .sendBinary = action { true } else { false }
            try await send(message, as: isBinary ? .binary : .text, subject, step)
        case .sendEarly(let statement):
            try await send(try context.message(of: statement), as: .text, subject, step)
        case .ping, .closeFrame:
            guard let operation = try SubjectWebSocket(context: context).operation(action) else { return }
            try await settle(subject)
            context.annotations.add(step, "\(subject.name) \(operation.text)", .subjectData)
            subject.reports.lastSend = .now
            try await operate(operation.value, subject, step)
        case .operate(let operation):
            if operation.ends {
                try await waitForReports([subject])
                subject.reports.isStopping = true
            } else {
                try await settle(subject)
            }
            if operation.sends {
                subject.reports.lastSend = .now
                let spelling = Action.subject(action).entry.spelling
                context.annotations.add(step, "\(subject.name) \(spelling)", .anySubjectPacket)
            }
            try await operate(.plain(operation), subject, step)
        case .framing(let framing, let count):
            let messages = try count.map { (count) throws(Finding) in try context.integer(of: count) }
            try await settle(subject)
            try await operate(.framing(framing, behind: messages), subject, step)
            guard subject.reports.refusal == nil, let change = subject.change(framing: framing, behind: messages)
            else { break }
            let text = context.text(of: step.span)
            context.conditions.add(at: step.span, isOptional: step.isOptional) { [name = subject.name] in
                change.hasBegun
                    ? nil
                    : .never(
                        text, "\(name) delivered \(change.delivered) of \(ByteText.count(change.wanted, "message"))")
            }
        case .read(let request):
            try await settle(subject)
            let read: TransportRead =
                switch request {
                case .any: .any
                case .length(let expression): .length(try context.integer(of: expression))
                case .until(let expression): .until(try context.bytes(of: expression))
                }
            try await operate(.read(read, timeout: timing.within.map(context.scaled)), subject, step)
        case .startTLS(let options):
            try await settle(subject)
            try await startTLS(options, subject, step)
        case .expect(let expectation):
            try await expect(expectation, subject, timing, from: time)
        }
    }

    // MARK: Operations

    private func start(_ subject: SubjectActor, _ step: Step) async throws(Finding) {
        let (target, place) = try StartConfiguration.target(of: subject, context)
        if subject.target != nil { try await context.noteStart(subject, at: place) }
        let configuration = try StartConfiguration(context: context, subject: subject, readsOnDemand: readsOnDemand)
            .configuration(to: target)
        subject.reports.mayHalfClose = configuration.allowsHalfClose
        subject.reports.mayDiscard = configuration.discardsTooLong
        subject.reports.mayReconnect = configuration.reconnect != nil
        subject.reports.isSecuredAtStart = configuration.tls != nil
        subject.reports.hasHighWater = configuration.highWater != nil
        subject.reports.speaksWebSocket = configuration.framing == .websocket
        // A running subject answers a `start` with `already-started`, and keeps its state.
        if !subject.wasStarted { subject.reports.security = configuration.tls == nil ? .none : .due }
        context.annotations.add(step, "\(subject.name) start", .anySubjectPacket)
        let wasStarted = subject.wasStarted
        subject.reports.wasStarted = true
        if !subject.isListener { subject.reports.startRequestedAt = .now }
        let operation: SubjectOperation = subject.isListener ? .listen(configuration) : .connect(configuration)
        try await operate(operation, subject, step)
        if subject.reports.refusal != nil {
            subject.reports.wasStarted = wasStarted
            context.noteSettled(subject, at: .now, isConnected: false, hasEnded: true)
        }
        if subject.isListener, subject.reports.refusal == nil, let port = subject.port {
            context.capture.addListener(EndpointPattern(anyAddressPort: port))
        }
    }

    private func startTLS(_ options: TLSOptions, _ subject: SubjectActor, _ step: Step) async throws(Finding) {
        let tls = try StartConfiguration(context: context, subject: subject, readsOnDemand: readsOnDemand)
            .security(options.over(subject.tls))
        let before = subject.reports.security
        if before == .none { subject.reports.security = .requested }
        context.annotations.add(step, "\(subject.name) start tls", .subjectData)
        securing[nextReply + 1] = subject
        try await operate(.startTLS(tls), subject, step)
        if subject.reports.refusal != nil { subject.reports.security = before }
    }

    /// Returns the framing that currently divides a subject's stream into lines and messages.
    func framing(of subject: SubjectActor) -> Framing { subject.framing ?? context.scenario.framing }

    private func send(
        _ message: [UInt8], as kind: WebSocketMessageKind, _ subject: SubjectActor, _ step: Step
    ) async throws(Finding) {
        context.annotations.add(step, "\(subject.name) send \(Escaped.phrase(message))", .subjectData)
        let isWebSocket = framing(of: subject) == .websocket
        subject.reports.lastSend = .now
        try await operate(.send(message, as: isWebSocket ? kind : nil), subject, step)
        if subject.reports.refusal == nil {
            subject.reports.requestedBytes += framing(of: subject).length(of: message)
        }
    }

    /// Waits until the result of a `start` or a `start tls` is known. Most operations can't begin before the result is
    /// known.
    private func settle(_ subject: SubjectActor) async throws(Finding) {
        guard subject.wasStarted, !subject.isListener else { return }
        let isSecuring = subject.hasStarted && subject.reports.security == .due
        let awaited = isSecuring ? "secured" : "started"
        context.actors.waits[subject.name] = awaited
        defer { context.actors.waits[subject.name] = nil }
        let begun = MonotonicTime.now
        let deadline = begun + context.scaled(context.scenario.timeout)
        let known: Bool? = try await context.wait(until: deadline, from: begun) { () throws(Finding) -> Bool? in
            if subject.stopped != nil { return true }
            return subject.hasStarted && subject.reports.security != .due ? true : nil
        }
        if known == nil {
            throw Finding(
                .failed,
                "\(subject.name) reported neither `\(awaited)` nor `stopped` within "
                    + DurationText.script(context.scaled(context.scenario.timeout)))
        }
    }

    /// Passes one operation to the subject, and waits until the subject has accepted it.
    func operate(_ operation: SubjectOperation, _ subject: SubjectActor, _ step: Step?) async throws(Finding) {
        guard let driver else {
            throw Finding(.error, "there is no transport under test: select one with `--transport NAME`")
        }
        nextReply += 1
        let number = nextReply
        driver.perform(operation, on: subject.number) { [weak run = self.run] reply in
            guard let run else { return }
            run.reactor.post { run.assumeIsolated { $0.subjects.take(reply, number) } }
        }
        context.actors.waits[subject.name] = "the subject to accept the op"
        defer { context.actors.waits[subject.name] = nil }
        let (begun, timeout) = (MonotonicTime.now, context.scaled(context.scenario.timeout))
        let reply = try await context.wait(until: begun + timeout, from: begun) {
            () throws(Finding) -> SubjectReply? in
            replies.removeValue(forKey: number)
        }
        switch reply {
        case .done(let port): if let port { subject.ports.append(port) }
        case .refused(let code):
            context.record(.event(actor: subject.name, "error \(Escaped.text(code.utf8))"))
            guard let step else { return }
            if code == "unsupported" && !context.index.expectsRefusal(after: step.id) {
                throw Finding(
                    .unsupported, "\(context.job.subject?.name ?? subject.name) does not support this op")
            }
            guard context.index.expectsRefusal(after: step.id) else { throw subject.refused(code, at: step.focus) }
            subject.reports.refusal = (code, step.focus)
        case .broken(let failure):
            throw Finding(failure)
        case nil:
            if let failure = driver.silence() { throw Finding(failure) }
            throw Finding(
                .failed,
                "\(subject.name) did not accept the op within \(DurationText.script(timeout)): the transport is blocked"
            )
        }
    }

    /// Handles a subject's reply to an operation.
    func take(_ reply: SubjectReply, _ number: Int) {
        replies[number] = reply
        if case .broken(let failure) = reply, failure.machine != nil { machineFailure = machineFailure ?? failure }
        // Change the security state as soon as the reply arrives rather than when the step resumes, because reports may
        // arrive before the step resumes.
        if let subject = securing.removeValue(forKey: number), case .done = reply,
            subject.reports.security == .requested
        {
            subject.reports.security = .due
        }
        context.changes.notifyAll()
    }
}

extension Finding {
    /// Creates the finding for a subject's program that doesn't work as an adapter. The case then ends in an error or
    /// is unsupported.
    init(_ failure: SubjectFailure) {
        self.init(
            failure.isUnsupported ? .unsupported : .error, failure.summary,
            details: failure.details + failure.resourcesLeft,
            hints: failure.machine.map { [$0.advice] } ?? [])
    }
}

extension SubjectExecutor {
    func expect(
        _ expectation: SubjectExpectation, _ subject: SubjectActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        let resolved = try resolve(expectation, subject)
        let deadline = deadline(of: resolved, timing, from: time)
        guard canMeasure(resolved) else {
            throw SubjectRequirements.unmeasurable(context.job.subject?.name ?? subject.name, at: nil)
        }
        let meter = meter(for: resolved)
        var pending = PendingSubjectExpectation(resolved, subject, framing: framing(of: subject), meter: meter)
        defer { context.actors.waits[subject.name] = nil }
        switch try await context.conclude(&pending, of: subject.name, from: time, until: deadline) {
        case .satisfied(let match, let moment):
            if let moment {
                try context.requireTiming(
                    moment, resolved.eventName, deadline, scaledForTimeout(timing, resolved, subject), time,
                    own: pending.ownTime, isExact: driver?.reportsAreExact ?? false)
            }
            take(match, of: resolved, expectation, subject)
            meter?.take()
        case .impossible(let why):
            meter?.take()
            noteConsumed(resolved, subject)
            throw try await explain(why, resolved, subject, deadline)
        }
    }

    /// Resolves an expected message. With WebSocket, a value is compared with text messages only, as on the harness's
    /// connections.
    private func message(
        _ pattern: Pattern, _ name: Name?, _ subject: SubjectActor
    ) throws(Finding) -> ResolvedSubjectExpectation {
        let text = try context.text(of: pattern)
        let isText = if case .any = text { false } else { framing(of: subject) == .websocket }
        if isText, case .value(let expression) = pattern { try context.refuseFrame(expression) }
        return .message(text, name: name?.value, kind: isText ? .text : nil)
    }

    /// Computes the values of the expressions in an expectation.
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
        case .sent: .sent(requested: subject.reports.requestedBytes)
        case .accept: .accept
        case .error(let code): .error(code)
        case .stopped(let reason, let code):
            .stopped(reason: reason, code: try code.map { (code) throws(Finding) in try context.integer(of: code) })
        case .nothing(let duration): .nothing(for: duration)
        case .resource(let resolved): .resource(try context.resolve(resolved))
        }
    }

    /// Returns the deadline of an expectation; for an expected silence, the end of its period.
    func deadline(
        of resolved: ResolvedSubjectExpectation, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        if case .nothing(let duration) = resolved { return time + duration }
        return context.deadline(timing, from: time)
    }

    /// Scales the lower bound for a stop whose reason is a timeout, because the timeout that was passed to the subject
    /// was scaled, too.
    private func scaledForTimeout(
        _ timing: Timing, _ resolved: ResolvedSubjectExpectation, _ subject: SubjectActor
    ) -> Timing {
        guard case .stopped = resolved, subject.reports.stopped?.reason == .timeout, context.settings.timeScale < 1
        else {
            return timing
        }
        return Timing(within: timing.within, after: timing.after.map(context.scaled))
    }

    // MARK: Consumption by a satisfied expectation

    private func take(
        _ match: SubjectMatch, of resolved: ResolvedSubjectExpectation, _ expectation: SubjectExpectation,
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
        noteConsumed(resolved, subject)
    }

    /// Records that a step has expected a stop or a refusal, even if the step expected a different reason.
    private func noteConsumed(_ resolved: ResolvedSubjectExpectation, _ subject: SubjectActor) {
        switch resolved {
        case .error: subject.reports.refusal = nil
        case .stopped:
            if subject.reports.stopped != nil, subject.reports.pending.isEmpty { subject.reports.stopIsConsumed = true }
        case .started, .secured, .line, .message, .control, .leftover, .data, .halfClosed, .discarded, .full, .drained,
            .lost, .attemptFailed, .bytes, .sent, .accept, .nothing, .resource:
            break
        }
    }

    /// Creates an actor for a connection that a listening subject has accepted.
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
        _ why: Impossibility, _ resolved: ResolvedSubjectExpectation, _ subject: SubjectActor, _ deadline: MonotonicTime
    ) async throws(Finding) -> Finding {
        var finding = why.finding
        if case .resource(let resource) = resolved { finding.details += meter?.details(of: resource.resource) ?? [] }
        if why.isMissed, resolved.delivery != nil {
            var again = PendingSubjectExpectation(resolved, subject, framing: framing(of: subject))
            if let hint = try await context.latenessHint(&again, of: subject.name, after: deadline) {
                finding.hints.append(hint)
            }
        }
        return finding
    }
}

extension SubjectExecutor {
    /// Waits until the events that the subject's program has reported so far have arrived, because one of them may show
    /// that the machine caused the failure.
    func waitForRemainingReports() async {
        guard let driver, driver.drainInterval > .zero else { return }
        let end = MonotonicTime.now + driver.drainInterval
        while machineFailure == nil, MonotonicTime.now < end { await context.pause(until: end) }
    }

    /// Handles a report from the subject. If the report violates the protocol, the case fails at once.
    func receive(_ report: SubjectReport) {
        switch report.event {
        case .broken(let failure):
            if failure.machine != nil { machineFailure = machineFailure ?? failure }
            context.raise(Finding(failure))
            return
        case .output(let line):
            recordOutput(line, at: report.time)
            return
        case .started, .secured, .accepted, .line, .message, .ping, .pong, .data, .leftover, .sent, .halfClosed,
            .discarded, .full, .drained, .lost, .attemptFailed, .stopped:
            break
        }
        guard let subject = context.actors.subject(number: report.connection) else {
            strayReports[report.connection, default: []].append(report)
            context.changes.notifyAll()
            return
        }
        take(report, subject)
        context.changes.notifyAll()
    }

    func take(_ report: SubjectReport, _ subject: SubjectActor) {
        context.record(.event(actor: subject.name, SubjectText.describe(report.event)), at: report.time)
        if let stopped = subject.stopped {
            context.raise(
                Finding(
                    .failed,
                    "\(subject.name) reported \(SubjectText.describe(report.event)) after it had reported "
                        + "`stopped \(SubjectText.word(stopped.reason))`",
                    hints: ["report `stopped` exactly once, and nothing after it"]))
            return
        }
        let violation = subject.reports.protocolViolation(report.event) { strayReports[$0]?.isEmpty ?? true }
        if let what = violation {
            context.raise(
                Finding(
                    .failed, "\(subject.name) reported \(SubjectText.describe(report.event)) \(what)",
                    actual: SubjectText.payload(report.event),
                    hints: [subject.reports.lifecycleDescription])
            )
            return
        }
        subject.reports.add(report)
        subject.reports.lastReport = report.time
        switch report.event {
        case .line, .message, .data: subject.delivered()
        case .started: context.noteSettled(subject, at: report.time, isConnected: true, hasEnded: false)
        case .lost, .attemptFailed:
            subject.beginAgain()
            context.starts.beginAgain(subject, at: context.capture.captureTime(of: report.time))
        case .stopped(let reason, let detail):
            context.noteSettled(subject, at: report.time, isConnected: false, hasEnded: true)
            if subject.reports.isStopping && reason == .stopped {
                subject.reports.stopIsConsumed = true
            } else if !context.index.expectsStop(of: subject.name, from: context.progress.position) {
                context.raise(subject.unexpectedStop(reason, detail))
            }
        case .secured, .ping, .pong, .sent, .accepted, .leftover, .halfClosed, .discarded, .full, .drained, .output,
            .broken:
            break
        }
    }

    /// The maximum number of lines from a subject's stderr that are added to the timeline.
    private static let keptOutputLines = 2000

    private func recordOutput(_ line: [UInt8], at time: MonotonicTime) {
        outputLines += 1
        if outputLines > Self.keptOutputLines { return }
        context.record(.output(actor: context.job.subject?.name ?? "subject", isError: true, line), at: time)
    }

    // MARK: The end of the case

    /// Stops subjects that are still running. Events that a subject reports before it answers the `stop` are still
    /// judged.
    func conclude() async throws(Finding) {
        try await waitForReports(context.actors.subjects)
        try await stopSubjects()
        try await settleSubject()
        for subject in context.actors.subjects {
            try requireNoUnexpectedReports(of: subject)
            if let finding = TLSCaseEnd(context: context).contradiction(of: subject) { throw finding }
        }
        if let (number, reports) = strayReports.min(by: { $0.key < $1.key }), let first = reports.first {
            throw Finding(
                .failed,
                "the subject reported \(SubjectText.describe(first.event)) for connection \(number), which it never announced"
            )
        }
        if driver != nil {
            // Wait briefly, because an invalid second `stopped` report would immediately follow the first one.
            try await context.wait(until: .now + .milliseconds(2))
        }
    }

    /// Throws if the subject has reported anything that no step expected. Must be called only after the subject's last
    /// operation.
    private func requireNoUnexpectedReports(of subject: SubjectActor) throws(Finding) {
        if subject.stopped != nil && !subject.reports.stopIsConsumed, let stopped = subject.stopped {
            throw subject.unexpectedStop(stopped.reason, stopped.detail)
        }
        if let excess = subject.reports.excess { throw Finding(.failed, "\(subject.name) \(excess)") }
        // A `leftover` report is allowed before a stop with a reason other than `eof`: a message may have been received
        // only partially when the subject was asked to stop.
        if let stopped = subject.stopped, stopped.reason != .eof, case .leftover? = subject.pending.last?.event {
            subject.reports.pending.removeLast()
        }
        if let first = subject.pending.first {
            throw Finding(
                .failed, "\(subject.name) reported \(SubjectText.describe(first.event)), but no step expected it",
                actual: SubjectText.payload(first.event),
                details: subject.pending.count > 1
                    ? ["\(ByteText.count(subject.pending.count - 1, "more report")) followed"] : [])
        }
        if !subject.reports.accepted.isEmpty {
            throw Finding(
                .failed, "\(subject.name) accepted a connection that no step expected",
                hints: ["add `\(subject.name) expect accept as A`"])
        }
    }

    /// Returns the subject itself or, if it has stopped as the script expects, a new connection under its name.
    ///
    /// If the next step expects an error, the subject itself is returned, because the script intentionally starts the
    /// same connection again.
    func renewed(_ subject: SubjectActor, _ step: Step) async throws(Finding) -> SubjectActor {
        guard subject.wasStarted, subject.acceptedBy == nil, !context.index.expectsRefusal(after: step.id) else {
            return subject
        }
        if subject.reports.isStopping { try await awaitStop(of: subject) }
        guard subject.stopped != nil, subject.reports.stopIsConsumed else { return subject }
        try requireNoUnexpectedReports(of: subject)
        return context.actors.renew(subject)
    }

    private func stopSubjects() async throws(Finding) {
        for subject in context.actors.subjects {
            if let refusal = subject.reports.refusal { throw subject.refused(refusal.code, at: refusal.step) }
            if subject.wasStarted && !subject.isListener && subject.stopped == nil {
                subject.reports.isStopping = true
                try await operate(.stop, subject, nil)
                try await awaitStop(of: subject)
            }
        }
    }

    /// The time that a subject has to report the effect of the script's last step.
    private static let reportTime = Duration.milliseconds(100)

    /// Waits until subjects have had time to report the effects of the last steps. Without this wait, it would depend
    /// on the machine's speed whether an unexpected line or stop fails the case or arrives too late.
    func waitForReports(_ subjects: [SubjectActor]) async throws(Finding) {
        let connections = context.connections.entries.map(\.connection)
        let ended = connections.lazy.filter { !$0.hasVanished }.compactMap(\.endedAt).max()
        let sent = (connections.map(\.lastSent) + [context.links.lastStep]).compactMap { $0 }.max()
        let begun = MonotonicTime.now
        let ends = subjects.map { subject in
            let moment = subject.reports.lastStimulus(sent: sent, ended: ended)
            return moment.map { $0 + context.scaled(Self.reportTime) }
        }
        guard let last = ends.compactMap({ $0 }).max(), last > begun else { return }
        let _: Void? = try await context.wait(until: last, from: begun) { () throws(Finding) -> Void? in
            let now = MonotonicTime.now
            let hasReported = zip(subjects, ends).allSatisfy { subject, end in
                subject.stopped != nil || end.map { $0 <= now } ?? true
            }
            return hasReported ? () : nil
        }
    }

    /// Waits until a subject that was asked to stop has stopped.
    private func awaitStop(of subject: SubjectActor) async throws(Finding) {
        context.actors.waits[subject.name] = "stopped"
        defer { context.actors.waits[subject.name] = nil }
        let (begun, timeout) = (MonotonicTime.now, context.scaled(context.scenario.timeout))
        let known: Bool? = try await context.wait(until: begun + timeout, from: begun) {
            () throws(Finding) -> Bool? in
            subject.stopped != nil ? true : nil
        }
        if known == nil {
            throw Finding(
                .failed,
                "\(subject.name) did not report `stopped` within \(DurationText.script(timeout)) of being asked to stop"
            )
        }
    }

    /// Waits for the subject's outstanding reports before the case is judged, such as an event that a subject reports
    /// immediately after it has stopped.
    private func settleSubject() async throws(Finding) {
        guard let driver, driver.drainInterval > .zero else { return }
        var end: MonotonicTime?
        for subject in context.actors.subjects {
            if let stopped = subject.stopped { end = max(stopped.time + driver.drainInterval, end ?? stopped.time) }
        }
        if let end { try await context.wait(until: end) }
    }
}
