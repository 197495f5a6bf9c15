import ProbeEngine
import ProbeEvents
import ProbeSystem

/// How cases are run.
public struct ScenarioSettings: Sendable {
    /// Multiplies the scripts' deadlines and the timeouts that the transport is told, for slow machines; lower bounds and the timing of faults stay.
    public var timeScale: Double
    /// Where the captures of cases that did not pass are written, as pcapng files; nil: nowhere.
    public var captures: String?
    /// Whether scripts may start programs (`process`). The conformance suite has none that does. Where they may, children of
    /// this process that nobody else waits for are collected.
    public var allowsProcesses: Bool

    /// As a run without options: no captures kept, no programs started.
    public init(timeScale: Double = 1, captures: String? = nil, allowsProcesses: Bool = false) {
        self.timeScale = timeScale
        self.captures = captures
        self.allowsProcesses = allowsProcesses
    }
}

extension ScenarioSettings {
    /// - Throws: why the folder for captures can't be made.
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
        // Nobody can be told of a report that comes after the outcome.
        configuration.reportRunError = { _ in }
        configuration.hearsLateReports = true
        return configuration
    }
}

extension ScenarioCase {
    /// Runs the case against a transport of this process: real sockets on loopback, and a capture of them where capturing is
    /// permitted (root, or `cap_net_raw`); where it is not, cases that need one are `inconclusive`.
    ///
    /// Cases may run at the same time, as tests do; so many as the machine has processors run at once, the others wait. A
    /// cancelled task ends its case. A transport is listened to for 50 ms after a case that it has passed: what it reports behind its
    /// stop fails the case.
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
            // A task of its own: the case's steps run where the reactor is, and are not cancelled but ended.
            let task = Task(executorPreference: reactor) { await run.run() }
            return await task.value
        } onCancel: {
            Task { await run.interrupt() }
        }
        let aftermath = await run.aftermath
        // Another case may run while this one's transport is listened to.
        ReactorPool.shared.give(back: reactor)
        guard let aftermath else { return ScenarioOutcome(self, result) }
        // `try?`: a task that is cancelled does not wait.
        try? await Task.sleep(for: Aftermath.silence)
        return ScenarioOutcome(self, aftermath.settle(result))
    }
}
