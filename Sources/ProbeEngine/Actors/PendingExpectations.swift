import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The state of a connection's `expect` while the step waits.
struct PendingConnectionExpectation: PendingExpectation {
    let actor: ConnectionActor
    let connection: Connection
    let expectation: ConnectionExpectation<Resolved>
    /// The send that the expectation refers to: the step's own send or, if the step has none, the send in the
    /// background.
    let send: SendOperation?
    private var progress = InputProgress()

    init(
        _ expectation: ConnectionExpectation<Resolved>, _ actor: ConnectionActor, _ connection: Connection,
        send: SendOperation? = nil
    ) {
        self.expectation = expectation
        self.actor = actor
        self.connection = connection
        self.send = send ?? actor.background
    }

    var description: String {
        if case .sent = expectation {
            "the kernel to accept \(ByteText.count(send?.bytes.count ?? 0, "byte"))"
        } else {
            expectation.description
        }
    }

    var measuresProgress: Bool {
        switch expectation {
        case .sent, .stalled: true
        default: false
        }
    }

    mutating func evaluate(_ window: TimeWindow) -> Outcome<ConnectionMatch> {
        ConnectionEvaluation(view: view(window), window: window).evaluate(expectation, &progress)
    }

    /// Returns a snapshot of the connection. Don't keep the snapshot; see ``ConnectionView``.
    func view(_ window: TimeWindow) -> ConnectionView {
        var view = ConnectionView(
            name: actor.name, receiveBuffer: connection.receiveBuffer, urgent: connection.urgent,
            end: connection.readEnd,
            endIsUnconsumed: actor.hasUnconsumedEnd, framing: actor.framing, peerIsClient: !actor.isClient,
            ignoresRest: actor.ignoresRest, answersLines: !actor.whenevers.isEmpty && !actor.waitsForRawBytes,
            reading: connection.reading, hasOverflowed: connection.hasOverflowed)
        if let layer = connection.tls, layer.isDone || !actor.handshakeFailureIsConsumed {
            view.tls = ConnectionView.TLS(
                taken: layer.events.prefix(actor.consumedEventCount),
                events: layer.events.dropFirst(actor.consumedEventCount),
                isUp: layer.isDone, bytesAfterEnd: layer.bytesAfterEnd, unfinished: layer.unfinished)
        }
        switch expectation {
        case .sent, .stalled, .sendFailed:
            view.send = send.map {
                ConnectionView.Send(
                    state: $0.state, taken: $0.taken, count: $0.bytes.count, lastProgress: $0.lastProgressOrPace,
                    lastProgressOfAny: connection.lastProgress)
            }
        case .nothing:
            if connection.reading != .atOnce, window.now >= window.deadline {
                view.inKernel = ConnectionView.InKernel(
                    unread: connection.unreadInKernel, endIsPending: connection.endIsPending)
            }
        default: break
        }
        return view
    }
}

/// The state of a subject's `expect` while the step waits.
struct PendingSubjectExpectation: PendingExpectation {
    let subject: SubjectActor
    let expectation: ResolvedSubjectExpectation
    let framing: Framing
    private let meter: ResourceMeter?
    private var progress = SubjectProgress()

    /// Creates an expectation that has not been evaluated yet.
    ///
    /// - Parameter meter: the meter for the subject's adapter, if the expectation is about resource usage.
    init(
        _ expectation: ResolvedSubjectExpectation, _ subject: SubjectActor, framing: Framing,
        meter: ResourceMeter? = nil
    ) {
        self.expectation = expectation
        self.subject = subject
        self.framing = framing
        self.meter = meter
    }

    var description: String { expectation.description }

    /// The time that the harness itself has spent checking the expectation.
    var ownTime: Duration { progress.polling.own }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<SubjectMatch> {
        var measure: ResourceMeasure?
        if case .resource(let expectation) = expectation, let meter {
            measure = try progress.polling.measure(expectation, meter, of: "\(subject.name)'s adapter", window)
        }
        return SubjectEvaluation(
            name: subject.name, reports: subject.reports, framing: framing, window: window, measure: measure
        ).evaluate(expectation, &progress)
    }
}

