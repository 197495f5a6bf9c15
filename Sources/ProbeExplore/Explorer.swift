import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSystem
import Synchronization

/// Searches for a variation under which a scenario fails, and shrinks that variation.
package struct Explorer {
    /// The number of runs without variations before the search.
    package static let baselineRuns = 10
    /// The number of runs without variations after a search that found failures.
    private static let finalRuns = 4
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
    private let progress: @Sendable (ExploreProgress) -> Void
    /// The time at which the search or the shrinking must have ended.
    private let end: MonotonicTime

    package init(
        runner: EngineRunner, settings: ExploreSettings, good: KnownGoodScenario? = nil,
        progress: @escaping @Sendable (ExploreProgress) -> Void
    ) {
        self.good = good
        end = .now + settings.duration
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
        if settings.hasFaults {
            if let outcome = await failureOfGood(Candidate(), base) { return outcome }
            var faults = FaultExplorer(runner, base, patience: settings.patience ?? Self.faultPatience, good: good)
            return .faults(await faults.explore(for: end - .now))
        }
        guard !base.sites.isEmpty || !base.reading.options.isEmpty else { return .nothingToVary(base) }
        if let outcome = await failureOfGood(Candidate(), base) { return outcome }
        var report = ExploreReport(base: base)
        var patience = StepPatience(observations, fixed: settings.patience)
        while await !search(&report, patience), !isInterrupted, let longer = patience.longer {
            // The program was only slow, so it gets more time.
            patience = longer
        }
        if !report.findings.isEmpty, !isInterrupted, .now < end {
            let (again, _) = await baseline(Self.finalRuns)
            let passed = again.count { $0?.verdict == .passed }
            if passed < again.count { report.stability = FailureRate(failed: again.count - passed, runs: again.count) }
        }
        return .explored(report)
    }

    /// The time that a program may take for a step of the next client after a fault.
    private static let faultPatience: Duration = .seconds(5)
    /// The number of failures, each at another step, that are shrunk.
    private static let shrunkPlaces = 5

    /// Runs the scenario without variations. The steps that judge cuts are left out, because only `run` evaluates them.
    private func baseline(_ count: Int = baselineRuns) async -> (
        results: [CaseResult?], observations: [StepObservation]
    ) {
        var job = runner.job
        let leftOut = Set(job.plan.scenario.stepsAboutCuts.map(\.id))
        job.plan.scenario = job.plan.scenario.rewritten { leftOut.contains($0.id) ? [] : [$0] }
        // As many cases as during shrinking run in parallel, because the deadlines are derived from these runs.
        return await shrinkRunner.withJob(job).observe(count)
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

    /// Tries variations until some of them fail, or until the time is over, and shrinks the failures.
    ///
    /// - Returns: `false` if the failures did not occur with longer deadlines, so the search must be repeated.
    private func search(_ report: inout ExploreReport, _ patience: StepPatience) async -> Bool {
        let base = report.base
        let limit = RunLimit(runner.control, at: end)
        defer { limit.cancel() }
        let runner = runner(for: base, self.runner).with(patience: patience).with(control: limit.control)
        let saved = settings.saved.compactMap { base.variationText.variation($0) }
        report.saved = (saved.count, settings.saved.count)
        report.isShare = settings.share != nil
        var triedBefore = 0
        var order = order(of: base, first: saved, round: 0)
        report.beginSearch(singleCuts: order.singleCuts)
        let start = MonotonicTime.now
        var size = max(4, runner.configuration.parallel * 4)
        var rare: [Signature: Int] = [:]
        while !isInterrupted, !runner.isOver, report.findings.isEmpty {
            var batch: [Candidate] = []
            while batch.count < size, let variation = order.next() { batch.append(Candidate(variation)) }
            if batch.isEmpty {
                report.isExhausted = true
                guard settings.repeats, report.tried > triedBefore else { break }
                triedBefore = report.tried
                order = self.order(of: base, round: report.rounds)
                report.rounds += 1
                continue
            }
            let batchStart = MonotonicTime.now
            var trials = await runner.run(batch)
            // A short standstill of the machine matters less for the script's own deadlines.
            let unknown = trials.indices.filter { if case .unknown(.some) = trials[$0] { true } else { false } }
            if !unknown.isEmpty {
                let again = await runner.with(patience: nil).run(unknown.map { batch[$0] })
                for (index, trial) in zip(unknown, again) { trials[index] = trial }
            }
            report.count(batch, trials)
            let seconds = (MonotonicTime.now - batchStart) / .seconds(1)
            size = min(
                4096,
                max(runner.configuration.parallel, Int(Double(batch.count) * Self.batchTime / max(seconds, 0.001))))
            report.elapsed = MonotonicTime.now - start
            progress(ExploreProgress(report, activity: .searching))
            var failures: [Failure] = []
            for (candidate, trial) in zip(batch, trials) {
                guard case .failed(let signature, let result) = trial, !isInterrupted,
                    rare[signature, default: 0] < Self.rareAttempts
                else { continue }
                // One bug often causes many failures at the same step.
                guard !failures.contains(where: { $0.signature.span == signature.span }) else { continue }
                if failures.count < Self.shrunkPlaces {
                    failures.append(Failure(candidate: candidate, signature: signature, result: result))
                } else {
                    report.addOther(result)
                }
            }
            if failures.isEmpty { continue }
            // The first step that fails describes a failure best, and what is left at the end of the case describes it
            // worst.
            failures.sort { $0.signature.span?.start ?? Int.max < $1.signature.span?.start ?? Int.max }
            progress(ExploreProgress(report, activity: .shrinking(runs: 0)))
            if await !shrink(failures, &report, &rare, patience) { return false }
        }
        report.elapsed = min(report.elapsed, max(.zero, MonotonicTime.now - start))
        return true
    }

    private func order(of base: ExploredScenario, first: [Variation] = [], round: Int) -> SearchOrder {
        SearchOrder(
            sites: base.sites, options: base.reading.options, slowReading: base.reading.slowReading, first: first,
            share: settings.share, seed: settings.seed &+ round)
    }

    /// A variation that failed.
    private struct Failure: Sendable {
        var candidate: Candidate
        var signature: Signature
        var result: CaseResult
    }

    /// What shrinking a failure led to.
    private enum Shrunk: Sendable {
        case found(ExploreFinding)
        /// The known-good program fails as well.
        case failsWithGood(CaseResult)
        /// The failure did not occur with longer deadlines.
        case slow
        /// There was no time to run the variation with longer deadlines.
        case unconfirmed
    }

    /// Shrinks failures, one after another.
    ///
    /// - Returns: `false` if none of the failures occurred with longer deadlines.
    private func shrink(
        _ failures: [Failure], _ report: inout ExploreReport, _ rare: inout [Signature: Int], _ patience: StepPatience
    ) async -> Bool {
        let base = report.base
        let limit = RunLimit(runner.control, at: end + (.zero - settings.writingTime(of: base.scenario)))
        defer { limit.cancel() }
        var (wasShrunk, isSlow) = (false, true)
        var longest = Duration.zero
        for failure in failures {
            if limit.isOver {
                addUnshrunk(failure, &report)
                continue
            }
            // A failure at a place that has been shrunk probably has the same cause.
            let places = Set(report.findings.flatMap(\.shrunk.candidate.variation.changes).compactMap(\.step))
            let steps = Set(failure.candidate.variation.changes.compactMap(\.step))
            let isKnown = !steps.isEmpty && steps.isSubset(of: places)
            let isAlike = report.findings.contains { $0.result.findings.first?.words == failure.signature.reason }
            guard report.findings.isEmpty || (!isKnown && (!isAlike || elapsed + longest < Self.timeForSimilar)) else {
                report.addOther(failure.result)
                continue
            }
            let start = MonotonicTime.now
            let shrunk = await shrunk(failure, report, patience, limit.control)
            longest = max(longest, MonotonicTime.now - start)
            wasShrunk = true
            if case .slow = shrunk {
                guard patience.longer == nil else { continue }
                rare[failure.signature, default: 0] += 1
            }
            isSlow = false
            switch shrunk {
            case .slow: break
            case .unconfirmed: report.addUnconfirmed(failure.result)
            case .failsWithGood(let result):
                report.addGood(result)
                rare[failure.signature] = Self.rareAttempts
            case .found(var finding) where finding.isTooRare:
                // The failure rate includes the run in which the failure was first observed.
                finding.shrunk.rate.failed += 1
                finding.shrunk.rate.runs += 1
                finding.original = base.variationText.text(of: failure.candidate.variation)
                if rare[failure.signature] == nil { report.rare.append(finding) }
                rare[failure.signature, default: 0] += 1
            case .found(var finding):
                finding.original = base.variationText.text(of: failure.candidate.variation)
                report.rare.removeAll { $0.signature == failure.signature }
                // Two failures may have the same cause, and then often the same smallest variation.
                if report.findings.contains(where: {
                    $0.shrunk.candidate.variation.changes == finding.shrunk.candidate.variation.changes
                        || $0.signature == finding.signature
                }) {
                    break
                }
                report.findings.append(finding)
            }
        }
        return !wasShrunk || !isSlow
    }

    /// Adds a failure for which no time is left. A missed deadline that is not confirmed is no finding.
    private func addUnshrunk(_ failure: Failure, _ report: inout ExploreReport) {
        guard report.findings.isEmpty else { return report.addOther(failure.result) }
        guard failure.result.findings.first?.isMissedDeadline != true else {
            return report.addUnconfirmed(failure.result)
        }
        var shrunk = ShrinkResult(candidate: failure.candidate, rate: FailureRate(failed: 1, runs: 1))
        shrunk.hasReachedDeadline = true
        var finding = ExploreFinding(signature: failure.signature, result: failure.result, shrunk: shrunk)
        finding.original = report.base.variationText.text(of: failure.candidate.variation)
        report.findings.append(finding)
    }

    /// The time since the beginning.
    private var elapsed: Duration { settings.duration - (end - .now) }
    /// The time up to which failures are shrunk that look like one that has been shrunk. They probably have the same
    /// cause, and their variations are only listed after this time.
    private static let timeForSimilar: Duration = .seconds(8)

    private func shrunk(
        _ failure: Failure, _ report: ExploreReport, _ patience: StepPatience, _ control: RunControl
    ) async -> Shrunk {
        let base = report.base
        let candidate = failure.candidate
        if let good = goodRunner(for: base)?.with(control: control) {
            let trials = await good.settled(Array(repeating: candidate, count: FailureRate.measured))
            if let other = trials.first(where: { !$0.hasPassed }) {
                return .failsWithGood(other.result ?? failure.result)
            }
        }
        let runner = shrinkRunner(for: report).with(control: control)
        async let confirmed = isConfirmed(failure, runner.with(patience: patience.longer))
        let finding = await smallest(
            candidate, failure.signature, failure.result, base, runner.with(patience: patience))
        return switch await confirmed {
        case true?: .found(finding)
        case false?: .slow
        case nil: .unconfirmed
        }
    }

    /// Returns a runner for shrinking a failure, which shows how many candidates it has run.
    private func shrinkRunner(for report: ExploreReport) -> EngineRunner {
        let shown = ExploreProgress(report, activity: .shrinking(runs: 0))
        let total = RunCount()
        var runner = runner(for: report.base, shrinkRunner)
        runner.finished = { [progress] count in
            var current = shown
            current.activity = .shrinking(runs: total.add(count))
            progress(current)
        }
        return runner
    }

    /// Returns whether a failure also occurs with longer deadlines. A failure that occurred before any deadline could
    /// expire needs no confirmation. Returns `nil` if there was no time to find out.
    private func isConfirmed(_ failure: Failure, _ runner: EngineRunner) async -> Bool? {
        guard failure.result.findings.first?.isMissedDeadline == true else { return true }
        let trials = await runner.settled(Array(repeating: failure.candidate, count: 3))
        if trials.contains(where: { $0.signature == failure.signature }) { return true }
        return runner.isOver ? nil : false
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
        progress(ExploreProgress(report, activity: .shrinking(runs: 0)))
        let runner = shrinkRunner(for: report)
        let finding = await smallest(
            Candidate(base.ownVariation), signature, failing, base, runner, keeping: failure)
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
        _ runner: EngineRunner, keeping failure: ShownFailure? = nil
    ) async -> ExploreFinding {
        let trials = await runner.settled(Array(repeating: candidate, count: FailureRate.measured))
        let results = trials.compactMap(\.result)
        let keepsFailure = failure != nil
        let failure = failure ?? ShownFailure(signature, in: results.isEmpty ? [result] : results)
        let rate = FailureRate(failed: results.count { failure.matches($0) }, runs: FailureRate.measured)
        var finding = ExploreFinding(
            signature: signature, result: result, shrunk: ShrinkResult(candidate: candidate, rate: rate))
        if runner.isOver {
            // There was no time to measure the rate. The first failure counts as a run.
            let runs = trials.count { if case .unknown = $0 { false } else { true } }
            finding.shrunk.rate = FailureRate(failed: rate.failed + 1, runs: runs + 1)
            finding.shrunk.hasReachedDeadline = true
            return finding
        }
        if rate.isTooRare { return finding }
        var shrinker = Shrinker(
            runner: runner, good: goodRunner(for: base)?.with(control: runner.control), sites: base.sites,
            failure: failure,
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
            job: job, configuration: runner.configuration, control: runner.control, reactor: runner.reactor,
            patience: runner.patience
        ) { candidate in
            ScenarioCompiler.compile(
                path: path, bytes: text.text(of: candidate), allowing: targets, loader: FileAccess.load
            ).plan != nil
        }
    }
}

/// A number of runs to which any thread can add.
private final class RunCount: Sendable {
    private let count = Mutex(0)

    /// Adds to the number, and returns the sum.
    func add(_ more: Int) -> Int {
        count.withLock { count in
            count += more
            return count
        }
    }
}
