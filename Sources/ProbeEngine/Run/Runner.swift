import ProbeBase
import ProbeCapture
package import ProbeEvents
package import ProbeSystem
import ProbeScenario
import ProbeTransport
import Synchronization

/// Runs cases, one reactor for each that runs at a time, and tells what comes of them.
package struct Runner: Sendable {
    private let settings: RunSettings
    private let control: RunControl
    private let emit: @Sendable (RunEvent) -> Void

    /// - Parameter emit: gets every event, one at a time, from any thread.
    package init(settings: RunSettings, control: RunControl, emit: @escaping @Sendable (RunEvent) -> Void) {
        self.settings = settings
        self.control = control
        let shared = SerialEmitter(emit: emit)
        self.emit = { shared.emit($0) }
    }

    /// Runs all cases. The calling task's reactor runs cases itself; further ones get threads of their own.
    package func run(_ jobs: [RunJob], on reactor: Reactor) async -> RunSummary {
        let start = MonotonicTime.now
        let total = jobs.count.multipliedReportingOverflow(by: settings.repetitions)
        emit(.started(caseCount: total.overflow ? .max : total.partialValue))
        if let problem = settings.captureProblem, settings.capture == nil { emit(.message(problem)) }
        let queue = JobQueue(jobs, repetitions: settings.repetitions)
        let tally = Tally()
        let troubles = TroubleList()
        var reactors = [reactor]
        for _ in 1..<max(1, min(settings.parallel, total.overflow ? .max : total.partialValue)) {
            // Out of descriptors for another reactor: those that there are do the work.
            guard let extra = ReactorThread.start() else { break }
            reactors.append(extra)
        }
        await withTaskGroup(of: Void.self) { group in
            for reactor in reactors {
                group.addTask(executorPreference: reactor) {
                    let line = ResultLine(on: reactor) { result in
                        tally.count(result)
                        emit(.caseEnded(result))
                        if settings.stopsAtFailure && isStopper(result) { queue.close() }
                    }
                    while let (job, round) = queue.next(),
                        let (result, aftermath) = await run(job, round, on: reactor, troubles)
                    {
                        line.add(result, aftermath)
                        // Whether another case may begin is known only when this one's result is.
                        if settings.stopsAtFailure { await line.drain() }
                    }
                    await line.drain()
                }
            }
        }
        for extra in reactors.dropFirst() { extra.stop() }
        for subject in settings.subjects { await subject.shutDown() }
        var summary = RunSummary()
        let (counts, failures) = tally.totals
        summary.counts = counts
        summary.advisoryFailures = (failures[.may] ?? 0) + (settings.rules.isStrict ? 0 : failures[.should] ?? 0)
        summary.troubles = troubles.all
        summary.interruptedBy = control.interruptedBy
        summary.notRun = total.overflow ? 0 : total.partialValue - summary.counts.values.reduce(0, +)
        summary.duration = (MonotonicTime.now - start).nanoseconds
        if let capture = settings.capture {
            let statistics = capture.statistics()
            (summary.packetsCaptured, summary.packetsDropped) = (statistics.received, statistics.dropped)
        }
        emit(.ended(summary))
        return summary
    }

    private func run(
        _ job: RunJob, _ round: Int, on reactor: Reactor, _ troubles: TroubleList
    ) async -> (CaseResult, Aftermath?)? {
        var settingsOfCase = caseSettings(job, round)
        settingsOfCase.trouble = { troubles.add($0) }
        let run = CaseRun(
            plan: job.plan, casePlan: job.casePlan, index: job.index, settings: settingsOfCase, reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        defer { control.leave(ticket) }
        emit(.caseStarted(id: job.id, subject: job.plan.scenario.hasSubject ? job.subject?.name : nil))
        let result = await run.run()
        return (result, await run.aftermath)
    }

    /// What is known not to pass stops no run.
    private func isStopper(_ result: CaseResult) -> Bool {
        if case .expected = settings.rules.standing(of: result) { return false }
        return result.verdict == .failed || result.verdict == .error
    }

    private func caseSettings(_ job: RunJob, _ round: Int) -> CaseSettings {
        var settingsOfCase = CaseSettings(
            id: job.id, path: job.path, folder: job.folder, subject: job.subject, capture: settings.capture,
            captureProblem: settings.captureProblem, ports: settings.ports, outputFolder: settings.outputFolder,
            keep: settings.keep, rerun: settings.rerun(job), allowedTargets: settings.allowedTargets,
            timeScale: settings.timeScale, allowsProcesses: settings.allowsProcesses, version: settings.version)
        settingsOfCase.openedFolder = settings.openedFolder
        settingsOfCase.round = round
        settingsOfCase.isOneOfSeveralSubjects = settings.subjects.count > 1
        settingsOfCase.seed = settings.seed
        return settingsOfCase
    }
}

/// Lets one event out at a time.
private final class SerialEmitter: Sendable {
    private let target: @Sendable (RunEvent) -> Void
    private let lock = Mutex(())

    init(emit: @escaping @Sendable (RunEvent) -> Void) { target = emit }

    func emit(_ event: RunEvent) { lock.withLock { _ in target(event) } }
}

/// What went wrong outside the cases, from any thread.
private final class TroubleList: Sendable {
    /// A program that never falls silent fills no memory.
    private static let kept = 100

    private let texts = Mutex<[String]>([])

    func add(_ text: String) {
        texts.withLock { texts in
            if texts.count < Self.kept { texts.append(text) }
        }
    }

    var all: [String] { texts.withLock { $0 } }
}

/// Counts verdicts, from any thread.
private final class Tally: Sendable {
    private let values = Mutex<([Verdict: Int], [Scenario.Level: Int])>(([:], [:]))

    func count(_ result: CaseResult) {
        values.withLock { values in
            values.0[result.verdict, default: 0] += 1
            if result.verdict == .failed { values.1[result.level, default: 0] += 1 }
        }
    }

    /// Cases by verdict, and failures by level.
    var totals: ([Verdict: Int], [Scenario.Level: Int]) { values.withLock { $0 } }
}

/// Hands out jobs in their order.
private final class JobQueue: Sendable {
    private let jobs: [RunJob]
    private let repetitions: Int
    private let position = Mutex((index: 0, round: 1))

    init(_ jobs: [RunJob], repetitions: Int) {
        self.jobs = jobs
        self.repetitions = jobs.isEmpty ? 0 : repetitions
    }

    /// The next job, and which round of the repetitions it belongs to.
    func next() -> (RunJob, Int)? {
        position.withLock { position in
            guard position.round <= repetitions, position.round < .max else { return nil }
            let next = (jobs[position.index], position.round)
            position.index += 1
            if position.index == jobs.count { position = (0, position.round + 1) }
            return next
        }
    }

    /// No further job is handed out.
    func close() {
        position.withLock { $0.round = .max }
    }
}
