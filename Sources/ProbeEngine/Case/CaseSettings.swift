package import ProbeCapture
package import ProbeSystem
package import ProbeTransport

/// What a case is given by its run.
package struct CaseSettings: Sendable {
    /// Which captures are kept.
    package enum Keep: String, Sendable, CaseIterable { case all, failed, none }

    /// Path below the root, with the label.
    package var id: String
    /// As the user gave it.
    package var path: String
    /// Of the script, absolute: `${dir}`, and what `file()` is relative to.
    package var folder: String
    package var subject: (any SubjectSource)?
    package var capture: Capture?
    /// Why there is no capture.
    package var captureProblem: String?
    package var ports: PortAllocator
    /// Where captures go.
    package var outputFolder: String
    /// That folder, where the run has opened it; nil: it is made and opened for the case.
    package var openedFolder: Folder?
    package var keep: Keep
    package var rerun: String
    /// Hosts that are no loopback addresses and may be connected to, `HOST` or `HOST:PORT`.
    package var allowedTargets: [String]
    /// Multiplies deadlines, never lower bounds or the timing of faults.
    package var timeScale: Double
    /// Whether scripts may start programs.
    package var allowsProcesses: Bool
    package var version: String
    /// Its capture is named after the subject too.
    package var isOneOfSeveralSubjects = false
    /// Which repetition of the run this is, from 1.
    package var round = 1
    /// Hears what a subject does wrong when the case's result has been told; nil: nobody does.
    package var trouble: (@Sendable (String) -> Void)?
    /// Whether a subject of this process is heard for a moment after its case, as a program is: one that is not built in.
    package var hearsLateReports = false
    /// Added to each seed of the script.
    package var seed = 0

    package init(
        id: String, path: String, folder: String, subject: (any SubjectSource)?, capture: Capture?,
        captureProblem: String?, ports: PortAllocator, outputFolder: String, keep: Keep, rerun: String,
        allowedTargets: [String] = [], timeScale: Double = 1, allowsProcesses: Bool = true, version: String
    ) {
        self.id = id
        self.path = path
        self.folder = folder
        self.subject = subject
        self.capture = capture
        self.captureProblem = captureProblem
        self.ports = ports
        self.outputFolder = outputFolder
        self.keep = keep
        self.rerun = rerun
        self.allowedTargets = allowedTargets
        self.timeScale = timeScale
        self.allowsProcesses = allowsProcesses
        self.version = version
    }
}
