import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeEngine
import ProbeExplore
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Synchronization

/// One call of `explore` or `shrink`: prepares what runs need, runs the cases one after the other, and tells what came of them.
struct ExploreRun {
    enum Kind {
        case explore(ExploreSettings)
        case shrink
    }

    private let options: ExploreOptions
    private let kind: Kind
    private let chosen: [RunJob]
    private let console = Console.standardOutput

    /// - Parameter jobs: the cases, one after the other.
    init(_ options: ExploreOptions, _ jobs: [RunJob], kind: Kind) {
        self.options = options
        chosen = jobs
        self.kind = kind
    }

    func run() throws {
        let sources = try options.subjects.sources()
        probe_keep_memory_small()
        let descriptors = DescriptorBudget()
        if probe_has_descriptors(16) == 0 {
            Console.standardError.write(
                "error: the run can't begin: too many open files; `ulimit -n` must allow 16 more than are open\n")
            throw ExitCode(3)
        }
        let interrupts = probe_interrupt_descriptor()
        let needsCapture = chosen.contains { $0.plan.scenario.variationsNeedCapture }
        if needsCapture { enterNamespace(chosen) }
        let jobs = options.subjects.multiply(chosen, by: sources)
        let (parallel, note) = descriptors.jobs(
            options.parallel, for: Array(repeating: jobs, count: options.parallel).flatMap(\.self),
            subjectCount: sources.count)
        if let note { console.write("note: \(note)\n") }
        if probe_has_threads(Int32(2 + 8 * parallel)) == 0 {
            Console.standardError.write(
                "error: the run can't begin: \(2 + 8 * parallel) threads can't be started; `ulimit -u` must allow more, or `-j` be smaller\n"
            )
            throw ExitCode(3)
        }
        let folder = try outputFolder()
        ResourceTracker.begin()
        SubjectIntroductions(sources).wait(orUntilReadable: interrupts)
        defer { endResources() }
        if let failure = sources.lazy.compactMap(\.givenUp).first { throw Failure.wrongUse(failure) }
        var configuration = RunConfiguration(ports: PortAllocator(seed: getpid()), version: TCPProbe.version)
        configuration.allowedTargets = try options.targets.targets()
        configuration.allowsProcesses = !options.forbidsProcesses
        configuration.parallel = parallel
        configuration.provesFaults = false
        let capture = ExploreCapture(ports: configuration.ports)
        if needsCapture { (configuration.capture, configuration.captureProblem) = capture.open() }
        let code = try execute(
            jobs, configuration, sources, interrupts, output: (folder, capture))
        endResources()
        throw ExitCode(code)
    }

    // MARK: Preparation

    /// Where wire statements are to be judged and capture is not permitted here, a namespace of the run's own permits it.
    private func enterNamespace(_ jobs: [RunJob]) {
        guard !Isolation.mayCapture, IsolationObstacle(jobs, allowedTargets: options.targets.allowed) == nil else {
            return
        }
        do {
            try Isolation.enter()
        } catch {
            console.write("note: a network namespace is not to be had here (\(error.step): \(error.reason))\n")
        }
    }

    private func outputFolder() throws -> Folder {
        do throws(SystemError) {
            let folder = try Folder(making: options.out)
            try folder.requireWritable()
            return folder
        } catch {
            Console.standardError.write(
                "error: the folder \(Escaped.text(options.out.utf8)) can't be written to: \(error.reason); `--out DIR` chooses another\n"
            )
            throw ExitCode(3)
        }
    }

    private func endResources() {
        for (folder, reason) in ResourceTracker.endAll() {
            Console.standardError.write(
                "error: the temporary folder \(Escaped.text(folder)) can't be removed: \(reason)\n")
        }
    }

    // MARK: The run

