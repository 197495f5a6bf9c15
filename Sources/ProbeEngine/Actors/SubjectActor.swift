import ProbeBase
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// A connection of the subject, or its listener: what it was told and what it said.
final class SubjectActor {
    let name: String
    /// The number by which the driver knows it.
    let number: Int
    let target: Target?
    let configuration: SubjectOptions
    let isListener: Bool

    /// `T start` was taken.
    var wasStarted = false
    /// When it was connected: when it said so, or when it was accepted.
    var startedAt: MonotonicTime?
    var hasStarted: Bool { startedAt != nil }
    /// Each `start` that it was told, for the look at the wire.
    var starts: [SubjectStart] = []
    /// It said so; a connection that it accepted has started without a word.
    var reportedStarted = false
    /// `T stop` was given.
    var isStopping = false
    var stopped: (reason: StopReason, detail: String?, time: MonotonicTime)?
    /// The `stopped` has been expected, or needed no `expect`.
    var stopIsTaken = false
    /// What it delivered and nobody has taken.
    var pending: [(event: SubjectReport.Event, time: MonotonicTime)] = []
    /// Connections that it accepted and no step has taken.
    var accepted: [(number: Int, time: MonotonicTime)] = []
    /// The code that the last op answered, until a step expects it.
    var refusal: (code: String, step: SourceSpan)?
    /// Bytes that it said it handed to the kernel, and that it was told to send (framed).
    var reportedSent = 0
    var lastSentReport: MonotonicTime?
    var toldToSend = 0
    var sentExpected = 0
    /// The listening subject that accepted it, and how many it had accepted before.
    var acceptedBy: String?
    var acceptIndex = 0
    /// When it said so (wall clock, in nanoseconds).
    var acceptedAt: UInt64?
    var acceptCount = 0
    /// Where it listens.
    var port: UInt16?

    init(name: String, number: Int, target: Target?, configuration: SubjectOptions, isListener: Bool) {
        self.name = name
        self.number = number
        self.target = target
        self.configuration = configuration
        self.isListener = isListener
    }
}
