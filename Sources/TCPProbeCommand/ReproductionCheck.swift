import Glibc
import ProbeBase
import ProbeCapture
import ProbeDiagnose
import ProbeEngine
import ProbeEvents
import ProbeInspect
import ProbeScenario
import ProbeSystem
import ProbeWire
import Synchronization

/// Runs a scenario that recreates a finding, and diagnoses its capture.
struct ReproductionCheck {
    enum Outcome: Sendable {
        /// A flow of the run shows the same finding.
        case same(flow: Int)
        /// The run did not show the finding.
        case different(reason: String)
        case interrupted(signal: Int32)
    }

    /// The text of the scenario.
    let bytes: [UInt8]
    private let reproduction: Reproduction
    private let job: RunJob

    /// The number of runs, because a run on a busy machine may show something else.
    private static let attempts = 3

    /// Creates a check.
    ///
    /// - Throws: the exit code, after printing the message, if the text is not a valid scenario.
    init(_ reproduction: Reproduction, _ text: String, _ destination: ScenarioDestination) throws {
        self.reproduction = reproduction
        guard case .formatted(let formatted) = ScenarioFormatter.format(path: destination.path, bytes: Array(text.utf8))
        else { throw Failure.machine("the scenario can't be expressed in the language: this is a bug in tcpprobe") }
        bytes = formatted
        let compiled = ScenarioCompiler.compile(path: destination.path, bytes: formatted, loader: FileAccess.load)
        guard let plan = compiled.plan, let casePlan = plan.cases.first else {
            let problem = compiled.diagnostics.first { $0.severity == .error }?.text ?? "it does not compile"
            throw Failure.machine("the scenario is not valid (\(problem)): this is a bug in tcpprobe")
        }
        job = RunJob(
            plan: plan, casePlan: casePlan, index: StepIndex(plan.scenario), id: destination.stem,
            path: destination.path, folder: ScenarioFiles.folder(of: destination.path))
    }

    /// The value of `--side` with which the finding shows.
    var side: String { reproduction.end == .client ? "left" : "right" }

    private var view: LinkView { reproduction.end == .client ? .at(.left) : .at(.right) }

    /// Runs the scenario. Its capture is kept in a temporary folder, which the session removes.
    ///
    /// - Throws: the exit code for an error of the machine, after printing the message.
    func run(in session: RunSession) throws -> Outcome {
        try session.requireThreads(4)
        if let failure = session.begin() { throw Failure.invalidUsage(failure) }
        var configuration = RunConfiguration.forCommands(PortAllocator(seed: getpid()))
        let base = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        do throws(SystemError) {
            configuration.outputFolder = try ResourceTracker.makeFolder(in: base)
            configuration.openedFolder = try Folder(configuration.outputFolder)
        } catch {
            throw Failure.machine(
                "can't create a temporary folder in \(Escaped.text(base)): \(error.reason); set TMPDIR to another folder"
            )
        }
        configuration.keep = .all
        let opening = CaptureOpening(ports: configuration.ports.range, bufferSize: Capture.defaultBufferSize)
        (configuration.capture, configuration.captureProblem) = opening.wait(executable: executablePath())
        let (reactor, control) = (try session.makeReactor(), RunControl())
        let outcome = Mutex<Outcome>(.different(reason: "it was not run"))
        try session.run(control, abort: { _ in session.endAndReport() }) { [self, configuration] in
            for _ in 0..<Self.attempts where control.interruptedBy == nil {
                let result = Mutex<CaseResult?>(nil)
                await Runner(configuration: configuration, control: control) { event in
                    if case .caseEnded(let ended) = event { result.withLock { $0 = ended } }
                }.run([job], on: reactor)
                let found = judge(result.withLock { $0 })
                outcome.withLock { $0 = found }
                if case .same = found { break }
            }
        }
        configuration.capture?.leaveClosingToKernel()
        return control.interruptedBy.map { .interrupted(signal: $0) } ?? outcome.withLock { $0 }
    }

    private func judge(_ result: CaseResult?) -> Outcome {
        guard let result else { return .different(reason: "the scenario was not run") }
        guard result.verdict == .passed, let path = result.capturePath else {
            let reason = result.findings.first?.summary ?? "it has no capture"
            return .different(
                reason: result.verdict == .skipped
                    ? "the scenario can't be run here: \(reason)" : "the scenario did not pass: \(reason)")
        }
        let inspection: Inspection
        do throws(CaptureSourceError) {
            inspection = Inspection.diagnosing(try CaptureSource(path: path), view: view)
        } catch {
            return .different(reason: "\(InspectionProblem.source(error))")
        }
        let flows = inspection.diagnosis(ConnectionFilter()).flows
        if let flow = reproduction.flow(in: flows) { return .same(flow: flow.number) }
        return .different(reason: "when the scenario was run, \(reproduction.difference(in: flows))")
    }
}
