import ProbeBase
import ProbeEvents
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// The state that all parts of a case share: its plan, time, variables and actors, and the events so far.
///
/// Confined to the reactor's thread: steps are plain `async` code on this thread, and events from sockets, programs,
/// the subject and the capture are also delivered on it. The parts of the context are not `Sendable`; the actor
/// ``CaseRun`` holds the context and provides the isolation.
final class CaseContext {
    let reactor: Reactor
    var scenario: Scenario
    var sources: SourceMap
    let job: RunJob
    let settings: RunConfiguration
    var index: StepIndex
    let time: CaseTime

    /// The signal that is notified whenever the state of the case changes.
    let changes = ChangeSignal()
    var variables: VariableStore
    var actors = ActorTable()
    var connections = ConnectionTable()
    var progress = StepProgress()
    var faults = FaultState()
    var capture: CaseCapture
    var links = CaseLinks()
    var starts = StartLog()
    var injected = InjectedFaults()
    /// Conditions that must be met before the case ends.
    var conditions = Conditions()
    var tls: CaseTLS
    /// The Unix sockets of the case whose paths are given in the script.
    var sharedPaths = SharedPaths()
    /// The folder with the sockets of servers and subjects that are declared `on unix`.
    var sockets = SocketFolder()
    /// The results of crowds that have ended.
    var crowdResults: [CrowdResult] = []
    /// The folders with the certificates of crowds.
    var crowdFolders: [String] = []
    /// The secrets that decrypt the TLS connections of the case.
    var secrets = SecretLog()
    var annotations: AnnotationLog
    /// The `wire` steps that have been judged, for the comments in the capture file.
    var judged = JudgedSteps()
    /// Starts the pending answers of a connection's `whenever` rules, which run concurrently with the steps.
    var startAnswering: (_ connection: String) -> Void = { _ in }
    /// Called with each event on the harness's connections if the case is observed; see ``CaseRun/begin(reporting:)``.
    var notifyObserver: ((CaseNotification) -> Void)?
    var cachedBinding: (key: BindingKey, binding: WireBinding)?
    private(set) var timeline = CaseTimeline()
    private var stepNames = StepNames()
    /// Findings about effects that could not be verified in the capture. These findings don't end the case.
    private(set) var inconclusive: [Finding] = []

    init(_ job: RunJob, settings: RunConfiguration, reactor: Reactor, start: MonotonicTime) {
        self.reactor = reactor
        self.job = job
        scenario = job.plan.scenario
        sources = job.plan.sources
        self.settings = settings
        index = job.index
        variables = VariableStore(job.casePlan.bindings)
        annotations = AnnotationLog(settings)
        capture = CaseCapture(capture: settings.capture, clock: .measured())
        tls = CaseTLS(scenario)
        time = CaseTime(start: start, scale: settings.timeScale, timeout: job.plan.scenario.timeout)
    }

    var hasSubject: Bool { scenario.hasSubject }

    // MARK: Recording

    func record(_ kind: TimelineEntry.Kind, at time: MonotonicTime = .now) {
        timeline.record(kind, at: self.time.elapsed(time))
    }

    /// Records the start of a step. The step's text is formatted only when the timeline is shown, because the timeline
    /// of a passed case is usually not shown.
    func recordStep(_ step: Step) { record(.step(step.span, "", values: values(of: step))) }

    /// Returns the values that the names in a step have when the step starts.
    func values(of step: Step) -> [NamedText] {
        namesRead(by: step).compactMap { name in value(of: name).flatMap { NamedText(name, $0) } }
    }

    /// Returns the names in a step, or none if no name can have a value.
    func namesRead(by step: Step) -> [String] {
        if variables.values.isEmpty, StepContext.loop == nil { return [] }
        return stepNames.read(by: step, in: sources)
    }

    /// Records that an effect could not be verified. The case continues.
    func note(_ finding: Finding) {
        if !inconclusive.contains(where: { $0.span == finding.span && $0.summary == finding.summary }) {
            inconclusive.append(finding)
        }
    }

    /// Returns the part of the script that a span covers, as a single line.
    func text(of span: SourceSpan) -> String {
        guard span.file < sources.files.count else { return "" }
        let bytes = sources.files[span.file].bytes
        guard span.start <= span.end, span.end <= bytes.count else { return "" }
        let line = bytes[span.start..<span.end].prefix(400).map { $0 == 10 || $0 == 13 ? 32 : $0 }
        return Escaped.text(line)
    }

    /// Returns the finding with the states of all actors added to it.
    func withActors(_ finding: Finding) -> Finding { actors.describe(finding) }

    // MARK: Faults

