import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeEngine
import ProbeExplore
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Synchronization

/// One invocation of `explore` or `shrink`: acquires the required resources, processes the cases one after another, and
/// reports the results.
struct ExploreRun {
    enum Kind {
        /// Searches for variations or faults that make the scenario fail.
        ///
        /// - Parameter words: the search options, as words of the command line that repeats the search.
        case explore(ExploreSettings, words: [String])
        case shrink

        /// The settings of `explore`; `nil` for `shrink`.
        var settings: ExploreSettings? { if case .explore(let settings, _) = self { settings } else { nil } }

        /// The words of the command line, including the search options.
        var words: [String] {
            switch self {
            case .explore(_, let words): ["tcpprobe", "explore"] + words
            case .shrink: ["tcpprobe", "shrink"]
            }
        }

        /// Whether a command that connects to a server is explored instead of a scenario.
        var exploresCommand: Bool { words.contains("--to") || words.contains("--server") }
    }

    private let options: ExploreOptions
    private let kind: Kind
    private let chosen: [RunJob]
    private let corpus: VariationCorpus?
    private var console: Console { options.reports.console }

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - jobs: the cases, which are processed one after another.
    ///   - corpus: the folder with the variations to try first, to which those that fail are added.
    init(_ options: ExploreOptions, _ jobs: [RunJob], kind: Kind, corpus: VariationCorpus? = nil) {
        self.options = options
        self.corpus = corpus
        chosen = jobs
        self.kind = kind
    }

    func run() throws {
        // CI commands must be disabled before the first output that contains text from a script.
        if options.reports.github { Console.standardOutput.stopCommands() }
        let sources = try options.subjects.sources()
        let session = try RunSession()
        let needsCapture = chosen.contains { $0.plan.scenario.variationsNeedCapture }
        if needsCapture { enterNamespace(session, chosen) }
        let jobs = options.subjects.multiply(chosen, by: sources)
        let (parallel, note) = session.descriptors.jobs(
            options.parallel, for: Array(repeating: jobs, count: options.parallel).flatMap(\.self),
            subjectCount: sources.count)
        if let note { console.write("note: \(note)\n") }
        try session.requireThreads(2 + 8 * parallel)
        let folder = try outputFolder()
        try corpus?.requireUsable(for: jobs.map(ExploreText.name))
        let goodAdapter = try options.good.adapter(for: jobs)
        let started: [any SubjectSource] = sources + (goodAdapter.map { [$0] } ?? [])
        defer { session.endAndReport() }
        if let failure = session.begin(introducing: started) { throw Failure.invalidUsage(failure) }
        let targets = try options.targets.targets()
        let knownGoodScenarios = try jobs.map { job in
            try options.good.knownGoodScenario(
                of: job, adapter: goodAdapter, settings: options.selection.settings, allowing: targets,
                exploresCommand: kind.exploresCommand)
        }
        var configuration = RunConfiguration.forCommands(PortAllocator(seed: getpid()))
        configuration.allowedTargets = targets
        configuration.allowsProcesses = !options.forbidsProcesses
        configuration.parallel = parallel
        configuration.provesFaults = false
        let capture = ExploreCapture(ports: configuration.ports)
        if needsCapture { (configuration.capture, configuration.captureProblem) = capture.open() }
        let reports = try makeReports(jobs, hasSeveralSubjects: sources.count > 1)
        let code = try execute(
            zip(jobs, knownGoodScenarios).map { ($0, $1) }, configuration, started, session,
            output: (folder, capture, reports))
        session.endAndReport()
        throw ExitCode(code)
    }

    private var repeats: Bool { kind.settings?.repeats ?? false }

    // MARK: Preparation

    /// Enters a private network namespace if wire statements must be judged and capturing is permitted only in such a
    /// namespace.
    private func enterNamespace(_ session: RunSession, _ jobs: [RunJob]) {
        guard !Isolation.mayCapture, IsolationObstacle(jobs, allowedTargets: options.targets.allowed) == nil else {
            return
        }
        do {
            try session.enterNamespace()
        } catch {
            console.write("note: can't create a network namespace (\(error.step): \(error.reason))\n")
        }
    }

    private func outputFolder() throws -> Folder {
        do throws(SystemError) {
            let folder = try Folder(making: options.out)
            try folder.requireWritable()
            return folder
        } catch {
            Console.standardError.write(
                "error: the folder \(Escaped.text(options.out.utf8)) can't be written to: \(error.reason); choose another one with `--out DIR`\n"
            )
            throw ExitCode(3)
        }
    }

