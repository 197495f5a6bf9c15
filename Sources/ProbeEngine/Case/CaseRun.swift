import CShims
import ProbeCapture
package import ProbeEvents
package import ProbeScenario
package import ProbeSystem
import ProbeTransport
import ProbeWire

/// One case while it runs: its actors, its variables, what happened so far.
///
/// It lives on its reactor's thread: steps are plain `async` code there, and what sockets, programs, the subject and the
/// capture have to say arrives on the same thread, so nothing here is shared.
package actor CaseRun {
    package nonisolated let reactor: Reactor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    let scenario: Scenario
    let sources: SourceMap
    let label: String
    let settings: CaseSettings
    let index: StepIndex

    var variables: [String: Value]
    /// Bytes that they hold.
    var variableSize = 0
    var actors: [String: RuntimeActor] = [:]
    /// Names in the order of the script, for reports.
    var actorOrder: [String] = []
    let bell = Bell()
    /// Something that ends the case whatever step is running.
    var fault: Finding?
    /// The run was interrupted while this case ran, and nothing else was wrong by then.
    private var wasInterrupted = false
    private var caseTimer: TimerQueue.ID?
    /// What could not be seen on the wire; the case goes on.
    var inconclusive: [Finding] = []
    /// Steps that are running (outside definitions), by their number.
    var running: Set<Int> = []
    /// The highest number of a step that has ended.
    var lastEnded = -1
    /// Steps since the reactor's loop last went round.
    var stepsInARow = 0
    /// What is waited for, by actor.
    var waits: [String: String] = [:]
    var finallyBlocks: [Block] = []
    var collectedDefinitions: Set<String> = []
    var isTearingDown = false

    let start: MonotonicTime
    var timeline: [TimelineEntry] = []
    private var omittedEntries = 0
    var marks: [CaptureMark] = []

    var driver: (any SubjectDriver)?
    /// Hears what the subject says when the case has ended well; nil where nothing can come then.
    package internal(set) var aftermath: Aftermath?
    /// Why there is none.
    var driverFailure: SubjectFailure?
    var subjectOutputLines = 0
    var subjectReplies: [Int: SubjectReply] = [:]
    var nextReply = 0
    var nextConnectionNumber = 1
    /// Reports for connections that no step has named yet (`expect accept as`).
    var strayReports: [Int: [SubjectReport]] = [:]

    var wire: WireView
    /// Counts the starts and ends of subjects and programs.
    var openerRevision = 0
    var cachedBinding: (key: BindingKey, binding: WireBinding)?
    /// Among the cases of this process.
    let caseNumber = ExternalStarts.shared.newCase()
    var stops: [StoppedReading] = []
    /// The statements of sends that were cut.
    var sendSpans: [ObjectIdentifier: SourceSpan] = [:]
    /// Every connection that the harness had, for the look at the end.
    var connections: [(owner: ConnectionActor, connection: Connection)] = []
    /// Those of a `retry`'s failed attempts: nothing is judged from them.
    var discarded: [Connection] = []
    /// Those of them that may wait at a server of the script still.
    var abandoned = AbandonedConnections()

    package init(plan: Plan, casePlan: CasePlan, index: StepIndex, settings: CaseSettings, reactor: Reactor) {
        self.reactor = reactor
        scenario = plan.scenario
        sources = plan.sources
        label = casePlan.label
        variables = casePlan.bindings
        self.settings = settings
        self.index = index
        start = .now
        wire = WireView(capture: settings.capture, clock: .measured())
    }

    // MARK: The whole case

    /// Runs it to its end; nothing of it is left when this returns.
    package func run() async -> CaseResult {
        if let finding = unmetRequirement() ?? unusableLoopback() { return result([finding]) }
        do throws(Finding) {
            try await prepareSubject()
        } catch {
            isTearingDown = true
            driver?.close(isReusable: error.verdict == .unsupported, late: nil)
            return result([error])
        }
        var findings: [Finding] = []
        scheduleCaseTimeout(from: .now, "the case")
        do throws(Finding) {
            try setUpActors()
            collectFinallyBlocks(scenario.steps)
            _ = try await run(scenario.steps, from: .now)
            try await finishAnswers()
            if let fault { throw fault }
        } catch {
            findings.append(error.actors.isEmpty ? withActors(error) : error)
            // Both count: an error of a step does not hide what went wrong beside it.
            if let fault, fault.summary != error.summary { findings.append(withActors(fault)) }
        }
        cancelCaseTimeout()
        findings += await runFinallyBlocks()
        if findings.isEmpty {
            do throws(Finding) { try await concludeSubjects() } catch { findings.append(withActors(error)) }
        }
        await catchUpForReports(hasFailed: !findings.isEmpty)
        if findings.isEmpty { findings += lookAtTheEnd() }
        findings = blamed(findings)
        findings += await tearDown(endedWell: findings.allSatisfy { $0.verdict == .unsupported })
        return result(findings + inconclusive)
    }

    /// Ends what runs when it takes longer than the case may.
    func scheduleCaseTimeout(from time: MonotonicTime, _ what: String) {
        let limit = scaled(scenario.caseTimeout)
        caseTimer = reactor.schedule(at: reactor.extended(time + limit, from: time)) { [weak self] in
            self?.assumeIsolated { run in
                // Time in which the harness stood still is not the case's.
                if run.reactor.extended(time + limit, from: time) > .now {
                    run.scheduleCaseTimeout(from: time, what)
                    return
                }
                run.raise(
                    Finding(
                        .failed, "\(what) took longer than the case-timeout of \(DurationText.text(limit))",
                        hints: ["`case-timeout` in the header sets it"]))
            }
        }
    }

    func cancelCaseTimeout() {
        if let caseTimer { reactor.cancel(caseTimer) }
        caseTimer = nil
    }

    /// Ends the case where it is (Ctrl-C): `finally` blocks still run, results and capture are kept.
    package func interrupt() {
        if fault == nil, !isTearingDown { wasInterrupted = true }
        raise(Finding(.error, "the run was interrupted"))
    }

    /// Makes whatever step is running, or the next one, fail. The first fault counts.
    func raise(_ finding: Finding) {
        guard fault == nil, !isTearingDown else { return }
        fault = finding
        bell.ring()
    }

    private func result(_ findings: [Finding]) -> CaseResult {
        let ordered = findings.enumerated().sorted {
            ($0.element.verdict, $0.offset) < ($1.element.verdict, $1.offset)
        }.map(\.element)
        let verdict = ordered.first?.verdict ?? .passed
        let duration = (MonotonicTime.now - start).nanoseconds
        var result = CaseResult(
            id: settings.id, path: settings.path, sources: sources, title: scenario.title.value, about: scenario.about,
            because: scenario.because, level: scenario.level, tags: scenario.tags,
            subject: hasSubject ? settings.subject?.name : nil, verdict: verdict, findings: ordered, timeline: [],
            duration: duration, capturePath: nil, rerun: settings.rerun)
        result.isInterrupted = wasInterrupted && verdict == .error
        let keepsCapture =
            switch settings.keep {
            case .all: true
            case .failed: verdict != .passed
            case .none: false
            }
        if verdict != .skipped && verdict != .unsupported {
            do throws(Finding) {
                if keepsCapture { result.capturePath = try writeCapture() }
            } catch {
                result.findings.append(error)
                result.verdict = min(result.verdict, error.verdict)
            }
            if verdict != .passed { result.timeline = mergedTimeline() }
        }
        wire.release()
        return result
    }

    var hasSubject: Bool { scenario.hasSubject }

    // MARK: Time

    /// A deadline of the script on this machine: `--time-scale` multiplies every duration by which something has to have happened, on
    /// the harness's side and on the subject's, and no other. What the script makes last (`wait`, `for`, `every`, `at`) and lower bounds
    /// stay as they are, and so do the harness's own limits, which no script sets.
    func scaled(_ duration: Duration) -> Duration {
        if settings.timeScale == 1 { return duration }
        // Clamped to a hundred years, since a scale has no upper bound; and never nothing.
        return .nanoseconds(Int64(max(1, min(Double(duration.nanoseconds) * settings.timeScale, 3e18))))
    }

    /// The deadline of a waiting step that began at `time`.
    func deadline(_ timing: Timing, from time: MonotonicTime) -> MonotonicTime {
        min(time + scaled(timing.within ?? scenario.timeout), StepContext.attempt?.deadline ?? .distantFuture)
    }

    /// Waits until something has changed or the deadline has come.
    func pause(until deadline: MonotonicTime?) async {
        let bell = bell
        let reactor = reactor
        var timer: TimerQueue.ID?
        await withCheckedContinuation { continuation in
            let number = bell.add(continuation)
            if let deadline { timer = reactor.schedule(at: deadline) { bell.wake(number) } }
        }
        if let timer { reactor.cancel(timer) }
    }

    /// Waits for `condition` to give a value; nil when the deadline came first.
    ///
    /// - Parameter start: the deadline's beginning. Where the harness stood still since then, it waits so much longer: what had come
    ///   meanwhile has to be seen, and what was stopped with it has its time too. nil: the clock alone counts.
    /// - Throws: what `condition` throws, or the fault that ends the case.
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

    /// - Throws: the fault, or the end of a `together` whose other line failed.
    func checkFault() throws(Finding) {
        if let fault { throw fault }
        if isTearingDown { throw Finding(.error, "the case has ended") }
        if Task.isCancelled { throw Finding(.failed, "another line of the together failed") }
    }

    /// Nanoseconds since the case began.
    func elapsed(_ time: MonotonicTime = .now) -> Int64 { (time - start).nanoseconds }

    func record(_ kind: TimelineEntry.Kind, at time: MonotonicTime = .now) {
        timeline.append(TimelineEntry(time: elapsed(time), kind: kind))
        if timeline.count >= 4 * Self.shownEntries { shortenTimeline() }
    }

    /// Entries at the start of a timeline, and at its end, that are kept at least.
    private static let shownEntries = 10_000

    /// A loop of a million steps has its first and its last ones shown.
    private func shortenTimeline() {
        let middle = Self.shownEntries..<(timeline.count - Self.shownEntries)
        omittedEntries += middle.count - (omittedEntries > 0 ? 1 : 0)
        let note = TimelineEntry(
            time: timeline[middle.lowerBound].time, kind: .note("\(omittedEntries) entries are left out here"))
        timeline.replaceSubrange(middle, with: [note])
    }
}
