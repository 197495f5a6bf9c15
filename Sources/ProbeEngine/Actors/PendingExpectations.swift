import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// An `expect` of a connection that is being waited for.
struct PendingConnectionExpectation: PendingExpectation {
    let actor: ConnectionActor
    let connection: Connection
    let wanted: ConnectionExpectation<Resolved>
    /// The send that the expectation is about: the one in the background, unless a step waits for its own.
    let send: SendOperation?
    private var progress = InputProgress()

    init(
        _ wanted: ConnectionExpectation<Resolved>, _ actor: ConnectionActor, _ connection: Connection,
        send: SendOperation? = nil
    ) {
        self.wanted = wanted
        self.actor = actor
        self.connection = connection
        self.send = send ?? actor.background
    }

    var description: String {
        if case .sent = wanted {
            "the kernel to accept \(ByteText.count(send?.bytes.count ?? 0, "byte"))"
        } else {
            wanted.description
        }
    }

    var measuresProgress: Bool {
        switch wanted {
        case .sent, .stalled: true
        default: false
        }
    }

    mutating func evaluate(_ window: TimeWindow) -> Outcome<ConnectionMatch> {
        ConnectionEvaluation(view: view(window), window: window).evaluate(wanted, &progress)
    }

    /// Returns a snapshot of the connection. Don't keep it: see ``ConnectionView``.
    func view(_ window: TimeWindow) -> ConnectionView {
        var view = ConnectionView(
            name: actor.name, receiveBuffer: connection.receiveBuffer, urgent: connection.urgent,
            end: connection.readEnd,
            endIsNews: actor.hasUntakenEnd, framing: actor.framing, isOfClient: !actor.isClient,
            ignoresRest: actor.ignoresRest, answersLines: !actor.whenevers.isEmpty && !actor.waitsForRawBytes,
            reading: connection.reading, hasOverflowed: connection.hasOverflowed)
        if let layer = connection.tls, layer.isDone || !actor.handshakeFailureIsTaken {
            view.tls = ConnectionView.TLS(
                taken: layer.news.prefix(actor.takenNews), news: layer.news.dropFirst(actor.takenNews),
                isUp: layer.isDone, behindEnd: layer.behindEnd, unfinished: layer.unfinished)
        }
        switch wanted {
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

/// An `expect` of a subject that is being waited for.
struct PendingSubjectExpectation: PendingExpectation {
    let subject: SubjectActor
    let wanted: ResolvedSubjectExpectation
    let framing: Framing
    private let meter: ResourceMeter?
    private var progress = SubjectProgress()

    /// Creates an expectation that has not been evaluated yet.
    ///
    /// - Parameter meter: the meter of the subject's adapter, if the expectation is about resource usage.
    init(
        _ wanted: ResolvedSubjectExpectation, _ subject: SubjectActor, framing: Framing, meter: ResourceMeter? = nil
    ) {
        self.wanted = wanted
        self.subject = subject
        self.framing = framing
        self.meter = meter
    }

    var description: String { wanted.description }

    /// How long the checks kept the harness busy.
    var ownTime: Duration { progress.polling.own }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<SubjectMatch> {
        var measure: ResourceMeasure?
        if case .resource(let wanted) = wanted, let meter {
            measure = try progress.polling.measure(wanted, meter, of: "\(subject.name)'s adapter", window)
        }
        return SubjectEvaluation(
            name: subject.name, reports: subject.reports, framing: framing, window: window, measure: measure
        ).evaluate(wanted, &progress)
    }
}

/// An `expect` of a program that is being waited for.
struct PendingProcessExpectation: PendingExpectation {
    let process: ProcessActor
    let child: ChildProcess
    let wanted: ResolvedProcessExpectation
    let after: Duration?
    private let watch: OutputWatch
    private var progress = ProcessProgress()

    /// Creates an expectation that has not been evaluated yet.
    ///
    /// - Parameters:
    ///   - after: the step's lower bound.
    ///   - watch: the search in output lines that are being dropped.
    init(
        _ wanted: ResolvedProcessExpectation, _ process: ProcessActor, _ child: ChildProcess, after: Duration?,
        watch: OutputWatch
    ) {
        (self.wanted, self.process, self.child, self.after, self.watch) = (wanted, process, child, after, watch)
        switch wanted {
        case .output(let regex): watch.add(regex, isWanted: true, from: child.outputLog.dropped)
        case .noOutput(let regex, _):
            watch.add(regex, isWanted: false, from: child.outputLog.dropped)
            // Output that the program has printed by now may still be in its pipes.
            child.look()
        case .listening, .exit, .resource: break
        }
    }

    var description: String { wanted.description }

    /// How long the checks kept the harness busy.
    var ownTime: Duration { progress.polling.own }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<ProcessMatch> {
        let view = ProcessView(
            name: process.name, exit: child.exit, exitedAt: child.exitedAt, outputLog: child.outputLog,
            isOutputOpen: child.isOutputOpen,
            cursor: process.output, consumed: process.consumed, watch: watch, observation: try observe(window))
        return ProcessEvaluation(view: view, window: window, after: after).evaluate(wanted, &progress)
    }

    /// Queries the kernel's tables for the state that the expectation is about.
    private mutating func observe(_ window: TimeWindow) throws(Finding) -> ProcessView.Observation {
        switch wanted {
        case .listening:
            if child.exit != nil { return .none }
            let (process, child) = (process, child)
            let (isListening, moment) = try progress.polling.look(at: window.now, isFound: { $0 }) {
                () throws(Finding) in try ProcessObserver.isListening(process, child)
            }
            return .listening(isListening, at: moment)
        case .resource(let wanted):
            guard let meter = process.meter else { return .none }
            return .measured(try progress.polling.measure(wanted, meter, of: process.name, window))
        case .output, .noOutput, .exit: return .none
        }
    }
}

extension PollingProgress {
    /// Measures a program's present usage of a resource.
    fileprivate mutating func measure(
        _ wanted: ResolvedResourceExpectation, _ meter: ResourceMeter, of name: String, _ window: TimeWindow
    ) throws(Finding) -> ResourceMeasure {
        var (measure, moment) = try look(at: window.now, isFound: wanted.isMet) { () throws(Finding) in
            try meter.measure(wanted.resource, of: name)
        }
        // Processor time counts up to the time of the measurement, not the time that it was planned for.
        if !wanted.isMomentary { measure.at = moment }
        return measure
    }
}

/// An `accept` or an `expect no connection` that is being waited for.
struct PendingServerExpectation: PendingExpectation {
    let server: ServerActor
    let wanted: ResolvedServerExpectation
    let context: CaseContext

    init(_ wanted: ResolvedServerExpectation, _ server: ServerActor, _ context: CaseContext) {
        (self.wanted, self.server, self.context) = (wanted, server, context)
    }

    var description: String {
        switch wanted {
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
        return ServerEvaluation(view: view, window: window).evaluate(wanted)
    }
}
