import ArgumentParser
import CShims
import Glibc
import ProbeCapture
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSockets
import ProbeTransport

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run scenarios and judge them.",
        discussion: """
            EXAMPLES:
              tcpprobe run Scenarios/crlf.scn
              tcpprobe run Scenarios --out captures --keep failed
              tcpprobe run Scenarios --transport bsd
            """)

    @Argument(help: ArgumentHelp("Scenario files, or folders of them.", valueName: "path"))
    var paths: [String]

    @Option(help: ArgumentHelp("The transport under test.", valueName: "name"))
    var transport = "bsd"

    @Option(help: ArgumentHelp("Where captures go.", valueName: "dir"))
    var out = "tcpprobe-out"

    @Option(help: "Which captures are kept: all, failed or none.")
    var keep = CaseSettings.Keep.all

    @Option(
        name: .customLong("allow-target"),
        help: ArgumentHelp("A host, or host:port, that is not loopback and may be connected to.", valueName: "host[:port]"))
    var allowedTargets: [String] = []

    @Flag(name: .customLong("no-process"), help: "Start no programs: for scripts from strangers.")
    var forbidsProcesses = false

    func run() throws {
        let source = try subjectSource()
        let files: ScenarioFiles
        do {
            files = try ScenarioFiles(paths)
        } catch {
            throw Failure.wrongUse(error.text)
        }
        try makeOutputFolder()
        let interrupts = probe_interrupt_descriptor()
        let ports = PortAllocator(seed: getpid())
        // Opening takes some milliseconds of waiting: the scripts are read meanwhile.
        let opening = CaptureOpening(ports: ports.range)
        let jobs = try compile(files)
        _ = probe_become_subreaper()

        let reactor: Reactor
        do {
            reactor = try Reactor()
        } catch {
            Console.standardError.write("error: the run can't begin: \(error)\n")
            throw ExitCode(3)
        }
        var settings = RunSettings(ports: ports, version: TCPProbe.version, rerun: rerun)
        settings.subject = source
        settings.outputFolder = out
        settings.keep = keep
        settings.allowedTargets = allowedTargets
        settings.allowsProcesses = !forbidsProcesses
        (settings.capture, settings.captureProblem) = opening.wait(executable: executablePath())
        let summary = execute(jobs, settings, reactor, interrupts)
        settings.capture?.leaveClosingToKernel()
        throw ExitCode(exitCode(summary))
    }

    // MARK: Before

    private func subjectSource() throws -> any SubjectSource {
        if let factory = BuiltInTransports.factory(named: transport) { return InProcessSource(factory) }
        throw Failure.wrongUse(
            "there is no transport \(EscapedBytes.safeText(transport.utf8)); there is: "
                + BuiltInTransports.all.map(\.name).joined(separator: ", "))
    }

    private func makeOutputFolder() throws {
        if keep == .none { return }
        do throws(SystemError) {
            try SmallFile.makeFolder(out)
            if access(out, W_OK) != 0 { throw SystemError("access") }
        } catch {
            Console.standardError.write(
                "error: the folder \(EscapedBytes.safeText(out.utf8)) for captures can't be written to: \(error.reason); "
                    + "`--out DIR` chooses another, `--keep none` keeps no captures\n")
            throw ExitCode(3)
        }
    }

    /// All scripts; when one does not check, nothing is run.
    private func compile(_ files: ScenarioFiles) throws -> [RunJob] {
        var jobs: [RunJob] = []
        var hasErrors = false
        for file in files.files {
            do throws(ScenarioFiles.PathError) {
                let result = try ScenarioFiles.compile(file).result
                Console.standardError.write(DiagnosticRenderer(sources: result.sources).render(result.diagnostics))
                guard let plan = result.plan else {
                    hasErrors = true
                    continue
                }
                let index = StepIndex(plan.scenario)
                let folder = ScenarioFiles.folder(of: file.path)
                for casePlan in plan.cases {
                    jobs.append(
                        RunJob(
                            plan: plan, casePlan: casePlan, index: index, id: file.id + casePlan.label, path: file.path,
                            folder: folder))
                }
            } catch {
                Console.standardError.write("error: \(error.text)\n")
                hasErrors = true
            }
        }
        if hasErrors { throw ExitCode(2) }
        return jobs
    }

    private func rerun(_ path: String, _ id: String) -> String {
        var words = ["tcpprobe", "run", path]
        if transport != "bsd" { words += ["--transport", transport] }
        for target in allowedTargets { words += ["--allow-target", target] }
        if out != "tcpprobe-out" { words += ["--out", out] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }

    // MARK: The run

    private func execute(
        _ jobs: [RunJob], _ settings: RunSettings, _ reactor: Reactor, _ interrupts: Int32
    ) -> RunSummary {
        let control = RunControl()
        if interrupts >= 0 {
            do {
                try reactor.register(interrupts, for: .read) { _ in
                    let signal = probe_next_signal(interrupts)
                    if signal == 0 { return }
                    // A second one does not wait for `finally` and tear-down.
                    if control.interruptedBy != nil { _exit(128 + signal) }
                    control.interrupt(by: signal)
                }
            } catch {
                Console.standardError.write("note: Ctrl-C will end the run without a report: \(error)\n")
            }
        }
        let outcome = Outcome()
        let recorder = ConsoleRecorder(
            style: ConsoleRecorder.Style(usesColor: Console.standardOutput.usesColor),
            write: { Console.standardOutput.write($0) })
        let output = RecorderBox(recorder)
        Task(executorPreference: reactor) {
            let runner = Runner(settings: settings, control: control) { output.record($0) }
            outcome.set(await runner.run(jobs, on: reactor))
            reactor.stop()
        }
        reactor.run()
        return outcome.get()
    }

    private func exitCode(_ summary: RunSummary) -> Int32 {
        if let code = Console.standardOutput.failure, summary.exitCode == 0 {
            Console.standardError.write("error: the report could not be written: \(String(cString: strerror(code)))\n")
            return 3
        }
        return summary.exitCode
    }

    private func executablePath() -> String {
        SmallFile.linkTarget("/proc/self/exe") ?? "tcpprobe"
    }
}

extension CaseSettings.Keep: ExpressibleByArgument {}
