import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeExplore
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Synchronization

/// Writes the machine-readable reports of `explore` and `shrink`, which contain one case for each scenario.
final class ExploreReports: Sendable {
    private let output: RunOutput
    private let settings: ExploreSettings?
    /// The time from which the next progress is reported.
    private let nextProgress = Mutex(MonotonicTime.now + .seconds(1))
    private let rerun: @Sendable (RunJob) -> String

    /// Opens the reports.
    ///
    /// - Parameters:
    ///   - settings: the settings of `explore`; `nil` for `shrink`.
    ///   - rerun: returns the command line that explores a single case again.
    /// - Throws: the exit code for invalid usage, after printing the message, if a file can't be written.
    init(
        _ files: ReportFiles, _ jobs: [RunJob], settings: ExploreSettings?, options: ReportOptions,
        rerun: @escaping @Sendable (RunJob) -> String
    ) throws {
        let planned = jobs.map { job in
            var planned = PlannedCase(job, rerun: rerun(job))
            // Any finding makes the command fail, regardless of the script's level.
            planned.level = .must
            return planned
        }
        var set = RecorderSet(planned: planned, rules: options.rules)
        try files.attach(to: &set, planned: planned, options: options)
        output = RunOutput(set)
        self.settings = settings
        self.rerun = rerun
        output.record(.started(caseCount: jobs.count))
    }

    /// Reports the beginning of a case.
    func begin(_ job: RunJob) { output.record(.caseStarted(id: job.id, subject: subject(job))) }

    /// Reports the progress of a case, at most once a second.
    ///
    /// - Parameter left: the time that is left; `nil` if it is not limited.
    func note(_ progress: ExploreProgress, of job: RunJob, left: Duration?) {
        let now = MonotonicTime.now
        let isDue = nextProgress.withLock { next in
            guard now >= next else { return false }
            next = now + .seconds(1)
            return true
        }
        guard isDue else { return }
        var counts = progress.counts
        counts.left = left.map { max(0, $0.nanoseconds) }
        output.record(.exploring(id: job.id, counts))
    }

    /// Reports the end of a case. An interrupted case is reported as not run.
    ///
    /// - Parameters:
    ///   - written: the shrunk scenarios that were written.
    ///   - problem: the reason why a scenario could not be written; `nil` if all scenarios were written.
    func end(
        _ job: RunJob, _ outcome: ExploreOutcome, written: [FindingWriter.Written], problem: String?,
        since start: MonotonicTime
    ) {
        guard var result = result(of: job, outcome, written) else { return }
        result.duration = (MonotonicTime.now - start).nanoseconds
        if let problem, !result.findings.isEmpty { result.findings[0].details.append(problem) }
        output.record(.caseEnded(result))
    }

    /// Reports the end of the command.
    ///
    /// - Returns: the given exit code, or the exit code for an error if a report could not be written.
    func end(code: Int32, interruptedBy signal: Int32?) -> Int32 {
        var summary = RunSummary()
        summary.commandExitCode = code
        summary.interruptedBy = signal
        summary.duration = output.elapsed
        output.record(.ended(summary))
        guard let complete = output.summary else { return code }
        for error in complete.runErrors { Console.standardError.write("error: \(error)\n") }
        return complete.exitCode
    }

    /// Completes the reports if a second signal aborts the command.
    func abort(by signal: Int32) { output.abort(by: signal) }

    // MARK: Results

    private func subject(_ job: RunJob) -> String? {
        job.plan.scenario.hasSubject ? job.subject?.name : nil
    }

    private func result(
        of job: RunJob, _ outcome: ExploreOutcome, _ written: [FindingWriter.Written]
    ) -> CaseResult? {
        switch outcome {
        case .interrupted: return nil
        case .fails(let other) where other.verdict == .skipped || other.verdict == .unsupported:
            return result(of: job, other.verdict, other.findings)
        case .fails(let other):
            return result(
                of: job, .inconclusive,
                [about(other, "the scenario does not pass as it is, so its variations prove nothing")], other.timeline)
        case .unstable(let passed, let runs, let other):
            return result(
                of: job, .inconclusive,
                [
                    about(
                        other,
                        "the scenario passes in only \(passed) of \(runs) runs as it is, so its variations prove nothing"
                    )
                ],
                other.timeline)
        case .nothingToVary:
            return result(
                of: job, .skipped, [Finding(.skipped, "no endpoint of the harness sends or reads anything")])
        case .goodFails(let passed, let runs, let other):
            let text =
                "the program given by --good passes in only \(passed) of \(runs) runs, but must pass in all of them"
            return result(
                of: job, .inconclusive, [other.map { about($0, text) } ?? Finding(.inconclusive, text)],
                other?.timeline ?? [])
        case .doesNotFail(let other):
            let text = "the scenario did not fail in \(FailureRate.measured) runs, so there is nothing to shrink"
            return result(of: job, .skipped, [other.map { about($0, text, .skipped) } ?? Finding(.skipped, text)])
        case .explored(let report): return result(of: job, report, written)
        case .faults(let report): return result(of: job, report, written)
        }
    }

