import ProbeCapture
package import ProbeEvents
package import ProbeSockets
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
        emit(.started(caseCount: jobs.count))
        if let problem = settings.captureProblem, settings.capture == nil { emit(.message(problem)) }
        let queue = JobQueue(jobs)
        let tally = Tally()
        var reactors = [reactor]
        for _ in 1..<max(1, min(settings.parallel, jobs.count)) {
            // Out of descriptors for another reactor: those that there are do the work.
            guard let extra = ReactorThread.start() else { break }
            reactors.append(extra)
        }
        await withTaskGroup(of: Void.self) { group in
            for reactor in reactors {
                group.addTask(executorPreference: reactor) {
                    while let job = queue.next(), let result = await run(job, on: reactor) {
                        tally.count(result.verdict)
                        emit(.caseEnded(result))
                    }
                }
            }
        }
        for extra in reactors.dropFirst() { extra.stop() }
        var summary = RunSummary()
        summary.counts = tally.counts
        summary.interruptedBy = control.interruptedBy
        summary.notRun = jobs.count - summary.counts.values.reduce(0, +)
        summary.duration = (MonotonicTime.now - start).nanoseconds
        if let capture = settings.capture {
            let statistics = capture.statistics()
            (summary.packetsCaptured, summary.packetsDropped) = (statistics.received, statistics.dropped)
        }
        emit(.ended(summary))
        return summary
    }

    private func run(_ job: RunJob, on reactor: Reactor) async -> CaseResult? {
        let run = CaseRun(
            plan: job.plan, casePlan: job.casePlan, index: job.index, settings: caseSettings(job), reactor: reactor)
        guard let ticket = control.enter(run) else { return nil }
        defer { control.leave(ticket) }
        emit(.caseStarted(id: job.id))
        return await run.run()
    }

    private func caseSettings(_ job: RunJob) -> CaseSettings {
        CaseSettings(
            id: job.id, path: job.path, folder: job.folder, subject: settings.subject, capture: settings.capture,
            captureProblem: settings.captureProblem, ports: settings.ports, outputFolder: settings.outputFolder,
            keep: settings.keep, rerun: settings.rerun(job.path, job.id), allowedTargets: settings.allowedTargets,
            timeScale: settings.timeScale, allowsProcesses: settings.allowsProcesses, version: settings.version)
    }
}

/// Lets one event out at a time.
private final class SerialEmitter: Sendable {
    private let target: @Sendable (RunEvent) -> Void
    private let lock = Mutex(())

    init(emit: @escaping @Sendable (RunEvent) -> Void) { target = emit }

    func emit(_ event: RunEvent) { lock.withLock { _ in target(event) } }
}

/// Counts verdicts, from any thread.
private final class Tally: Sendable {
    private let values = Mutex<[Verdict: Int]>([:])

    func count(_ verdict: Verdict) { values.withLock { $0[verdict, default: 0] += 1 } }
    var counts: [Verdict: Int] { values.withLock { $0 } }
}

/// Hands out jobs in their order.
private final class JobQueue: Sendable {
    private let jobs: [RunJob]
    private let position = Mutex(0)

    init(_ jobs: [RunJob]) { self.jobs = jobs }

    func next() -> RunJob? {
        position.withLock { position in
            guard position < jobs.count else { return nil }
            defer { position += 1 }
            return jobs[position]
        }
    }
}
