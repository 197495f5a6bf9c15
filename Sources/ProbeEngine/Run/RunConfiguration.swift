package import ProbeBase
package import ProbeCapture
package import ProbeEvents
import ProbeLink
package import ProbeSystem
package import ProbeTransport

/// The configuration of a run, resolved in one place from the command line's arguments and in another from the
/// library's settings. What differs from case to case is a ``RunJob``.
package struct RunConfiguration: Sendable {
    /// Which captures are kept.
    package enum Keep: String, Sendable, CaseIterable { case all, failed, none }

    // MARK: What cases are given

    package var capture: Capture?
    /// Why there is no capture.
    package var captureProblem: String?
    /// Why the run has no private network namespace in which it could capture.
    package var isolationObstacle: String?
    package var ports: PortAllocator
    package var keep = Keep.none
    /// Whether captures hold the secrets of their TLS connections.
    package var keepsSecrets = true
    /// Whether a case that passed has a timeline too, for reports that draw it.
    package var keepsTimelines = false
    /// The folder for captures.
    package var outputFolder = ""
    /// The output folder, if it has been opened; `nil` if it is made and opened for each case.
    package var openedFolder: Folder?
    /// The addresses that scripts may use.
    package var allowedTargets = AllowedTargets()
    /// Multiplies deadlines, never lower bounds or the timing of faults.
    package var timeScale = 1.0
    /// The number that is added to each seed of the scripts.
    package var seed = 0
    /// Whether scripts may start programs.
    package var allowsProcesses = true
    /// The words of the command that starts a worker of a crowd: the path of `tcpprobe-crowd`; `nil` if there is no such
    /// program, and therefore no crowd.
    package var crowdProgram: [String]?
    /// This run's share of the members of crowds; `nil` for all of them.
    package var crowdShare: CrowdShare?
    /// The tool's version, for captures.
    package var version: String
    /// Whether a subject in this process that is not built in is listened to for a moment after its case, as a program
    /// is.
    package var receivesLateReports = false
    /// Receives what a subject does wrong after the case's result has been emitted; `nil` to ignore it. Set by
    /// ``Runner``.
    package var reportRunError: (@Sendable (String) -> Void)?
    /// Whether the end of a case judges what the wire must show of cuts and of windows that shut.
    package var provesFaults = true
    /// Receives what the harness's connections send and take, from the threads of the cases; `nil` to ignore it.
    package var observe: (@Sendable (StepObservation) -> Void)?
    /// The command that runs one case again.
    package var rerun: @Sendable (RunJob) -> String = { _ in "" }

    /// The run's TLS library and certificate authority.
    let tls = RunTLS()
    /// The links of the run's cases.
    let links = LinkPool()

    // MARK: How cases are ordered

    /// The subjects of all jobs, which are shut down at the end of the run.
    package var subjects: [any SubjectSource] = []
    /// The number of cases that run at the same time.
    package var parallel = 1
    /// The number of times that all cases are run.
    package var repetitions = 1
    /// Whether no further case begins after one that failed or ended in an error.
    package var stopsAtFailure = false
    /// The rules for judging the results.
    package var rules = RunRules()

    package init(ports: PortAllocator, version: String, crowdProgram: [String]? = nil) {
        self.ports = ports
        self.version = version
        self.crowdProgram = crowdProgram
    }
}

/// What a step did with the stream of a harness connection: the bytes that it sent, or the number of bytes that it
/// took.
package struct StepObservation: Sendable {
    package enum Event: Sendable {
        /// The pieces of a `send`, before TLS; for a proxy's `forward`, all bytes that it forwarded, as one piece.
        case sent([[UInt8]])
        /// The plaintext of a `send` on a connection with TLS, and the number of bytes that it became on the wire.
        case sealed([UInt8], length: Int)
        /// An `expect` was met and took this number of bytes.
        case took(Int)
    }

    /// The number of the step in its scenario.
    package var step: Int
    /// The connection that acted.
    package var actor: String
    package var event: Event

    package init(step: Int, actor: String, event: Event) {
        self.step = step
        self.actor = actor
        self.event = event
    }
}
