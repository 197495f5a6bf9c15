package import ProbeCapture
package import ProbeEvents
package import ProbeSystem
package import ProbeTransport

/// What all cases of a run share.
package struct RunSettings: Sendable {
    /// Of all jobs; they are ended with the run.
    package var subjects: [any SubjectSource] = []
    package var capture: Capture?
    /// Why there is no capture.
    package var captureProblem: String?
    package var ports: PortAllocator
    package var outputFolder = "tcpprobe-out"
    /// That folder, opened once; nil where no captures are kept.
    package var openedFolder: Folder?
    package var keep = CaseSettings.Keep.all
    package var allowedTargets: [String] = []
    package var timeScale = 1.0
    package var allowsProcesses = true
    package var version: String
    /// Cases at a time.
    package var parallel = 1
    /// How many times all cases are run.
    package var repetitions = 1
    /// No case begins after one that failed or erred.
    package var stopsAtFailure = false
    /// What is made of the results.
    package var rules = RunRules()
    /// Added to each seed of the scripts.
    package var seed = 0
    /// The command that runs one case again.
    package var rerun: @Sendable (RunJob) -> String

    package init(
        ports: PortAllocator, version: String, rerun: @escaping @Sendable (RunJob) -> String
    ) {
        self.ports = ports
        self.version = version
        self.rerun = rerun
    }
}
