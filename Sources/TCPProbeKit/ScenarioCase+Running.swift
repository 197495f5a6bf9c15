import ProbeEngine
import ProbeEvents
import ProbeSystem

/// How cases are run.
public struct ScenarioSettings: Sendable {
    /// Multiplies the scripts' deadlines and the timeouts that the transport is given, for slow machines. Lower bounds
    /// and the timing of faults do not change.
    public var timeScale: Double
    /// The folder for the captures of cases that did not pass, as pcapng files; nil to write none.
    public var captures: String?
    /// Whether scripts may start programs (`process`). No scenario of the conformance suite does. If they may, children
    /// of this process that nobody else waits for are collected.
    public var allowsProcesses: Bool

    /// The defaults: no captures are written, no programs are started.
    public init(timeScale: Double = 1, captures: String? = nil, allowsProcesses: Bool = false) {
        self.timeScale = timeScale
        self.captures = captures
        self.allowsProcesses = allowsProcesses
    }
}

extension ScenarioSettings {
    /// - Throws: why the folder for captures can't be created.
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
        // There is no receiver for a report that arrives after the outcome.
        configuration.reportRunError = { _ in }
        configuration.hearsLateReports = true
        return configuration
    }
}

extension ScenarioCase {
    /// Runs the case against a transport of this process: with real sockets on loopback, and a capture of them if
    /// capturing is permitted (root, or `cap_net_raw`). Without a capture, cases that need one are `inconclusive`.
    ///
    /// Cases may be run concurrently, as tests do: four for each processor run at the same time, the others wait. If the task is cancelled, its case ends. After a case that passed, reports of the transport are
    /// awaited for 50 ms: a report after its stop fails the case.
    public func run(
        on factory: any TransportFactory, settings: ScenarioSettings = ScenarioSettings()
    ) async -> ScenarioOutcome {
        let configuration: RunConfiguration
        do throws(SystemError) {
            configuration = try await settings.configuration()
        } catch {
            return ScenarioOutcome(
                self, error: "the folder \(settings.captures ?? "") for captures can't be made: \(error.reason)")
        }
        guard let reactor = await ReactorPool.shared.take() else {
            return ScenarioOutcome(self, error: "there are no descriptors or threads left for another reactor")
        }
        var job = job
        job.subject = InProcessSource(factory, names: SubjectNames())
        let run = CaseRun(job, configuration: configuration, reactor: reactor)
        let result = await withTaskCancellationHandler {
            // In a task of its own, because cancelling the caller must end the case, not cancel its steps.
            let task = Task(executorPreference: reactor) { await run.run() }
            return await task.value
        } onCancel: {
            Task { await run.interrupt() }
        }
        let aftermath = await run.aftermath
        // Another case may use the reactor while this case waits for late reports.
        ReactorPool.shared.give(back: reactor)
        guard let aftermath else { return ScenarioOutcome(self, result) }
        // `try?`: a cancelled task does not wait.
        try? await Task.sleep(for: Aftermath.silence)
        return ScenarioOutcome(self, aftermath.settle(result))
    }
}
