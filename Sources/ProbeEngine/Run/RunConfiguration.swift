package import ProbeBase
package import ProbeCapture
package import ProbeEvents
import ProbeNetwork
package import ProbeSystem
package import ProbeTransport

/// How a run is done: resolved from the command line's arguments in one place, from the library's settings in another. What differs from
/// case to case is a ``RunJob``.
package struct RunConfiguration: Sendable {
    /// Which captures are kept.
    package enum Keep: String, Sendable, CaseIterable { case all, failed, none }

    // MARK: What cases are given

    package var capture: Capture?
    /// Why there is no capture.
    package var captureProblem: String?
    /// Why the run has no network namespace of its own, in which it could capture.
    package var isolationObstacle: String?
    package var ports: PortAllocator
    package var keep = Keep.none
    /// Whether captures hold the secrets of their TLS connections.
    package var keepsSecrets = true
    /// Whether a case that passed has its timeline too: reports that draw it need it.
    package var keepsTimelines = false
    /// Where captures go.
    package var outputFolder = ""
    /// That folder, where it has been opened; nil: it is made and opened for each case.
    package var openedFolder: Folder?
    /// The addresses that scripts may use.
    package var allowedTargets = AllowedTargets()
    /// Multiplies deadlines, never lower bounds or the timing of faults.
    package var timeScale = 1.0
    /// Added to each seed of the scripts.
    package var seed = 0
    /// Whether scripts may start programs.
    package var allowsProcesses = true
    /// The words that start a worker of a crowd: the path of `tcpprobe-crowd`. nil: there is no such program, and no crowd.
    package var crowdProgram: [String]?
    /// This run's part of the members of crowds; nil: all of them.
    package var crowdShare: CrowdShare?
    /// The tool's, for captures.
    package var version: String
    /// Whether a subject of this process is heard for a moment after its case, as a program is: one that is not built in.
    package var hearsLateReports = false
    /// Hears what a subject does wrong when the case's result has been told; nil: nobody does. Set by ``Runner``.
    package var reportRunError: (@Sendable (String) -> Void)?
    /// Whether what the wire has to show of cuts and of windows that shut is judged at the end of a case.
    package var provesFaults = true
    /// Hears what the connections of the harness send and take, from the threads of the cases; nil: nobody does.
    package var observe: (@Sendable (StepObservation) -> Void)?
    /// The command that runs one case again.
    package var rerun: @Sendable (RunJob) -> String = { _ in "" }

    /// The run's authority for TLS.
    let tls = RunTLS()
    /// The links of its cases.
    let links = LinkPool()

    // MARK: How cases are put in order

    /// Of all jobs; they are ended with the run.
    package var subjects: [any SubjectSource] = []
    /// Cases at a time.
    package var parallel = 1
    /// How many times all cases are run.
    package var repetitions = 1
    /// No case begins after one that failed or erred.
    package var stopsAtFailure = false
    /// What is made of the results.
    package var rules = RunRules()

    package init(ports: PortAllocator, version: String, crowdProgram: [String]? = nil) {
        self.ports = ports
        self.version = version
        self.crowdProgram = crowdProgram
    }
}

/// What a step of a connection of the harness did with the stream: the bytes that it sent, or how many it took.
package struct StepObservation: Sendable {
    package enum Event: Sendable {
        /// The pieces of a `send`, before TLS; of a proxy's `forward` all that went on by it, as one piece.
        case sent([[UInt8]])
        /// The plaintext of a `send` on a connection that speaks TLS, and how many bytes it became on the wire.
        case sealed([UInt8], length: Int)
        /// An `expect` was met and took so many bytes.
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