    /// Makes the current step fail or, if no step is running, the next step. Only the first fault is recorded.
    func raise(_ finding: Finding) {
        if faults.raise(finding) { changes.notifyAll() }
    }

    /// Checks whether the case may continue.
    ///
    /// - Throws: the fault, or the cancellation of a `together` in which another line failed.
    func checkFault() throws(Finding) { try faults.check(isCancelled: Task.isCancelled) }

    // MARK: Waiting

    /// Waits until the state of the case changes or the deadline has passed.
    func pause(until deadline: MonotonicTime?) async {
        let changes = changes
        let reactor = reactor
        var timer: TimerQueue.ID?
        await withCheckedContinuation { continuation in
            let number = changes.add(continuation)
            if let deadline { timer = reactor.schedule(at: deadline) { changes.notify(number) } }
        }
        if let timer { reactor.cancel(timer) }
    }

    /// Waits until `condition` returns a value; `nil` if the deadline passes first.
    ///
    /// - Parameter start: the start of the period that ends at the deadline. If the harness stalled during the period,
    ///   the wait is extended by the length of the stall. Events that occurred during the stall are then processed, and
    ///   processes that stalled together with the harness get the full period. If `start` is `nil`, the wait is never
    ///   extended.
    /// - Throws: the error of `condition`, or the fault that ends the case.
    func wait<T>(
        until deadline: MonotonicTime, from start: MonotonicTime? = nil, for condition: () throws(Finding) -> T?
    ) async throws(Finding) -> T? {
        while true {
            try checkFault()
            if let value = try condition() { return value }
            var limit = deadline
            if MonotonicTime.now >= limit {
                if let start { limit = reactor.extended(deadline, from: start) }
                if MonotonicTime.now >= limit { return nil }
            }
            await pause(until: limit)
        }
    }

    /// Waits until the given time, regardless of changes in the state of the case.
    func wait(until deadline: MonotonicTime) async throws(Finding) {
        let _: Void? = try await wait(until: deadline) { () throws(Finding) -> Void? in nil }
    }

    /// Notifies all waiting tasks at the given time or soon after.
    func notifyAll(at moment: MonotonicTime) {
        let changes = changes
        _ = reactor.schedule(at: moment) { changes.notifyAll() }
    }

    // MARK: Times

    func scaled(_ duration: Duration) -> Duration { time.scaled(duration) }

    /// Returns the deadline of a waiting step that began at `time`. The deadline is never later than that of the
    /// surrounding `retry`.
    func deadline(_ timing: Timing, from time: MonotonicTime) -> MonotonicTime {
        self.time.deadline(timing, from: time, limit: StepContext.attempt?.deadline)
    }

    /// Judges the time of a step's event; see ``Standstills/requireTiming(_:_:deadline:after:from:own:isExact:)``.
    func requireTiming(
        _ moment: MonotonicTime, _ what: @autoclosure () -> String, _ deadline: MonotonicTime, _ timing: Timing,
        _ start: MonotonicTime, own: Duration = .zero, isExact: Bool = false
    ) throws(Finding) {
        if moment <= deadline, timing.after == nil { return }
        try reactor.currentStandstills().requireTiming(
            moment, what(), deadline: deadline, after: timing.after, from: start, own: own, isExact: isExact)
    }

    /// Returns whether an event at `moment` broke a silence that had to last until `end`; see
    /// ``Standstills/breaksSilence(_:at:from:to:)``.
    func breaksSilence(
        _ what: String, at moment: MonotonicTime, from start: MonotonicTime, to end: MonotonicTime
    ) throws(Finding) -> Bool {
        try reactor.currentStandstills().breaksSilence(what, at: moment, from: start, to: end)
    }

    /// Returns whether a period that began at `start` has ended. The period is extended by the time for which the
    /// harness was stalled.
    func isOver(_ end: MonotonicTime, from start: MonotonicTime) -> Bool {
        reactor.currentStandstills().isOver(end, from: start, now: .now)
    }
}

/// Resolves the names in a case's expressions. Variables of the surrounding loops take precedence.
///
/// The context itself is the scope of its expressions, so an evaluation needs no copy of the variables.
extension CaseContext: EvaluationScope {
    func value(of name: String) -> Value? { variables.value(of: name, in: StepContext.loop) }
    func property(_ property: String, of actor: String) -> [UInt8]? { actors.property(property, of: actor)?.bytes }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try FileAccess.load(file) }
}

extension CaseContext {
    /// Returns an evaluator for expressions of the case.
    ///
    /// - Parameter framing: the framing that applies where the expression is used; `nil` for the scenario's framing.
    func evaluator(_ framing: Framing? = nil, isClient: Bool = false) -> Evaluator {
        Evaluator(
            scope: self, sources: sources, framing: framing ?? scenario.framing, seedOffset: settings.seed,
            masksFrames: isClient, ranges: scenario.integerRanges)
    }