    private func result(
        of job: RunJob, _ report: ExploreReport, _ written: [FindingWriter.Written]
    ) -> CaseResult {
        let found = zip(
            report.findings, written.map(\.sentence) + report.findings.dropFirst(written.count).map { _ in "fails" }
        )
        .map { finding, sentence in
            // A failure at the end of a case has no location in the script, so the location of the variation is used.
            let place = finding.signature.span ?? report.base.place(of: finding.shrunk.candidate.variation)
            return Self.finding(finding, at: place, sentence)
        }
        let rare = report.rare.map { finding in
            about(finding.result, "the failure is too rare to be shrunk: it occurred in \(finding.shrunk.rate.text)")
        }
        let failedByGood = report.failedByGood.map {
            about($0, "the program given by --good fails too, so the failure was not shrunk")
        }
        let unconfirmed = report.unconfirmed.map {
            about($0, "there was no time to check whether the program is only slow")
        }
        let unstable = report.stability.map { stability in
            Finding(
                .inconclusive,
                "after the search, the scenario failed without variations in \(stability.text), so the findings may be due to chance"
            )
        }
        let others = report.others.map { about($0, "a variation fails, but the failure was not shrunk") }
        let verdict: Verdict = !found.isEmpty ? .failed : report.isUnsettled ? .inconclusive : .passed
        var result = result(
            of: job, verdict, found + rare + failedByGood + unconfirmed + [unstable].compactMap(\.self) + others,
            report.findings.first?.result.timeline ?? [])
        let counts = settings.map { settings in
            Exploration.Counts(
                law: .stream, tried: report.tried, left: report.singleCuts - report.singleCutsTried,
                inconclusive: report.unknown, isExhausted: report.isExhausted, seed: settings.seed)
        }
        add(Exploration(counts: counts, written: written.map(Exploration.WrittenScenario.init)), to: &result)
        if !result.findings.isEmpty { result.findings[0].hints += written.flatMap(\.notes) }
        return result
    }

    private func result(
        of job: RunJob, _ report: FaultExplorer.Report, _ written: [FindingWriter.Written]
    ) -> CaseResult {
        if let obstacle = report.obstacle {
            return result(of: job, .skipped, [Finding(.skipped, "no fault was tried: \(obstacle)")])
        }
        let findings = report.finding.map { found in
            // The steps after the injected fault are not in the script, so the location of the fault is used.
            var finding = Finding(.failed, at: found.span, found.sentence)
            if let first = found.result.findings.first { finding.details = [first.summary] + first.details }
            return [finding]
        }
        let failedByGood = Finding(
            .inconclusive,
            "the program given by --good does not survive \(ByteText.count(report.failedByGood, "fault")) either")
        let unconfirmed = report.unconfirmed.map {
            about($0, "there was no time to check how often the failure occurs")
        }
        var result =
            findings == nil && !report.isSettled
            ? result(
                of: job, .inconclusive,
                [unconfirmed, report.failedByGood > 0 ? failedByGood : nil].compactMap(\.self)
                    + (report.tried == 0 ? [Finding(.inconclusive, "there was no time to try a fault")] : []))
            : result(of: job, findings == nil ? .passed : .failed, findings ?? [])
        let counts = Exploration.Counts(
            law: .faults, tried: report.tried, left: report.all - report.tried, inconclusive: report.unknown,
            isExhausted: report.tried == report.all, seed: settings?.seed ?? 0)
        add(Exploration(counts: counts, written: written.map(Exploration.WrittenScenario.init)), to: &result)
        return result
    }

    private func add(_ exploration: Exploration, to result: inout CaseResult) {
        result.exploration = exploration
        result.capturePath = exploration.written.first?.captures.first
        guard !result.findings.isEmpty else { return }
        for scenario in exploration.written {
            result.findings[0].hints.append("reproduce it with `tcpprobe run \(ShellWord.quoted(scenario.path))`")
        }
    }

    /// Returns the finding for a failing variation, with a sentence that describes the cause.
    private static func finding(_ found: ExploreFinding, at place: SourceSpan?, _ sentence: String) -> Finding {
        var finding = Finding(.failed, at: place, sentence)
        guard let first = found.result.findings.first, Signature(found.result) == found.signature else {
            return finding
        }
        (finding.expected, finding.actual) = (first.expected, first.actual)
        finding.details = [first.summary] + first.details
        finding.actors = first.actors
        finding.rounds = first.rounds
        return finding
    }

    /// Returns a finding about a run of the scenario without variations.
    private func about(_ result: CaseResult, _ text: String, _ verdict: Verdict = .inconclusive) -> Finding {
        let first = result.findings.first
        return Finding(
            verdict, at: first?.span, text, expected: first?.expected, actual: first?.actual,
            details: first.map { [$0.summary] + $0.details } ?? [])
    }

    private func result(
        of job: RunJob, _ verdict: Verdict, _ findings: [Finding], _ timeline: [TimelineEntry] = []
    ) -> CaseResult {
        let planned = PlannedCase(job, rerun: rerun(job))
        return CaseResult(
            id: planned.id, path: planned.path, sources: job.plan.sources, title: planned.title, about: planned.about,
            because: planned.because, level: .must, tags: planned.tags, subject: planned.subject, verdict: verdict,
            findings: findings, timeline: timeline, duration: 0, capturePath: nil, rerun: planned.rerun)
    }
}

extension Exploration.WrittenScenario {
    fileprivate init(_ written: FindingWriter.Written) {
        self.init(
            path: written.path, sentence: written.sentence, captures: written.captures, failed: written.rate.failed,
            runs: written.rate.runs)
    }
}