    private func makeReports(_ jobs: [RunJob], hasSeveralSubjects: Bool) throws -> ExploreReports {
        var report = ReportOptions()
        report.hasSeveralSubjects = hasSeveralSubjects
        report.version = TCPProbe.version
        report.startedAt = probe_realtime_ns() / 1_000_000_000
        let words = kind.words
        let (options, targets) = (options.rerunWords, options.selection.paths)
        let isCommand = kind.exploresCommand
        return try ExploreReports(self.options.reports, jobs, settings: kind.settings, options: report) { job in
            var all = words + options
            if let subject = job.subject, subject.option != SubjectArguments.standard { all += subject.option }
            if isCommand { return (all + ["--"] + targets).map(ShellWord.quoted).joined(separator: " ") }
            all.append(job.path)
            if !job.casePlan.label.isEmpty {
                all += ["--filter", ScenarioFiles.ownID(of: job.path) + job.casePlan.label]
            }
            return all.map(ShellWord.quoted).joined(separator: " ")
        }
    }

    // MARK: The run

    /// The destinations of the command's output.
    private typealias Output = (folder: Folder, capture: ExploreCapture, reports: ExploreReports)

    private func execute(
        _ jobs: [(RunJob, KnownGoodScenario?)], _ configuration: RunConfiguration, _ subjects: [any SubjectSource],
        _ session: RunSession, output: Output
    ) throws -> Int32 {
        let (reactor, control) = (try session.makeReactor(), RunControl())
        let reports = output.reports
        let finished = ExitCodeBox()
        let abort: (Int32) -> Void = { signal in
            reports.abort(by: signal)
            session.endAndReport()
            Console.standardOutput.resumeCommands()
        }
        try session.run(control, abort: abort) {
            for (job, good) in jobs where control.interruptedBy == nil && !(repeats && finished.code == 1) {
                let runner = EngineRunner(job: job, configuration: configuration, control: control, reactor: reactor) {
                    _ in true
                }
                let text = ExploreText(console: console, job: job, options: options)
                finished.raise(to: await explore(runner, good, text, output))
            }
            for subject in subjects { await subject.shutDown() }
        }
        return reports.end(code: finished.code, interruptedBy: control.interruptedBy)
    }

    /// Explores one case.
    ///
    /// - Returns: the exit code of the case.
    private func explore(
        _ runner: EngineRunner, _ good: KnownGoodScenario?, _ text: ExploreText, _ output: Output
    ) async -> Int32 {
        let outcome: ExploreOutcome
        let start = MonotonicTime.now
        output.reports.begin(runner.job)
        switch kind {
        case .explore(var settings, _):
            settings.saved = corpus?.variations(of: text.name) ?? []
            let duration = settings.duration
            outcome = await Explorer(runner: runner, settings: settings, good: good) { [reports = output.reports] in
                let left = duration - (MonotonicTime.now - start)
                text.show($0, left: Int(left / .seconds(1)))
                reports.note($0, of: runner.job, left: left)
            }.explore()
        case .shrink:
            outcome = await Explorer(runner: runner, settings: ExploreSettings(), good: good) {
                [reports = output.reports] in
                text.show($0, left: nil)
                reports.note($0, of: runner.job, left: nil)
            }.shrink()
        }
        text.clear()
        var written = WrittenFindings()
        let code: Int32
        switch outcome {
        case .faults(let report): code = await printReport(report, writer(runner, output, since: start), text, &written)
        case .explored(let report):
            code = await printReport(report, writer(runner, output, since: start), text, &written)
        default: code = text.printReport(outcome)
        }
        if case .explored(let report) = outcome, let corpus {
            let problem = corpus.add((report.findings + report.rare).compactMap(\.original), to: text.name)
            written.problem = written.problem ?? problem
        }
        // An interrupted search has a result only if there is a finding.
        let isWhole = runner.control.interruptedBy == nil || !written.scenarios.isEmpty
        output.reports.end(
            runner.job, isWhole ? outcome : .interrupted, written: written.scenarios, problem: written.problem,
            since: start)
        return code
    }
}

/// The scenarios written for one case.
private struct WrittenFindings {
    var scenarios: [FindingWriter.Written] = []
    /// The reason why a scenario could not be written; `nil` if all scenarios were written.
    var problem: String?
}

