import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Searches for a variation under which a scenario fails, and shrinks that variation.
package struct Explorer {
    /// The number of runs without variations before the search. If the search finds failures, the scenario is run the
    /// same number of times after the search.
    package static let baselineRuns = 10
    /// The duration of a batch of variations, in seconds. It is short, so that a failure is noticed soon.
    private static let batchTime = 0.3
    /// The number of variations with the same failure that are examined before the failure is attributed to chance. A
    /// busy machine can make a variation fail at the same step as a bug does, and such a failure must not hide the bug.
    private static let rareAttempts = 4

    private let runner: EngineRunner
    /// A runner that runs more candidates in parallel, for shrinking: failing candidates spend most of their time
    /// waiting for deadlines.
    private let shrinkRunner: EngineRunner
    private let settings: ExploreSettings
    /// The scenario with the known-good program; `nil` if there is none.
    private let good: KnownGoodScenario?
    private let progress: (ExploreProgress) -> Void

    package init(
        runner: EngineRunner, settings: ExploreSettings, good: KnownGoodScenario? = nil,
        progress: @escaping (ExploreProgress) -> Void
    ) {
        self.good = good
        var configuration = runner.configuration
        let parallel = configuration.parallel
        configuration.parallel = min(64, parallel * 4)
        shrinkRunner = runner.with(configuration: configuration)
        // If the scenario starts no programs, the processor is idle while a case waits for the pauses between pieces.
        let startsPrograms = runner.job.plan.scenario.actors.contains {
            if case .process = $0.kind { true } else { false }
        }
        configuration.parallel = startsPrograms ? parallel : min(64, parallel * 4)
        self.runner = runner.with(configuration: configuration)
        self.settings = settings
        self.progress = progress
    }

    private var isInterrupted: Bool { runner.control.interruptedBy != nil }

    // MARK: explore

    package func explore() async -> ExploreOutcome {
        let (results, observations) = await baseline()
        if isInterrupted { return .interrupted }
        if let outcome = unstable(results) { return outcome }
        let plan = runner.job.plan
        let base = ExploredScenario(plan, runner.job.casePlan, observations: observations)
        if let patience = settings.patience {
            if let outcome = await failureOfGood(Candidate(), base) { return outcome }
            var faults = FaultExplorer(runner, base, patience: patience, good: good)
            return .faults(await faults.explore(for: settings.duration))
        }
        guard !base.sites.isEmpty || !base.reading.options.isEmpty else { return .nothingToVary(base) }
        if let outcome = await failureOfGood(Candidate(), base) { return outcome }
        var report = ExploreReport(base: base)
        await search(&report)
        if !report.findings.isEmpty, !isInterrupted {
            let (again, _) = await baseline()
            if let outcome = unstable(again) { return outcome }
        }
        return .explored(report)
    }

    /// Runs the scenario without variations. The steps that judge cuts are left out, because only `run` evaluates them.
    private func baseline() async -> (results: [CaseResult?], observations: [StepObservation]) {
        var job = runner.job
        let leftOut = Set(job.plan.scenario.stepsAboutCuts.map(\.id))
        job.plan.scenario = job.plan.scenario.rewritten { leftOut.contains($0.id) ? [] : [$0] }
        return await runner.withJob(job).observe(Self.baselineRuns)
    }

    /// Returns the outcome to report if the scenario does not pass in every run without variations; otherwise `nil`.
    private func unstable(_ results: [CaseResult?]) -> ExploreOutcome? {
        let passed = results.count { $0?.verdict == .passed }
        guard passed < results.count else { return nil }
        guard let other = results.compactMap(\.self).first(where: { $0.verdict != .passed }) else {
            return .interrupted
        }
        return passed == 0 ? .fails(other) : .unstable(passed: passed, runs: results.count, other)
    }

    /// Returns the outcome to report if the known-good program does not pass in every run; `nil` if it passes in every
    /// run, or if there is no known-good program.
    private func failureOfGood(_ candidate: Candidate, _ base: ExploredScenario) async -> ExploreOutcome? {
        guard let good = goodRunner(for: base) else { return nil }
        let trials = await good.settled(Array(repeating: candidate, count: Self.baselineRuns))
        if isInterrupted { return .interrupted }
        let passed = trials.count(where: \.hasPassed)
        return passed == trials.count
            ? nil : .goodFails(passed: passed, runs: trials.count, trials.lazy.compactMap(\.result).first)
    }

    private func search(_ report: inout ExploreReport) async {
        let base = report.base
        let runner = runner(for: base, self.runner)
        var order = SearchOrder(
            sites: base.sites, options: base.reading.options, slowReading: base.reading.slowReading, seed: settings.seed
        )
        report.singleCuts = order.singleCuts
        let start = MonotonicTime.now
        var size = max(4, runner.configuration.parallel * 4)
        var rare: [Signature: Int] = [:]
        while !isInterrupted, MonotonicTime.now - start < settings.duration {
            var batch: [Candidate] = []
            while batch.count < size, let variation = order.next() { batch.append(Candidate(variation)) }
            if batch.isEmpty {
                report.isExhausted = true
                break
            }
            let batchStart = MonotonicTime.now
            let trials = await runner.run(batch)
            report.count(batch, trials)
            let seconds = (MonotonicTime.now - batchStart) / .seconds(1)
            size = min(
                4096,
                max(runner.configuration.parallel, Int(Double(batch.count) * Self.batchTime / max(seconds, 0.001))))
            report.elapsed = MonotonicTime.now - start
            progress(ExploreProgress(report, activity: .searching))
            for (candidate, trial) in zip(batch, trials) {
                guard case .failed(let signature, let result) = trial, !isInterrupted,
                    rare[signature, default: 0] < Self.rareAttempts
                else { continue }
                // Only the first failure is shrunk, because shrinking takes time, and because one bug often causes
                // failures at several steps.
                if let found = report.findings.first {
                    if found.signature.span != signature.span { report.addOther(result) }
                    continue
                }
                progress(ExploreProgress(report, activity: .shrinking))
                await shrink(candidate, signature, result, &report, &rare)
            }
            if !report.findings.isEmpty { break }
        }
        report.elapsed = min(report.elapsed, max(.zero, MonotonicTime.now - start))
    }

    private func shrink(
        _ candidate: Candidate, _ signature: Signature, _ result: CaseResult, _ report: inout ExploreReport,
        _ rare: inout [Signature: Int]
    ) async {
        if let good = goodRunner(for: report.base) {
            let trials = await good.settled(Array(repeating: candidate, count: FailureRate.measured))
            if let other = trials.first(where: { !$0.hasPassed }) {
                report.addGood(other.result ?? result)
                rare[signature] = Self.rareAttempts
                return
            }
        }
        var finding = await smallest(candidate, signature, result, report.base)
        if finding.isTooRare {
            // The failure rate includes the run in which the failure was first observed.
            finding.shrunk.rate.failed += 1
            finding.shrunk.rate.runs += 1
            if rare[signature] == nil { report.rare.append(finding) }
            rare[signature, default: 0] += 1
        } else {
            report.rare.removeAll { $0.signature == signature }
            report.findings.append(finding)
        }
    }

    // MARK: shrink

    /// Shrinks a scenario that fails without variations, beginning with the cuts that it contains.
    package func shrink() async -> ExploreOutcome {
        let (results, observations) = await runner.observe(FailureRate.measured)
        if isInterrupted { return .interrupted }
        var counts: [Signature: Int] = [:]
        for result in results {
            if let signature = result.flatMap(Signature.init) { counts[signature, default: 0] += 1 }
        }
        let failing = results.compactMap(\.self).first { result in
            guard let signature = Signature(result) else { return false }
            return counts[signature] == counts.values.max()
        }
        guard let failing, let signature = Signature(failing) else {
            return .doesNotFail(results.compactMap(\.self).first { $0.verdict != .passed })
        }
        let failure = ShownFailure(signature, in: results.compactMap(\.self))
        var base = ExploredScenario(
            runner.job.plan, runner.job.casePlan, observations: observations, takesCutsOff: true)
        var report = ExploreReport(base: base)
        let rate = FailureRate(failed: counts[signature] ?? 0, runs: results.count)
        if rate.isTooRare {
            report.rare = [
                ExploreFinding(
                    signature: signature, result: failing,
                    shrunk: ShrinkResult(candidate: Candidate(base.ownVariation), rate: rate))
            ]
            return .explored(report)
        }
        if !base.ownVariation.isEmpty {
            // If the scenario does not pass without its cuts, the cuts are not the cause of the failure.
            let plain = await runner(for: base, shrinkRunner).settled(Array(repeating: Candidate(), count: 3))
            if !plain.allSatisfy(\.hasPassed) {
                base = ExploredScenario(runner.job.plan, runner.job.casePlan, observations: [], takesCutsOff: true)
                report = ExploreReport(base: base)
            }
        }
        if let outcome = await failureOfGood(Candidate(base.ownVariation), base) { return outcome }
        progress(ExploreProgress(report, activity: .shrinking))
        let finding = await smallest(Candidate(base.ownVariation), signature, failing, base, keeping: failure)
        if isInterrupted { return .interrupted }
        if finding.isTooRare { report.rare = [finding] } else { report.findings = [finding] }
        return .explored(report)
    }

    /// Returns the smallest failing scenario that was found for a candidate.
    ///
    /// - Parameter failure: the failure that the result must have, as observed by `shrink`. If `failure` is `nil`, the
    ///   result may have the candidate's failure, or the failure of a smaller variation.
    private func smallest(
        _ candidate: Candidate, _ signature: Signature, _ result: CaseResult, _ base: ExploredScenario,
        keeping failure: ShownFailure? = nil
    ) async -> ExploreFinding {
        let runner = runner(for: base, shrinkRunner)
        let trials = await runner.settled(Array(repeating: candidate, count: FailureRate.measured))
        let results = trials.compactMap(\.result)
        let keepsFailure = failure != nil
        let failure = failure ?? ShownFailure(signature, in: results.isEmpty ? [result] : results)
        let rate = FailureRate(failed: results.count { failure.matches($0) }, runs: FailureRate.measured)
        var finding = ExploreFinding(
            signature: signature, result: result, shrunk: ShrinkResult(candidate: candidate, rate: rate))
        if rate.isTooRare { return finding }
        var shrinker = Shrinker(
            runner: runner, good: goodRunner(for: base), sites: base.sites, failure: failure,
            keepsFailure: keepsFailure, rate: rate, deadline: .now + settings.reductionTime)
        finding.shrunk = await shrinker.shrink(candidate, of: base.scenario)
        finding.signature = shrinker.failure.signature
        return finding
    }

    /// Returns a runner of the prepared scenario with the known-good program; `nil` if there is none.
    private func goodRunner(for base: ExploredScenario) -> EngineRunner? {
        guard let good else { return nil }
        let runner = runner(for: base, shrinkRunner)
        return runner.withJob(good.applied(to: runner.job))
    }

    /// Returns a runner of the prepared scenario.
    private func runner(for base: ExploredScenario, _ runner: EngineRunner) -> EngineRunner {
        var job = runner.job
        job.plan.scenario = base.scenario
        job.index = StepIndex(base.scenario)
        let text = ScenarioText(base)
        let (path, targets) = (job.path, runner.configuration.allowedTargets)
        return EngineRunner(
            job: job, configuration: runner.configuration, control: runner.control, reactor: runner.reactor
        ) { candidate in
            ScenarioCompiler.compile(
                path: path, bytes: text.text(of: candidate), allowing: targets, loader: FileAccess.load
            ).plan != nil
        }
    }
}
