import ProbeBase
package import ProbeEvents
package import ProbeSystem
import ProbeCapture
import ProbeScenario
import ProbeTransport
import Synchronization

/// Runs cases and emits their events. Each case that runs in parallel has its own reactor.
package struct Runner: Sendable {
    private let configuration: RunConfiguration
    private let control: RunControl
    private let emit: @Sendable (RunEvent) -> Void
    private let runErrors = RunErrorList()
    /// The notes that are emitted once, at the start of the run.
    private let notes: [String]

    /// Creates a runner.
    ///
    /// - Parameter emit: receives the events, one at a time, on any thread.
    package init(
        configuration: RunConfiguration, control: RunControl, emit: @escaping @Sendable (RunEvent) -> Void
    ) {
        var configuration = configuration
        if configuration.capture == nil {
            notes = [configuration.captureProblem, configuration.isolationObstacle].compactMap(\.self)
            // The full reason for the missing capture is reported once, at the start of the run; the steps only refer
            // to it.
            if !notes.isEmpty {
                configuration.captureProblem = "there is no capture; see the note at the start of the run"
            }
        } else {
            notes = []
        }
        configuration.reportRunError = { [runErrors] in runErrors.add($0) }
        self.configuration = configuration
        self.control = control
        let lock = SerialLock()
        self.emit = { event in lock.mutex.withLock { _ in emit(event) } }
    }

    /// Runs all jobs. Cases run on the given reactor, and on additional reactors, each of which has its own thread.
    package func run(_ jobs: [RunJob], on reactor: Reactor) async {
        let start = MonotonicTime.now
        let queue = JobQueue(jobs, repetitions: configuration.repetitions)
        emit(.started(caseCount: queue.total))
        for note in notes { emit(.message(note)) }
        var reactors = [reactor]
        for _ in 1..<max(1, min(configuration.parallel, queue.total)) {
            // If there are no descriptors for another reactor, the existing reactors run all cases.
            guard let extra = Reactor.onThread() else { break }
            reactors.append(extra)
        }
        await withTaskGroup(of: Void.self) { group in
            for reactor in reactors {
                group.addTask(executorPreference: reactor) { await work(on: reactor, queue) }
            }
        }
        for extra in reactors.dropFirst() { extra.stop() }
        for subject in configuration.subjects { await subject.shutDown() }
        var summary = RunSummary()
        summary.runErrors = runErrors.all
        summary.interruptedBy = control.interruptedBy
        for failure in configuration.subjects.compactMap(\.givenUp) {
            summary.runErrors.append(failure.line)
            summary.hasGivenUpSubject = true
        }
        summary.duration = (MonotonicTime.now - start).nanoseconds
        if let capture = configuration.capture {
            let statistics = capture.statistics()
            (summary.packetsCaptured, summary.packetsDropped) = (statistics.received, statistics.dropped)
        }
        emit(.ended(summary))
    }

    /// Runs cases one after another until the queue is empty.
    private func work(on reactor: Reactor, _ queue: JobQueue) async {
        let line = ResultLine(on: reactor) { result in
            emit(.caseEnded(result))
            if configuration.stopsAtFailure && stopsRun(result) { queue.close() }
        }
        while let job = queue.next() {
            if job.plan.scenario.needsSubject, job.subject?.givenUp != nil {
                // With `--repeat`, the queue is closed, so that the remaining cases aren't skipped one by one, possibly
                // endlessly.
                if configuration.repetitions > 1 { queue.close() }
                continue
            }
            guard let (result, lateReports) = await run(job, on: reactor) else { break }
            line.add(result, lateReports, due: lateReports == nil ? .now : .now + LateReportCollector.silence)
            // Whether another case may begin depends on the result of this case.
            if configuration.stopsAtFailure { await line.drain() }
        }
        await line.drain()
    }

    private func run(_ job: RunJob, on reactor: Reactor) async -> (CaseResult, LateReportCollector?)? {
        let resources = CaseResources(of: job)
        let held = await CaseResourceLocks.shared.take(resources.all)
        defer { CaseResourceLocks.shared.returnResources(held) }
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        emit(.caseStarted(id: job.id, subject: job.plan.scenario.hasSubject ? job.subject?.name : nil))
        var result = await run.run()
        control.leave(ticket)
        await CaseResources.wait(until: resources.subjectResources, on: reactor)
        if let after = await run.servedBefore {
            result.alone = await runAlone(job, result, after: after, on: reactor)
            await CaseResources.wait(until: resources.subjectResources, on: reactor)
        }
        return (result, await run.lateReports)
    }

    /// Runs a failed case again, in a process of the subject that has not served any other case.
    ///
    /// - Parameter after: the id of the case that the subject's process served before this one.
    /// - Returns: the result of the second run; `nil` if the case was not run again.
    private func runAlone(
        _ job: RunJob, _ result: CaseResult, after: String, on reactor: Reactor
    ) async -> LoneResult? {
        guard result.verdict == .failed || result.verdict == .error, job.subject?.givenUp == nil else { return nil }
        // An expected failure is already known and needs no second run.
        if case .expected = configuration.rules.disposition(of: result) { return nil }
        var (job, configuration) = (job, configuration)
        job.needsFreshSubject = true
        // Only the capture of the case's first run is kept.
        configuration.keep = .none
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        defer { control.leave(ticket) }
        var alone = await run.run()
        if let lateReports = await run.lateReports {
            await withCheckedContinuation { continuation in
                _ = reactor.schedule(at: .now + LateReportCollector.silence) { continuation.resume() }
            }
            alone = lateReports.settle(alone)
        }
        return alone.isInterrupted ? nil : LoneResult(verdict: alone.verdict, after: after)
    }

    /// Whether a result ends a run with `--until-fail`. An expected failure does not end the run.
    private func stopsRun(_ result: CaseResult) -> Bool {
        if case .expected = configuration.rules.disposition(of: result) { return false }
        return result.verdict == .failed || result.verdict == .error
    }
}

/// A lock that closures on several threads share.
private final class SerialLock: Sendable {
    let mutex = Mutex(())
}

/// The errors that occurred outside of cases. They can be added from any thread.
private final class RunErrorList: Sendable {
    /// The maximum number of errors that are kept. The limit bounds the memory use, because a program may report errors
    /// endlessly.
    private static let kept = 100

    private let texts = Mutex<[String]>([])

    func add(_ text: String) {
        texts.withLock { texts in
            if texts.count < Self.kept { texts.append(text) }
        }
    }

    var all: [String] { texts.withLock { $0 } }
}
