import ProbeBase
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

    let context: CaseContext
    private var caseTimer: TimerQueue.ID?
    /// Steps since the reactor's loop last went round.
    var stepsInARow = 0
    var finallyBlocks: [Block] = []
    var collectedDefinitions: Set<String> = []

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

    package init(plan: Plan, casePlan: CasePlan, index: StepIndex, settings: CaseSettings, reactor: Reactor) {
        self.reactor = reactor
        context = CaseContext(
            plan: plan, variables: casePlan.bindings, index: index, settings: settings, reactor: reactor, start: .now)
    }

    // MARK: The whole case

    /// Runs it to its end; nothing of it is left when this returns.
    package func run() async -> CaseResult {
        if let finding = unmetRequirement() ?? unusableLoopback() { return result([finding]) }
        do throws(Finding) {
            try await prepareSubject()
        } catch {
            context.faults.isTearingDown = true
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
                        .failed, "\(what) took longer than the case-timeout of \(DurationText.script(limit))",
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
        if context.faults.interrupt() { changes.notifyAll() }
    }

    private func result(_ findings: [Finding]) -> CaseResult {
        let ordered = findings.enumerated().sorted {
            ($0.element.verdict, $0.offset) < ($1.element.verdict, $1.offset)
        }.map(\.element)
        let verdict = ordered.first?.verdict ?? .passed
        let duration = (MonotonicTime.now - context.time.start).nanoseconds
        var result = CaseResult(
            id: settings.id, path: settings.path, sources: sources, title: scenario.title.value, about: scenario.about,
            because: scenario.because, level: scenario.level, tags: scenario.tags,
            subject: hasSubject ? settings.subject?.name : nil, verdict: verdict, findings: ordered, timeline: [],
            duration: duration, capturePath: nil, rerun: settings.rerun)
        result.isInterrupted = context.faults.wasInterrupted && verdict == .error
        let keepsCapture =
            switch settings.keep {
            case .all: true
            case .failed: verdict != .passed
            case .none: false
            }
        if verdict != .skipped && verdict != .unsupported {
            do throws(Finding) {
                if keepsCapture { result.capturePath = try context.writeCapture() }
            } catch {
                result.findings.append(error)
                result.verdict = min(result.verdict, error.verdict)
            }
            if verdict != .passed { result.timeline = context.mergedTimeline() }
        }
        context.capture.release()
        return result
    }
}
