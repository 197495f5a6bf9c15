package import ProbeEngine
package import ProbeBase
package import ProbeEvents
import ProbeScenario
package import ProbeSystem

/// Writes a finding as a self-contained scenario, and verifies that the written scenario fails.
package struct FindingWriter {
    /// The files that were written for a finding, and their description.
    package struct Written: Sendable {
        package var sentence: String
        /// The path of the written scenario.
        package var path: String
        /// The text of the scenario without the variation.
        package var passing: [UInt8]
        /// The text of the scenario with the variation.
        package var failing: [UInt8]
        /// The failure rate of the written scenario.
        package var rate: FailureRate
        /// The result of a run of the written scenario that failed; `nil` if none failed.
        package var result: CaseResult?
        /// The paths of the captures of a failed run and of a passed run; empty if no captures are kept.
        package var captures: [String]
        /// Notes for the user.
        package var notes: [String]
    }

    /// The number of times that the written scenario is run.
    private static let checks = 3

    private let runner: EngineRunner
    private let folder: Folder
    private let folderPath: String
    private let captureConfiguration: RunConfiguration?
    /// The time at which the runs of written scenarios must have ended; `nil` if their time is not limited.
    private let end: MonotonicTime?

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - runner: the runner of the explored case.
    ///   - folder: the folder in which the files are written; `path` is the folder's path as given by the user.
    ///   - captureConfiguration: the configuration of the runs whose captures are kept; `nil` if no captures are kept.
    ///   - end: the time at which the runs of written scenarios must have ended; `nil` if their time is not limited.
    package init(
        _ runner: EngineRunner, folder: Folder, path: String, captureConfiguration: RunConfiguration?,
        until end: MonotonicTime? = nil
    ) {
        // The runs of a scenario that fails spend most of their time waiting for a deadline, so all run at once.
        var configuration = runner.configuration
        configuration.parallel = max(configuration.parallel, Self.checks)
        self.runner = runner.with(configuration: configuration)
        self.end = end
        self.folder = folder
        folderPath = path
        self.captureConfiguration = captureConfiguration
    }

    /// Writes the smallest scenario that was found for a finding.
    ///
    /// - Parameter name: the name of the scenario, from which file names are derived.
    /// - Throws: the system's error if a file can't be written or copied.
    package func write(
        _ finding: ExploreFinding, of base: ExploredScenario, name: String
    ) async throws(SystemError) -> Written {
        let text = ScenarioText(base)
        let candidate = finding.shrunk.candidate
        let sentence = MinimumSentence(base, finding.shrunk).text
        let target = ScenarioFiles.folder(of: "\(folderPath)/x")
        let moved = self.moved(text.text(of: candidate, about: sentence), to: target, name)
        var written = Written(
            sentence: sentence, path: "\(folderPath)/\(name).min.scn", passing: text.text(of: candidate.plain),
            failing: text.text(of: candidate), rate: FailureRate(failed: 0, runs: 0), result: nil, captures: [],
            notes: [])
        try put(moved, name, &written)
        if finding.shrunk.hasReachedDeadline {
            written.notes.append(
                "the time ran out before the scenario was shrunk completely; run `tcpprobe shrink` on this file to continue"
            )
        }
        if finding.shrunk.keepsPremises {
            written.notes.append(
                "everything before the failing step was kept: only a correct program can show which steps the failure depends on; specify one with `--good COMMAND`"
            )
        }
        if finding.shrunk.hasUnsureReduction {
            written.notes.append(
                "a smaller scenario was discarded, because it did not always pass without the bug")
        }
        let plain = self.moved(written.passing, to: target, name)
        guard let job = job(moved.bytes, path: written.path, folder: target, id: "\(name).min", written: &written)
        else {
            return written
        }
        let passing = self.job(
            plain.bytes, path: written.path, folder: target, id: "\(name).passing", written: &written)
        await run(job, and: candidate.variation.isEmpty ? [job] : [job, passing], &written)
        if written.rate.runs > 0, written.rate.failed == 0 {
            written.notes.append(
                "the written scenario did not fail in \(written.rate.runs) runs: the failure depends on something that was left out"
            )
        }
        return written
    }

    /// Writes the scenario for a fault.
    package func write(_ finding: FaultExplorer.Finding, name: String) async throws(SystemError) -> Written {
        let target = ScenarioFiles.folder(of: "\(folderPath)/x")
        let lines = SourceLines(finding.bytes)
        var edits = TextEdits()
        for range in lines.lines(beginningWith: "about") { edits.replace(range, with: "") }
        if let title = lines.lines(beginningWith: "scenario").first {
            edits.replace(
                title.upperBound..<title.upperBound,
                with: "about \"\(StreamStatements.escaped(Array(finding.sentence.utf8)))\"\n")
        }
        let moved = self.moved(edits.applied(to: finding.bytes), to: target, name)
        var written = Written(
            sentence: finding.sentence, path: "\(folderPath)/\(name).min.scn", passing: [], failing: [],
            rate: FailureRate(failed: 0, runs: 0), result: nil, captures: [], notes: [])
        try put(moved, name, &written)
        guard let job = job(moved.bytes, path: written.path, folder: target, id: "\(name).min", written: &written)
        else {
            return written
        }
        await run(job, and: [job], &written)
        return written
    }

    /// Runs a written scenario a few times, and each of the given jobs once with a capture.
    private func run(_ job: RunJob, and captured: [RunJob?], _ written: inout Written) async {
        let limit = end.map { RunLimit(self.runner.control, at: $0) }
        defer { limit?.cancel() }
        let runner = limit.map { self.runner.with(control: $0.control) } ?? self.runner
        async let measured = rate(of: job, runner)
        async let kept = captures(of: captured, runner)
        ((written.rate, written.result), written.captures) = (await measured, await kept)
        if written.rate.runs == 0 {
            written.notes.append(
                "there was no time to run the written scenario; check it with `tcpprobe run \(written.path)`")
        }
    }

    private func rate(of job: RunJob, _ runner: EngineRunner) async -> (FailureRate, CaseResult?) {
        let trials = await runner.withJob(job).run(Array(repeating: Candidate(), count: Self.checks))
        let failed = trials.filter { $0.signature != nil }
        let rate = FailureRate(
            failed: failed.count, runs: trials.count { if case .unknown(nil) = $0 { false } else { true } })
        return (rate, failed.first?.result)
    }

    private func moved(_ bytes: [UInt8], to target: String, _ name: String) -> MovedScript {
        let bindings = runner.job.casePlan.bindings
        return MovedScript(bytes, from: runner.job.folder, to: target, copiesBelow: "\(name).files") { name in
            switch bindings[name] {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .integer(let number): "\(number)"
            case .unsigned(let number): "\(number)"
            case .pieces, .regex, nil: nil
            }
        }
    }

    /// Writes a script and copies the files that it refers to. A scenario with the same name, and its captures, are
    /// moved to `earlier/`.
    private func put(_ moved: MovedScript, _ name: String, _ written: inout Written) throws(SystemError) {
        for copy in moved.copies { try self.copy(copy) }
        if moved.hasUnknownFiles {
            written.notes.append(
                "a file whose name is computed while the script runs was not copied; copy it to "
                    + "\(folderPath)/\(name).files"
            )
        }
        guard let earlier = try folder.replaceKeepingEarlier("\(name).min.scn", with: moved.bytes) else { return }
        for capture in captureNames(name) { try folder.moveToEarlier(capture) }
        written.notes.append("the previous \(name).min.scn was moved to \(folderPath)/\(Folder.earlierName)/\(earlier)")
    }

    private func captureNames(_ name: String) -> [String] {
        ["\(name).min", "\(name).passing"].map { CaseFileName.of(id: $0, subject: nil, round: 1) + ".pcapng" }
    }

    /// Copies a file if the script is allowed to read it. A file that can't be read is not copied: the original script
    /// could not read it either.
    private func copy(_ copy: MovedScript.Copy) throws(SystemError) {
        let script = "\(runner.job.folder)/a.scn"
        guard let file = ScriptPath.file(copy.source, referencedIn: script, of: script) else { return }
        let bytes: [UInt8]
        do throws(LoadError) {
            bytes = try FileAccess.load(file)
        } catch {
            return
        }
        let parts = copy.target.split(separator: "/").map(String.init)
        let place = try Folder(making: Array(parts.dropLast()), below: folder)
        try place.replaceKeepingEarlier(parts[parts.count - 1], with: bytes)
    }

    private func job(
        _ bytes: [UInt8], path: String, folder: String, id: String, written: inout Written
    ) -> RunJob? {
        let compiled = ScenarioCompiler.compile(
            path: path, bytes: bytes, allowing: runner.configuration.allowedTargets, loader: FileAccess.load)
        guard let plan = compiled.plan else {
            written.notes.append(
                "the written scenario has an error: "
                    + (compiled.diagnostics.first { $0.severity == .error }?.text ?? "it does not compile"))
            return nil
        }
        let label = runner.job.casePlan.label
        guard let casePlan = plan.cases.first(where: { $0.label == label }) ?? plan.cases.first else { return nil }
        if plan.cases.count > 1 {
            written.notes.append("the written scenario has several cases; the one that failed is \(label)")
        }
        var job = RunJob(
            plan: plan, casePlan: casePlan, index: StepIndex(plan.scenario), id: id, path: path, folder: folder)
        job.subject = runner.job.subject
        return job
    }

    /// Runs each job once, and returns the paths of the captures of these runs.
    private func captures(of jobs: [RunJob?], _ runner: EngineRunner) async -> [String] {
        guard let captureConfiguration else { return [] }
        var paths: [String] = []
        for job in jobs.compactMap(\.self) {
            let result = await runner.with(configuration: captureConfiguration).result(of: job)
            if let path = result?.capturePath { paths.append(path) }
        }
        return paths
    }
}
