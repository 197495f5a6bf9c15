import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

/// Runs the actions of subjects: gives them to the transport under test, and hears what it reports.
final class SubjectExecutor {
    let context: CaseContext
    /// Leads back to the case's own thread.
    private weak var run: CaseRun?
    private(set) var driver: (any SubjectDriver)?
    /// Measures what the subject's program uses; nil if it has none of its own, or no step asks.
    private(set) var meter: ResourceMeter?
    /// The case that the subject's process served before this one.
    private(set) var servedBefore: String?
    /// Why there is none.
    private var failure: SubjectFailure?
    /// Answers to operations that nobody has looked at, by the operation's number.
    private var replies: [Int: SubjectReply] = [:]
    /// The first error of the machine that it met.
    var machineFailure: SubjectFailure?
    private var nextReply = 0
    /// Subjects that are told to begin TLS, by the operation's number: from its answer on nothing may be delivered.
    private var securing: [Int: SubjectActor] = [:]
    /// Steps of this case ask to read.
    private var readsOnDemand = false
    var outputLines = 0
    /// Reports for connections that no step has named yet (`expect accept as`).
    var strayReports: [Int: [SubjectReport]] = [:]

    init(_ context: CaseContext) { self.context = context }

    /// Gets the transport under test ready, where the scenario has to do with one.
    ///
    /// - Throws: why there is none, or what it can't do of that which the scenario needs.
    func prepare(for run: CaseRun) async throws(Finding) {
        self.run = run
        guard context.scenario.needsSubject, let source = context.job.subject else { return }
        let scan = CapabilityScan(context.scenario)
        source.makeDriver(
            // What connections of other cases leave behind must not be measured.
            isFresh: context.job.needsFreshSubject || scan.measures,
            in: try context.links.subjectPlace(in: context.scenario),
            handler: { [weak run] report in
                guard let run else { return }
                run.reactor.post { run.assumeIsolated { $0.subjects.receive(report) } }
            },
            ready: { [weak run] result in
                // A driver that nobody takes closes itself.
                guard let run else { return }
                run.reactor.post { run.assumeIsolated { $0.subjects.take(result) } }
            })
        // Whether it comes is up to the source, which has deadlines of its own; this one is for a source that has none.
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
        if scan.measures { meter = driver.processes.map(ResourceMeter.ofRunning) }
    }

    /// The meter for an expectation of what the subject's program uses; nil for another expectation.
    func meter(for wanted: ResolvedSubjectExpectation) -> ResourceMeter? {
        if case .resource = wanted { meter } else { nil }
    }

    func canMeasure(_ wanted: ResolvedSubjectExpectation) -> Bool {
        if case .resource = wanted { meter != nil } else { true }
    }

    func take(_ result: Result<any SubjectDriver, SubjectFailure>) {
        switch result {
        case .success(let made):
            if context.faults.isTearingDown { made.close(isReusable: true, late: nil) } else { driver = made }
        case .failure(let failure): self.failure = failure
        }
        context.changes.notifyAll()
    }

    /// Lets go of the transport.
    ///
    /// - Parameter ended: called when its program has ended, on any thread; `late` hears what it says until then.
    func close(isReusable: Bool, late: Aftermath?, ended: @escaping @Sendable () -> Void = {}) {
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
            try await hear([subject])
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
                try await hear([subject])
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
        // One that runs answers `already-started`, and stays what it is.
        if !subject.wasStarted { subject.reports.security = configuration.tls == nil ? .none : .due }
        context.annotations.add(step, "\(subject.name) start", .anySubjectPacket)
        let wasStarted = subject.wasStarted
        subject.reports.wasStarted = true
        if !subject.isListener { subject.reports.toldToStart = .now }
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
        if before == .none { subject.reports.security = .told }
        context.annotations.add(step, "\(subject.name) start tls", .subjectData)
        securing[nextReply + 1] = subject
        try await operate(.startTLS(tls), subject, step)
        if subject.reports.refusal != nil { subject.reports.security = before }
    }

    /// What divides its stream into lines and messages now.
    func framing(of subject: SubjectActor) -> Framing { subject.framing ?? context.scenario.framing }

    private func send(
        _ message: [UInt8], as kind: WebSocketMessageKind, _ subject: SubjectActor, _ step: Step
    ) async throws(Finding) {
        context.annotations.add(step, "\(subject.name) send \(Escaped.phrase(message))", .subjectData)
        let isWebSocket = framing(of: subject) == .websocket
        subject.reports.lastSend = .now
        try await operate(.send(message, as: isWebSocket ? kind : nil), subject, step)
        if subject.reports.refusal == nil {
            subject.reports.toldToSend += framing(of: subject).length(of: message)
        }
    }

    /// After a `start` or a `start tls`, most ops wait until it is known what came of it.
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
                "\(subject.name) reported neither \(awaited) nor stopped within "
                    + DurationText.script(context.scaled(context.scenario.timeout)))
        }
    }

    /// Gives the subject one operation and waits until it is taken.
    func operate(_ operation: SubjectOperation, _ subject: SubjectActor, _ step: Step?) async throws(Finding) {
        guard let driver else {
            throw Finding(.error, "there is no transport under test: `--transport NAME` chooses one")
        }
        nextReply += 1
        let number = nextReply
        driver.perform(operation, on: subject.number) { [weak run = self.run] reply in
            guard let run else { return }
            run.reactor.post { run.assumeIsolated { $0.subjects.take(reply, number) } }
        }
        context.actors.waits[subject.name] = "the subject to take the op"
        defer { context.actors.waits[subject.name] = nil }
        let (begun, patience) = (MonotonicTime.now, context.scaled(context.scenario.timeout))
        let reply = try await context.wait(until: begun + patience, from: begun) {
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
                "\(subject.name) did not take the op within \(DurationText.script(patience)): the transport blocks")
        }
    }

    /// What a subject answered to an operation.
    func take(_ reply: SubjectReply, _ number: Int) {
        replies[number] = reply
        if case .broken(let failure) = reply, failure.machine != nil { machineFailure = machineFailure ?? failure }
        // Here and not where the step goes on: reports may come before it does.
        if let subject = securing.removeValue(forKey: number), case .done = reply, subject.reports.security == .told {
            subject.reports.security = .due
        }
        context.changes.notifyAll()
    }
}

extension Finding {
    /// A subject's program that does not do its part makes the case an error.
    init(_ failure: SubjectFailure) {
        self.init(
            failure.isUnsupported ? .unsupported : .error, failure.summary,
            details: failure.details + failure.resourcesLeft,
            hints: failure.machine.map { [$0.advice] } ?? [])
    }
}