/// The state of a program's `expect` while the step waits.
struct PendingProcessExpectation: PendingExpectation {
    let process: ProcessActor
    let child: ChildProcess
    let expectation: ResolvedProcessExpectation
    let after: Duration?
    private let watch: OutputWatch
    private var progress = ProcessProgress()

    /// Creates an expectation that has not been evaluated yet.
    ///
    /// - Parameters:
    ///   - after: the lower bound for the time of the event.
    ///   - watch: searches output lines before they are dropped.
    init(
        _ expectation: ResolvedProcessExpectation, _ process: ProcessActor, _ child: ChildProcess, after: Duration?,
        watch: OutputWatch
    ) {
        (self.expectation, self.process, self.child, self.after, self.watch) = (
            expectation, process, child, after, watch
        )
        switch expectation {
        case .output(let regex): watch.add(regex, isWanted: true, from: child.outputLog.dropped)
        case .noOutput(let regex, _):
            watch.add(regex, isWanted: false, from: child.outputLog.dropped)
            // Output that the program has already printed may still be in the program's pipes.
            child.look()
        case .listening, .exit, .resource: break
        }
    }

    var description: String { expectation.description }

    /// The time that the harness itself has spent checking the expectation.
    var ownTime: Duration { progress.polling.own }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ProcessMatch> {
        let view = ProcessView(
            name: process.name, exit: child.exit, exitedAt: child.exitedAt, outputLog: child.outputLog,
            isOutputOpen: child.isOutputOpen,
            cursor: process.output, consumed: process.consumed, watch: watch, observation: try observe(window))
        return ProcessEvaluation(view: view, window: window, after: after).evaluate(expectation, &progress)
    }

    /// Queries the kernel's tables for the state that the expectation concerns.
    private mutating func observe(_ window: TimeWindow) throws(Finding) -> ProcessView.Observation {
        switch expectation {
        case .listening:
            if child.exit != nil { return .none }
            let (process, child) = (process, child)
            let (isListening, moment) = try progress.polling.look(at: window.now, isFound: { $0 }) {
                () throws(Finding) in try ProcessObserver.isListening(process, child)
            }
            return .listening(isListening, at: moment)
        case .resource(let expectation):
            guard let meter = process.meter else { return .none }
            return .measured(try progress.polling.measure(expectation, meter, of: process.name, window))
        case .output, .noOutput, .exit: return .none
        }
    }
}

extension PollingProgress {
    /// Measures a program's current usage of a resource.
    fileprivate mutating func measure(
        _ expectation: ResolvedResourceExpectation, _ meter: ResourceMeter, of name: String, _ window: TimeWindow
    ) throws(Finding) -> ResourceMeasure {
        var (measure, moment) = try look(at: window.now, isFound: expectation.isMet) { () throws(Finding) in
            try meter.measure(expectation.resource, of: name)
        }
        // Processor time is counted up to the actual time of the measurement, not up to the planned time.
        if !expectation.isMomentary { measure.at = moment }
        return measure
    }
}

/// The state of a server's `accept` or `expect no connection` while the step waits.
struct PendingServerExpectation: PendingExpectation {
    let server: ServerActor
    let expectation: ResolvedServerExpectation
    let context: CaseContext

    init(_ expectation: ResolvedServerExpectation, _ server: ServerActor, _ context: CaseContext) {
        (self.expectation, self.server, self.context) = (expectation, server, context)
    }

    var description: String {
        switch expectation {
        case .connection: "a connection on \(server.place)"
        case .handshake(let fails, _):
            "the \(fails ? "failure" : "completion") of a TLS handshake on \(server.place)"
        case .noConnection(let duration): "no connection for \(DurationText.script(duration))"
        }
    }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Void> {
        let view = ServerView(
            name: server.name, isListening: server.listener != nil,
            hasWaiting: try context.hasWaitingOrWatches(server),
            handshake: server.waiting.first?.connection.flatMap(TLSHandshakes(context: context).state))
        return ServerEvaluation(view: view, window: window).evaluate(expectation)
    }
}
