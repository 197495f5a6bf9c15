import ProbeBase
import ProbeEngine
package import ProbeEvents
package import ProbeScenario
import ProbeSystem

/// Runs a scenario with a fault at each possible place, and reports the faults that the program does not survive.
package struct FaultExplorer {
    /// The results for the faults that were tried.
    package struct Report: Sendable {
        package var tried = 0
        /// The number of faults that can be tried.
        package var all = 0
        /// The number of faults whose runs neither passed nor failed.
        package var unknown = 0
        package var finding: Finding?
        /// The number of faults that the known-good program does not survive either.
        package var failedByGood = 0
        /// The reason why no fault could be tried; `nil` if faults were tried.
        package var obstacle: String?
        /// The first failure for which there was no time to check how often it occurs.
        package var unconfirmed: CaseResult?
        /// The reason why some kinds of faults were not tried; `nil` if every kind was tried.
        package var note: String?

        package var isInterrupted = false

        /// Whether faults were tried, and every failure was examined.
        package var isSettled: Bool { obstacle == nil && failedByGood == 0 && unconfirmed == nil && tried > 0 }
    }

    /// A fault that the program does not survive.
    package struct Finding: Sendable {
        package var sentence: String
        package var bytes: [UInt8]
        /// The step of the script at which the fault occurs.
        package var span: SourceSpan
        package var result: CaseResult
        package var rate: FailureRate
    }

    /// The number of additional batches that are tried after a fault has caused a failure in only some runs. A fault in
    /// these batches may cause a failure in every run.
    private static let batchesForReliableFault = 4

    private var runner: EngineRunner
    private let base: ExploredScenario
    /// Whether the program under test is a server.
    private var isServer = false
    private let patience: Duration
    /// The scenario with the known-good program; `nil` if there is none.
    private let good: KnownGoodScenario?

    package init(_ runner: EngineRunner, _ base: ExploredScenario, patience: Duration, good: KnownGoodScenario? = nil) {
        self.good = good
        var configuration = runner.configuration
        // Cases spend most of their time waiting. With more cases in parallel, programs that spin would share the
        // processors, and each of them would use too little processor time to be noticed.
        configuration.parallel = min(64, configuration.parallel * 2)
        self.runner = runner.with(configuration: configuration)
        self.base = base
        self.patience = patience
    }

    /// Tries the faults in order until a fault causes a failure in every run. If a fault causes a failure less often,
    /// but in at least one of five runs, the same kind of fault is tried at a few more places. One of these faults may
    /// cause a failure in every run.
    ///
    /// - Parameter duration: the time after which no further faults are tried, and the cases that are running end.
    package mutating func explore(for duration: Duration) async -> Report {
        // `report(for:)` limits the runner to the duration. The end of that limit is no interruption of the run.
        let run = runner.control
        var report = await report(for: duration)
        report.isInterrupted = run.interruptedBy != nil
        return report
    }

    private mutating func report(for duration: Duration) async -> Report {
        let limit = RunLimit(runner.control, at: .now + duration)
        defer { limit.cancel() }
        runner = runner.with(control: limit.control)
        let scripts = FaultScripts(base, patience: patience)
        isServer = scripts.control != nil
        var report = Report(obstacle: scripts.obstacle)
        if report.obstacle != nil { return report }
        if let control = scripts.control {
            guard let job = job(control.bytes) else {
                report.obstacle = "the script can't be repeated for another client in the same run"
                return report
            }
            let results = await results(Array(repeating: job, count: 3))
            if limit.isOver { return report }
            if let other = results.compactMap(\.self).first(where: { $0.verdict != .passed }) {
                report.obstacle =
                    "the program does not serve the same script twice, as fault testing requires: \(other.findings.first?.summary ?? other.verdict.rawValue)"
                return report
            }
        }
        var rest = scripts.scripts[...]
        if let crowded = scripts.crowdedControl, await !passes(crowded), !limit.isOver {
            rest = rest.filter { $0.verb != crowded.verb }[...]
            report.note =
                "the program serves one client at a time, so vanishing clients were not tried: they would block the next one"
        }
        report.all = rest.count
        var batchesLeft = Self.batchesForReliableFault
        while !rest.isEmpty, !limit.isOver {
            if report.finding != nil {
                if batchesLeft == 0 { break }
                batchesLeft -= 1
            }
            let part = rest.prefix(runner.configuration.parallel)
            rest = rest.dropFirst(part.count)
            let runnable = part.compactMap { script in job(script.bytes).map { (script, $0) } }
            // A fault can't be injected at every place; for example, a connection can be closed only once.
            report.all -= part.count - runnable.count
            let results = await results(runnable.map(\.1))
            report.tried += results.compactMap(\.self).count
            report.unknown += results.count { $0?.verdict == .inconclusive }
            for ((script, job), result) in zip(runnable, results) {
                guard let result, counts(result) else { continue }
                let again = await self.results(Array(repeating: job, count: FailureRate.measured)).compactMap(\.self)
                if limit.isOver, again.count < FailureRate.measured {
                    report.unconfirmed = report.unconfirmed ?? result
                    continue
                }
                let failed = again.count(where: counts)
                let rate = FailureRate(failed: failed, runs: again.count)
                if rate.isTooRare || rate.failed <= report.finding?.rate.failed ?? 0 { continue }
                if let good {
                    let passes = await passes(good.applied(to: job))
                    if limit.isOver {
                        report.unconfirmed = report.unconfirmed ?? result
                        continue
                    }
                    if !passes {
                        report.failedByGood += 1
                        continue
                    }
                }
                report.finding = Finding(
                    sentence: "fails when \(script.sentence); \(rate.text)", bytes: script.bytes, span: script.span,
                    result: result, rate: rate)
                if rate.failed == rate.runs { return report }
                // From this point on, only faults of the same kind are tried, because a fault of another kind may cause
                // a failure for another reason.
                rest = rest.filter { $0.verb == script.verb }[...]
            }
        }
        if report.all == 0 { report.obstacle = "the script has no step at which a fault can be injected" }
        return report
    }

    /// Returns whether a script passes in three consecutive runs.
    private func passes(_ script: FaultScripts.Script) async -> Bool {
        guard let job = job(script.bytes) else { return false }
        return await passes(job)
    }

    private func passes(_ job: RunJob) async -> Bool {
        await results(Array(repeating: job, count: 3)).allSatisfy { $0?.verdict == .passed }
    }

    /// Returns whether the program is responsible for a failure. A client may exit, but a server that has exited can't
    /// serve further clients.
    private func counts(_ result: CaseResult) -> Bool {
        guard result.verdict == .failed, let first = result.findings.first else { return false }
        if case .status? = first.unexpectedEnd { return isServer }
        return true
    }

    private func job(_ bytes: [UInt8]) -> RunJob? {
        let compiled = ScenarioCompiler.compile(
            path: runner.job.path, bytes: bytes, allowing: runner.configuration.allowedTargets, loader: FileAccess.load)
        guard let plan = compiled.plan, let casePlan = plan.cases.first, plan.cases.count == 1 else { return nil }
        var job = runner.job
        job.plan = plan
        job.casePlan = casePlan
        job.index = StepIndex(plan.scenario)
        return job
    }

    private func results(_ jobs: [RunJob]) async -> [CaseResult?] { await runner.results(ofJobs: jobs) }
}
