import ProbeBase
package import ProbeEvents
package import ProbeSystem
import ProbeCapture
import ProbeScenario
import ProbeTransport
import Synchronization

/// Runs cases, one reactor for each that runs at a time, and tells what comes of them.
package struct Runner: Sendable {
    private let configuration: RunConfiguration
    private let control: RunControl
    private let emit: @Sendable (RunEvent) -> Void
    private let runErrors = RunErrorList()
    /// What is told once, at the start.
    private let notes: [String]

    /// - Parameter emit: gets every event, one at a time, from any thread.
    package init(
        configuration: RunConfiguration, control: RunControl, emit: @escaping @Sendable (RunEvent) -> Void
    ) {
        var configuration = configuration
        if configuration.capture == nil {
            notes = [configuration.captureProblem, configuration.isolationObstacle].compactMap(\.self)
            // A run of many steps tells the reason once.
            if !notes.isEmpty { configuration.captureProblem = "there is no capture; a note of the run says why" }
        } else {
            notes = []
        }
        configuration.reportRunError = { [runErrors] in runErrors.add($0) }
        self.configuration = configuration
        self.control = control
        let lock = SerialLock()
        self.emit = { event in lock.mutex.withLock { _ in emit(event) } }
    }

    /// Runs all cases. The calling task's reactor runs cases itself; further ones get threads of their own.
    package func run(_ jobs: [RunJob], on reactor: Reactor) async {
        let start = MonotonicTime.now
        let queue = JobQueue(jobs, repetitions: configuration.repetitions)
        emit(.started(caseCount: queue.total))
        for note in notes { emit(.message(note)) }
        var reactors = [reactor]
        for _ in 1..<max(1, min(configuration.parallel, queue.total)) {
            // Without descriptors for another reactor the present ones run all cases.
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

    /// Runs cases one after the other until there are none left.
    private func work(on reactor: Reactor, _ queue: JobQueue) async {
        let line = ResultLine(on: reactor) { result in
            emit(.caseEnded(result))
            if configuration.stopsAtFailure && isStopper(result) { queue.close() }
        }
        while let job = queue.next() {
            if job.plan.scenario.needsSubject, job.subject?.givenUp != nil {
                // Rounds without end would be left out one after the other.
                if configuration.repetitions > 1 { queue.close() }
                continue
            }
            guard let (result, aftermath) = await run(job, on: reactor) else { break }
            line.add(result, aftermath, due: aftermath == nil ? .now : .now + Aftermath.silence)
            // The result of this case tells whether another case may begin.
            if configuration.stopsAtFailure { await line.drain() }
        }
        await line.drain()
    }

    private func run(_ job: RunJob, on reactor: Reactor) async -> (CaseResult, Aftermath?)? {
        let resources = CaseResources(of: job)
        let held = await CaseResourceLocks.shared.take(resources.all)
        defer { CaseResourceLocks.shared.giveBack(held) }
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        emit(.caseStarted(id: job.id, subject: job.plan.scenario.hasSubject ? job.subject?.name : nil))
        var result = await run.run()
        control.leave(ticket)
        await CaseResources.wait(until: resources.ofSubjects, on: reactor)
        if let after = await run.servedBefore {
            result.alone = await runAlone(job, result, after: after, on: reactor)
            await CaseResources.wait(until: resources.ofSubjects, on: reactor)
        }
        return (result, await run.aftermath)
    }

    /// Runs a case that failed once more, in a process of the subject that has served no other case.
    ///
    /// - Parameter after: the case that the process served before.
    /// - Returns: nil if the case was not run again.
    private func runAlone(
        _ job: RunJob, _ result: CaseResult, after: String, on reactor: Reactor
    ) async -> LoneResult? {
        guard result.verdict == .failed || result.verdict == .error, job.subject?.givenUp == nil else { return nil }
        // What is expected was looked into before.
        if case .expected = configuration.rules.disposition(of: result) { return nil }
        var (job, configuration) = (job, configuration)
        job.needsFreshSubject = true
        // The capture of the case is that of its first run.
        configuration.keep = .none
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        defer { control.leave(ticket) }
        var alone = await run.run()
        if let aftermath = await run.aftermath {
            await withCheckedContinuation { continuation in
                _ = reactor.schedule(at: .now + Aftermath.silence) { continuation.resume() }
            }
            alone = aftermath.settle(alone)
        }
        return alone.isInterrupted ? nil : LoneResult(verdict: alone.verdict, after: after)
    }

    /// Expected failures do not stop `--until-fail`.
    private func isStopper(_ result: CaseResult) -> Bool {
        if case .expected = configuration.rules.disposition(of: result) { return false }
        return result.verdict == .failed || result.verdict == .error
    }
}

/// A lock that closures of several threads share.
private final class SerialLock: Sendable {
    let mutex = Mutex(())
}

/// What went wrong outside the cases, from any thread.
private final class RunErrorList: Sendable {
    /// Bounds the memory: a program may report errors without end.
    private static let kept = 100

    private let texts = Mutex<[String]>([])

    func add(_ text: String) {
        texts.withLock { texts in
            if texts.count < Self.kept { texts.append(text) }
        }
    }

    var all: [String] { texts.withLock { $0 } }
}