    /// Binds a variable of the case and, if a surrounding loop has a variable with the same name, the loop's variable,
    /// too.
    func bind(_ name: String, _ value: Value) {
        if let finding = variables.bind(name, value, in: StepContext.loop) { raise(finding) }
    }

    /// Sets a variable of the case.
    func set(_ name: String, _ value: Value) {
        if let finding = variables.set(name, value) { raise(finding) }
    }

    /// Computes the `let`s in the header that were not computed before the run, because they depend on the run
    /// (`"${S.port}"`) or because their values are large.
    func computeConstants() throws(Finding) {
        for constant in scenario.constants where variables.values[constant.name.value] == nil {
            do throws(EvaluationError) {
                set(constant.name.value, try evaluator().evaluate(constant.value))
            } catch {
                switch error.reason {
                // The value depends on a name that is not bound yet. A step that uses the value reports the error if
                // the name is still unbound.
                case .unbound, .noProperty: continue
                default: throw Finding(error)
                }
            }
            try checkFault()
        }
    }

    func value(of expression: Expression) throws(Finding) -> Value {
        do throws(EvaluationError) { return try evaluator().evaluate(expression) } catch { throw Finding(error) }
    }

    func bytes(of expression: Expression) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: expression) } catch { throw Finding(error) }
    }

    /// Returns the absolute path of a file that the script names, for a program that reads the file itself.
    ///
    /// - Throws: an error if the file can't be read or is outside the script's folder.
    func path(ofScriptFile expression: Expression) throws(Finding) -> String {
        let name = String(decoding: try bytes(of: expression), as: UTF8.self)
        do throws(EvaluationError) {
            let file = try evaluator().file(name, referencedAt: expression.span)
            do throws(LoadError) {
                _ = try contents(of: file)
            } catch {
                throw EvaluationError(.file(name, error), span: expression.span)
            }
            return job.folder == "/" ? "/\(file.path)" : "\(job.folder)/\(file.path)"
        } catch {
            throw Finding(error)
        }
    }

    func bytes(of pieces: [StringPiece], at span: SourceSpan) throws(Finding) -> [UInt8] {
        do throws(EvaluationError) { return try evaluator().bytes(of: pieces, span: span) } catch {
            throw Finding(error)
        }
    }

    func integer(of expression: Expression) throws(Finding) -> Int {
        do throws(EvaluationError) { return try evaluator().integer(of: expression) } catch { throw Finding(error) }
    }

    /// Returns the value of an integer expression, converted to the given integer type.
    ///
    /// The statement's declaration defines the permitted range. The script is checked against this range, and the
    /// evaluator rejects any value outside it.
    func integer<Field: FixedWidthInteger>(of expression: Expression, as _: Field.Type) throws(Finding) -> Field {
        let value = try integer(of: expression)
        guard let field = Field(exactly: value) else {
            throw Finding(.error, at: expression.span, "\(value) does not fit in \(Field.bitWidth) bits")
        }
        return field
    }

    func regex(_ literal: RegexLiteral) throws(Finding) -> ByteRegex {
        do throws(EvaluationError) { return try evaluator().regex(of: literal) } catch { throw Finding(error) }
    }

    /// Returns the message of a `send` without a terminator, because a subject adds the framing itself.
    func message(of statement: SendStatement) throws(Finding) -> [UInt8] {
        var pieces: [[UInt8]] = []
        for piece in statement.pieces { pieces.append(try bytes(of: piece)) }
        return pieces.whole
    }
}

extension Finding {
    /// Creates the finding for a value in the script that can't be computed.
    ///
    /// A protobuf message was sent by a peer, so a missing field is a failure of the peer. A field whose value is too
    /// large for the harness's arithmetic is an error, because it exceeds a limit of the harness.
    init(_ error: EvaluationError) {
        let hints = error.reason.hint.map { [$0] } ?? []
        switch error.reason {
        case .protobuf(let failure, let message) where !failure.isLimit:
            self.init(.failed, at: error.span, error.reason.text, actual: message, hints: hints)
        default: self.init(.error, at: error.span, error.reason.text, hints: hints)
        }
    }
}

extension Evaluator {
    /// Returns the pieces of a `send`; one empty piece if there is nothing to send.
    func sentPieces(of statement: SendStatement) throws(Finding) -> [[UInt8]] {
        do throws(EvaluationError) {
            let pieces = try pieces(of: statement)
            return pieces.isEmpty ? [[]] : pieces
        } catch {
            throw Finding(error)
        }
    }
}