/// The results of writing scenarios at the same time.
///
/// The tasks store their results here instead of returning them: in a release build, a task group lost results of a
/// generic type with a typed error.
private final class WrittenResults: Sendable {
    private let results = Mutex<[Int: Result<FindingWriter.Written, SystemError>]>([:])

    func write(
        _ finding: ExploreFinding, at index: Int, of base: ExploredScenario, _ name: String, with writer: FindingWriter
    ) async {
        let result: Result<FindingWriter.Written, SystemError>
        do throws(SystemError) {
            result = .success(try await writer.write(finding, of: base, name: name))
        } catch {
            result = .failure(error)
        }
        results.withLock { $0[index] = result }
    }

    /// Returns the result of a task, which must have ended.
    func result(at index: Int) -> Result<FindingWriter.Written, SystemError> {
        guard let result = results.withLock({ $0[index] }) else { preconditionFailure("the task has not ended") }
        return result
    }
}

extension ExploreRun {
    /// Reports the results for the variations, and writes the shrunk scenarios.
    ///
    /// - Returns: the exit code of the case.
    private func printReport(
        _ report: ExploreReport, _ writer: FindingWriter, _ text: ExploreText, _ written: inout WrittenFindings
    ) async -> Int32 {
        let isExploring = kind.settings != nil
        text.printReport(report, isExploring: isExploring)
        guard !report.findings.isEmpty else { return isExploring && !report.isUnsettled ? 0 : 3 }
        // Each scenario is run a few times after it has been written. These runs may take as long as the script's
        // deadlines, so the scenarios are written at the same time.
        let names = report.findings.indices.map { text.name + ($0 == 0 ? "" : ".\($0 + 1)") }
        let results = WrittenResults()
        await withTaskGroup(of: Void.self) { group in
            for (index, finding) in report.findings.enumerated() {
                group.addTask { await results.write(finding, at: index, of: report.base, names[index], with: writer) }
            }
        }
        var isProven = false
        for index in report.findings.indices {
            switch results.result(at: index) {
            case .success(let scenario):
                written.scenarios.append(scenario)
                text.printReport(scenario)
                isProven = isProven || scenario.rate.runs == 0 || scenario.rate.failed > 0
            case .failure(let error): written.problem = written.problem ?? printReport(error, names[index])
            }
        }
        // Nothing is proven if no scenario could be written, or if none of them fails.
        guard isProven, report.stability == nil else { return 3 }
        return isExploring ? 1 : 0
    }

    /// Reports the results for the injected faults, and writes a scenario for the finding.
    ///
    /// - Returns: the exit code of the case.
    private func printReport(
        _ report: FaultExplorer.Report, _ writer: FindingWriter, _ text: ExploreText,
        _ written: inout WrittenFindings
    ) async -> Int32 {
        text.printReport(report)
        guard let finding = report.finding else {
            return report.isSettled ? 0 : 3
        }
        let name = "\(text.name).fault"
        do throws(SystemError) {
            let scenario = try await writer.write(finding, name: name)
            written.scenarios.append(scenario)
            text.printReport(scenario)
            return 1
        } catch {
            written.problem = printReport(error, name)
            return 3
        }
    }

    /// Returns a writer for the scenarios of a case.
    ///
    /// - Parameter start: the time at which the case began; `nil` if the runs of written scenarios are not limited.
    private func writer(_ runner: EngineRunner, _ output: Output, since start: MonotonicTime?) -> FindingWriter {
        FindingWriter(
            runner, folder: output.folder, path: options.out,
            captureConfiguration: output.capture.configuration(runner.configuration, output.folder, path: options.out),
            until: kind.settings.flatMap { settings in start.map { $0 + settings.duration } })
    }

    /// Reports that a scenario can't be written.
    ///
    /// - Returns: the message.
    private func printReport(_ error: SystemError, _ name: String) -> String {
        let text =
            "\(Escaped.text(options.out))/\(name).min.scn can't be written: \(error.reason); choose another folder with `--out DIR`"
        Console.standardError.write("error: \(text)\n")
        return text
    }
}

/// Combines the exit codes of several cases. A finding takes precedence over invalid usage and over errors.
private final class ExitCodeBox: Sendable {
    private let codes = Mutex<[Int32]>([])

    func raise(to code: Int32) { codes.withLock { $0.append(code) } }

    var code: Int32 {
        let codes = codes.withLock { $0 }
        return [1, 2, 3].first(where: codes.contains) ?? 0
    }
}
