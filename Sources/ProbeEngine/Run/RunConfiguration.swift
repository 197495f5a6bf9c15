package import ProbeBase
package import ProbeCapture
package import ProbeEvents
import ProbeLink
package import ProbeSystem
package import ProbeTransport

/// The configuration of a run. The command line and the library each create the configuration in one place, from their
/// arguments or settings. Values that differ between cases are in ``RunJob``.
package struct RunConfiguration: Sendable {
    /// Specifies the cases for which captures are kept.
    package enum Keep: String, Sendable, CaseIterable { case all, failed, none }

    // MARK: Values for cases

    package var capture: Capture?
    /// The reason why there is no capture.
    package var captureProblem: String?
    /// The reason why the run has no private network namespace in which it could capture packets.
    package var isolationObstacle: String?
    package var ports: PortAllocator
    package var keep = Keep.none
    /// Whether captures contain the secrets of their TLS connections.
    package var keepsSecrets = true
    /// Whether cases that passed also have a timeline, for reports that draw timelines.
    package var keepsTimelines = false
    /// The folder in which captures are written.
    package var outputFolder = ""
    /// The output folder, if it has been opened; if `nil`, the folder is created and opened for each case.
    package var openedFolder: Folder?
    /// The addresses that scripts may use.
    package var allowedTargets = AllowedTargets()
    /// The factor by which deadlines are multiplied. It does not affect lower bounds or the timing of faults.
    package var timeScale = 1.0
    /// The number added to every seed in the scripts.
    package var seed = 0
    /// Whether scripts may start programs.
    package var allowsProcesses = true
    /// The command that starts a worker of a crowd, as a list of words that begins with the path of `tcpprobe-crowd`;
    /// `nil` if this program is not available. Crowds require the program.
    package var crowdProgram: [String]?
    /// This run's share of the members of crowds; `nil` for all members.
    package var crowdShare: CrowdShare?
    /// The version of the tool, which is written into captures.
    package var version: String
    /// Whether reports that arrive after the end of a case are also collected from a subject that runs in this process
    /// and is not built in. From a subject that is a program, such reports are always collected.
    package var receivesLateReports = false
    /// Receives a message about what a subject did wrong after the case's result was emitted; `nil` to ignore such
    /// errors. Set by ``Runner``.
    package var reportRunError: (@Sendable (String) -> Void)?
    /// Whether the harness verifies, at the end of a case, that the cuts and the closed windows that the case requested
    /// are visible on the wire.
    package var provesFaults = true
    /// Receives, for each step on one of the harness's connections, the bytes that the step sends or the number of
    /// bytes that it takes from the stream, and the duration of each step; `nil` if nothing is observed. Called on the
    /// threads of the cases.
    package var observe: (@Sendable (StepObservation) -> Void)?
    /// Returns the command line that runs a single case again.
    package var rerun: @Sendable (RunJob) -> String = { _ in "" }

    /// The run's TLS library and certificate authority.
    let tls = RunTLS()
    /// The pool of links for the run's cases.
    let links = LinkPool()

    // MARK: Order of cases

    /// The subjects of all jobs, which are shut down at the end of the run.
    package var subjects: [any SubjectSource] = []
    /// The maximum number of cases that run in parallel.
    package var parallel = 1
    /// The number of times that all cases are run.
    package var repetitions = 1
    /// Whether the run stops after a case that failed or ended in an error.
    package var stopsAtFailure = false
    /// The rules by which results are judged.
    package var rules = RunRules()

    package init(ports: PortAllocator, version: String, crowdProgram: [String]? = nil) {
        self.ports = ports
        self.version = version
        self.crowdProgram = crowdProgram
    }
}

/// An observation of a step on a harness connection: the bytes that the step sent, or the number of bytes that it took
/// from the stream.
package struct StepObservation: Sendable {
    package enum Event: Sendable {
        /// The bytes of a `send`, before TLS, in pieces. For a proxy's `forward`, a single piece holds all forwarded
        /// bytes.
        case sent([[UInt8]])
        /// The plaintext of a `send` on a connection with TLS, and its length on the wire after encryption.
        case sealed([UInt8], length: Int)
        /// An `expect` was met and took this number of bytes from the stream.
        case took(Int)
        /// A step that is not a block ended successfully. The duration is the time since the previous step ended.
        case ended(after: Duration)
    }

    /// The number of the step in its scenario.
    package var step: Int
    /// The name of the actor whose connection sent or took the bytes; empty for `ended`.
    package var actor: String
    package var event: Event

    package init(step: Int, actor: String, event: Event) {
        self.step = step
        self.actor = actor
        self.event = event
    }
}