    private func execute(
        _ jobs: [RunJob], _ configuration: RunConfiguration, _ subjects: [any SubjectSource], _ interrupts: Int32,
        output: (folder: Folder, capture: ExploreCapture)
    ) throws -> Int32 {
        let reactor: Reactor
        do {
            reactor = try Reactor()
        } catch {
            Console.standardError.write("error: the run can't begin: \(error)\n")
            throw ExitCode(3)
        }
        let control = RunControl()
        if interrupts >= 0 {
            do {
                try reactor.register(interrupts, for: .read) { _ in
                    let signal = probe_next_signal(interrupts)
                    if signal == 0 { return }
                    if control.interruptedBy != nil {
                        endResources()
                        _exit(128 + signal)
                    }
                    control.interrupt(by: signal)
                }
            } catch {
                Console.standardError.write("note: Ctrl-C will end the run at once: \(error)\n")
            }
        }
        let finished = ExitCodeBox()
        let (folder, capture) = output
        Task(executorPreference: reactor) {
            for job in jobs where control.interruptedBy == nil {
                let runner = EngineRunner(job: job, configuration: configuration, control: control, reactor: reactor) {
                    _ in true
                }
                let text = ExploreText(console: console, job: job, options: options)
                finished.raise(to: await explore(runner, text, folder, capture))
            }
            for subject in subjects { await subject.shutDown() }
            reactor.stop()
        }
        reactor.run()
        if let signal = control.interruptedBy { return 128 + signal }
        return finished.code
    }

    /// - Returns: the exit code of one case.
    private func explore(
        _ runner: EngineRunner, _ text: ExploreText, _ folder: Folder, _ capture: ExploreCapture
    ) async -> Int32 {
        let outcome: ExploreOutcome
        switch kind {
        case .explore(let settings):
            let start = MonotonicTime.now
            outcome = await Explorer(runner: runner, settings: settings) { progress in
                text.show(progress, left: Int((settings.duration - (MonotonicTime.now - start)) / .seconds(1)))
            }.explore()
        case .shrink:
            outcome = await Explorer(runner: runner, settings: ExploreSettings()) { text.show($0, left: 0) }.shrink()
        }
        text.clear()
        if case .faults(let report) = outcome { return await tell(report, runner, text, folder, capture) }
        guard case .explored(let report) = outcome else { return text.tell(outcome) }
        let isExploring = if case .explore = kind { true } else { false }
        text.tell(report, isExploring: isExploring)
        var captureConfiguration: RunConfiguration?
        if !report.findings.isEmpty {
            captureConfiguration = capture.configuration(runner.configuration, folder, path: options.out)
        }
        let writer = FindingWriter(
            runner, folder: folder, path: options.out, captureConfiguration: captureConfiguration)
        for (index, finding) in report.findings.enumerated() {
            let name = text.name + (index == 0 ? "" : ".\(index + 1)")
            do throws(SystemError) {
                text.tell(try await writer.write(finding, of: report.base, name: name))
            } catch {
                Console.standardError.write(
                    "error: \(Escaped.text(options.out))/\(name).min.scn can't be written: \(error.reason); `--out DIR` chooses another folder\n"
                )
                return 3
            }
        }
        if isExploring { return report.findings.isEmpty ? 0 : 1 }
        return report.findings.isEmpty ? 3 : 0
    }
}

extension ExploreRun {
    /// Tells what came of faults, and writes the one that was found.
    ///
    /// - Returns: the exit code of the case.
    private func tell(
        _ report: FaultExplorer.Report, _ runner: EngineRunner, _ text: ExploreText, _ folder: Folder,
        _ capture: ExploreCapture
    ) async -> Int32 {
        text.tell(report)
        guard let finding = report.finding else { return report.obstacle == nil ? 0 : 3 }
        let writer = FindingWriter(
            runner, folder: folder, path: options.out,
            captureConfiguration: capture.configuration(runner.configuration, folder, path: options.out))
        do throws(SystemError) {
            text.tell(try await writer.write(finding, name: "\(text.name).fault"))
            return 1
        } catch {
            Console.standardError.write(
                "error: \(Escaped.text(options.out))/\(text.name).fault.min.scn can't be written: \(error.reason); `--out DIR` chooses another folder\n"
            )
            return 3
        }
    }
}

/// The exit code of several cases: something found counts most, then what was wrong.
private final class ExitCodeBox: Sendable {
    private let codes = Mutex<[Int32]>([])

    func raise(to code: Int32) { codes.withLock { $0.append(code) } }

    var code: Int32 {
        let codes = codes.withLock { $0 }
        return [1, 2, 3].first(where: codes.contains) ?? 0
    }
}
