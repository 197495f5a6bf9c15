import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem

/// One case of a scenario file, ready to be run against a transport. A file without `each` contains one case; a file
/// with `each` contains one case for each value.
public struct ScenarioCase: Sendable, Identifiable, CustomStringConvertible {
    /// The file's path below the folder that was read, without `.scn`, followed by the values of its `each`, as in
    /// `close/eof-mid-line` and `framing/cut[n=3]`. The ids of the conformance suite are stable.
    public let id: String
    /// The file's path.
    public let path: String
    /// The scenario's title.
    public let title: String
    /// The scenario's explanation of what must happen and why it matters; `nil` if the scenario has none.
    public let about: String?
    /// The bugs that are the reason for the scenario, written as `owner/repository#number`.
    public let because: [String]
    /// The level of the scenario, which determines what a failure means.
    public let level: ScenarioLevel
    /// The scenario's tags.
    public let tags: [String]

    let job: RunJob

    /// The id, which a parameterized test shows as the name of its case.
    public var description: String { id }

    /// Returns all cases of the conformance suite that comes with this package, in the order of their ids.
    ///
    /// - Throws: ``ScenarioProblem`` if the package's sources have been moved since it was built.
    public static func conformance() throws(ScenarioProblem) -> [ScenarioCase] {
        // `#filePath` ends with Sources/TCPProbe/ScenarioCase.swift. It is valid at run time as long as the package's
        // sources have not been moved.
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try cases(in: "/\(package)/Scenarios/conformance")
    }

    /// Returns all cases of a scenario file, or of all `*.scn` files in a folder and its subfolders, in the order of
    /// their names.
    ///
    /// - Parameter values: values that replace those of `let` lines in the header of the scripts.
    /// - Throws: ``ScenarioProblem`` if the path does not exist or contains no scenario, or if a script has errors.
    public static func cases(
        in path: String, setting values: [String: String] = [:]
    ) throws(ScenarioProblem) -> [ScenarioCase] {
        var cases: [ScenarioCase] = []
        var problems = ""
        do throws(ScenarioFiles.PathError) {
            for file in try ScenarioFiles([path]).files {
                // Addresses are checked later, so that a forbidden address causes an error only in its own case, and
                // the folder's other cases can run.
                let result = try ScenarioFiles.compile(
                    file, settings: values.mapValues { Array($0.utf8) }, allowing: nil
                ).result
                guard let plan = result.plan else {
                    problems += DiagnosticRenderer(sources: result.sources).render(result.diagnostics)
                    continue
                }
                let index = StepIndex(plan.scenario)
                cases += plan.cases.map { ScenarioCase(file, plan, $0, index) }
            }
        } catch {
            throw ScenarioProblem(description: error.text)
        }
        if !problems.isEmpty { throw ScenarioProblem(description: problems) }
        return cases
    }

    private init(_ file: ScenarioFiles.File, _ plan: Plan, _ casePlan: CasePlan, _ index: StepIndex) {
        id = file.id + casePlan.label
        path = file.path
        title = plan.scenario.title.value
        about = plan.scenario.about
        because = plan.scenario.because
        level = ScenarioLevel(plan.scenario.level)
        tags = plan.scenario.tags
        job = RunJob(
            plan: plan, casePlan: casePlan, index: index, id: id, path: path,
            folder: ScenarioFiles.folder(of: file.path))
    }
}

/// The reason why scenarios could not be read: one or more lines of text, with file, line and column if known.
public struct ScenarioProblem: Error, Sendable, CustomStringConvertible {
    /// The lines of text, escaped for a terminal.
    public let description: String
}

/// The meaning of a scenario's failure, in the words of RFC 2119.
public enum ScenarioLevel: String, Sendable, CaseIterable {
    /// A failure means that the transport is wrong.
    case must
    /// A failure means that the transport does not do what users would expect, perhaps for a good reason.
    case should
    /// A failure is only informational, because either behavior is right.
    case may

    init(_ level: Scenario.Level) {
        self =
            switch level {
            case .must: .must
            case .should: .should
            case .may: .may
            }
    }
}

/// Settings for running cases.
public struct ScenarioSettings: Sendable {
    /// The factor by which the scripts' deadlines and the transport's timeouts are multiplied, for slow machines. Lower
    /// bounds and the timing of faults are not scaled.
    public var timeScale: Double
    /// The folder to which the captures of cases that did not pass are written, as pcapng files; `nil` to write no
    /// captures.
    public var captures: String?
    /// Whether scripts may start programs (`process`). No scenario of the conformance suite starts a program. If
    /// `true`, child processes of this process that no other code waits for are reaped.
    public var allowsProcesses: Bool

    /// Creates settings. By default, no captures are written and no programs are started.
    public init(timeScale: Double = 1, captures: String? = nil, allowsProcesses: Bool = false) {
        self.timeScale = timeScale
        self.captures = captures
        self.allowsProcesses = allowsProcesses
    }
}

extension ScenarioSettings {
    /// Returns the engine's configuration for these settings.
    ///
    /// - Throws: an error if the folder for captures can't be created.
    fileprivate func configuration() async throws(SystemError) -> RunConfiguration {
        var configuration = RunConfiguration(ports: SharedCapture.ports, version: "library")
        (configuration.capture, configuration.captureProblem) = await SharedCapture.get()
        if let captures {
            configuration.keep = .failed
            configuration.outputFolder = captures
            configuration.openedFolder = try Folder(making: captures)
        }
        configuration.timeScale = timeScale
        configuration.allowsProcesses = allowsProcesses
        // Run errors are discarded, because they may be reported after the outcome has been returned.
        configuration.reportRunError = { _ in }
        configuration.receivesLateReports = true
        return configuration
    }
}

extension ScenarioCase {
    /// Runs the case against a transport in this process, with real sockets on loopback. The packets are captured if
    /// capturing is permitted (root, or `cap_net_raw`). Without a capture, cases that need it are `inconclusive`.
    ///
    /// Cases may be run concurrently, for example by parallel tests: at most four cases per processor run at the same
    /// time, and the others wait. If the task is cancelled, its case ends. After a case that passed, the call waits 50
    /// ms for late reports from the transport. A report about a connection that has already stopped fails the case.
    public func run(
        on factory: any TransportFactory, settings: ScenarioSettings = ScenarioSettings()
    ) async -> ScenarioOutcome {
        let configuration: RunConfiguration
        do throws(SystemError) {
            configuration = try await settings.configuration()
        } catch {
            return ScenarioOutcome(
                self, error: "can't create the folder \(settings.captures ?? "") for captures: \(error.reason)")
        }
        guard let reactor = await ReactorPool.shared.take() else {
            return ScenarioOutcome(self, error: "there are no descriptors or threads left for another reactor")
        }
        var job = job
        job.subject = InProcessSource(factory, names: SubjectNames())
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        let result = await withTaskCancellationHandler {
            // The case runs in a separate task, because cancelling the caller must end the case rather than cancel its
            // steps.
            let task = Task(executorPreference: reactor) { await run.run() }
            return await task.value
        } onCancel: {
            Task { await run.interrupt() }
        }
        let lateReports = await run.lateReports
        // Another case may use the reactor while this case waits for late reports.
        ReactorPool.shared.give(back: reactor)
        guard let lateReports else { return ScenarioOutcome(self, result) }
        // `try?` is sufficient, because `sleep` throws only if the task is cancelled, and a cancelled task need not
        // wait.
        try? await Task.sleep(for: LateReportCollector.silence)
        return ScenarioOutcome(self, lateReports.settle(result))
    }
}
