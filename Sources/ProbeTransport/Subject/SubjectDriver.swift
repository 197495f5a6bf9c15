package import ProbeBase
package import ProbeSystem

/// A transport under test, in this process or served by an adapter. The engine passes operations to the driver, and the
/// driver passes reports to the engine.
package protocol SubjectDriver: AnyObject, Sendable {
    /// Executes one operation, in the order of the calls. The reply may arrive on any thread.
    ///
    /// - Parameter connection: a number that the engine chose, unique among the driver's connections.
    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    )

    /// The capabilities that the subject declares.
    var capabilities: Set<TransportCapability> { get }
    /// The framings that the subject declares. If `nil`, the subject declares no framings and refuses unknown framings
    /// with `unsupported`.
    var framings: Set<TransportFraming>? { get }

    /// Returns the reason why an operation was not answered in time; `nil` if only the transport itself can be the
    /// cause.
    func silence() -> SubjectFailure?

    /// Whether the time of a report is the time of the event rather than the time at which the report was read.
    var reportsAreExact: Bool { get }

    /// The time for which reports may still arrive after the last `stopped`.
    var drainInterval: Duration { get }

    /// The subject's program and every process that it has started; `nil` if the subject has no separate program, or
    /// the program has ended.
    var processes: ProcessTree? { get }

    /// The case that the subject's process served before the current case; `nil` if the current case is the process's
    /// first one, or if the subject has no separate process.
    var servedBefore: String? { get }

    /// Records which case the subject is serving.
    func serve(_ id: String)

    /// Calls back when the subject's program has ended after ``close(isReusable:late:)``. If the subject has no
    /// separate program, calls back at once.
    func whenEnded(_ call: @escaping @Sendable () -> Void)

    /// Ends the subject. Afterwards, none of the subject's code runs, and nothing is reported.
    ///
    /// - Parameters:
    ///   - isReusable: whether the case ended cleanly and the program may serve another case.
    ///   - late: the receiver of reports about connections that have already stopped, if reports take time to arrive
    ///     (``drainInterval``).
    func close(isReusable: Bool, late: (any LateReportHandler)?)
}

extension SubjectDriver {
    package var processes: ProcessTree? { nil }

    package var servedBefore: String? { nil }

    package func serve(_ id: String) {}

    package func whenEnded(_ call: @escaping @Sendable () -> Void) { call() }
}

/// Receives reports that a subject makes after a case has ended, about a connection of that case that had already
/// reported `stopped`.
package protocol LateReportHandler: AnyObject, Sendable {
    /// Handles a report. May be called on any thread.
    func handleLateReport(_ report: SubjectReport)
}

/// Creates a driver for each case.
package protocol SubjectSource: Sendable {
    /// The name from the command line (`bsd`), or the name that the program sent. The name does not change after
    /// ``introduce(_:)``.
    var name: String { get }

    /// Determines the name, and calls back once, on any thread, when the name is known or can no longer be determined.
    func introduce(_ done: @escaping @Sendable () -> Void)

    /// The words of the command line that select this subject.
    var option: [String] { get }

    /// Makes a driver for one case.
    ///
    /// - Parameters:
    ///   - isFresh: whether the driver needs a process that has not served another case.
    ///   - place: the network in which the subject must run; `nil` for the run's network. In any other network, the
    ///     subject's process is always fresh.
    ///   - handler: the receiver of the reports, called on any thread, in order for each connection.
    ///   - ready: called once, on any thread, when the driver can be used or could not be made.
    func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void)

    /// The failure after which the subject gets no more cases, because its program ended too often during startup;
    /// `nil` otherwise.
    var givenUp: SubjectFailure? { get }

    /// Ends the processes that are kept between cases.
    func shutDown() async
}

extension SubjectSource {
    package var givenUp: SubjectFailure? { nil }
}

package enum SubjectReply: Sendable, Equatable {
    /// The operation was accepted; the reply to `listen` contains the port.
    case done(port: UInt16?)
    /// The operation was refused, with a code such as `not-started` or `already-started`.
    case refused(code: String)
    /// The subject's program does not work properly; the failure gives the reason.
    case broken(SubjectFailure)
}

/// A report from a subject, and the time of the report.
package struct SubjectReport: Sendable {
    package enum Event: Sendable, Equatable {
        case started
        /// TLS was established; `protocol` is the negotiated application protocol (ALPN).
        case secured(TLSVersion, protocol: [UInt8]?)
        case accepted(connection: Int)
        case line([UInt8])
        /// - Parameter kind: the kind of message with the framing `websocket`; `nil` if the subject did not report the
        ///   kind.
        case message([UInt8], kind: WebSocketMessageKind? = nil)
        case ping([UInt8])
        case pong([UInt8])
        case data([UInt8])
        case leftover([UInt8])
        case sent(Int)
        case halfClosed
        case discarded
        case full
        case drained
        /// - Parameter dropped: the number of bytes that the subject was asked to send and never will send.
        case lost(StopReason, dropped: Int, detail: String?)
        case attemptFailed(StopReason, detail: String?)
        case stopped(StopReason, detail: String?)
        /// A line that the subject's program wrote to stderr; it concerns no particular connection.
        case output([UInt8])
        /// The subject's program does not work properly, which affects all its connections.
        case broken(SubjectFailure)
    }

    package var connection: Int
    package var event: Event
    package var time: MonotonicTime

    package init(connection: Int, event: Event, time: MonotonicTime) {
        self.connection = connection
        self.event = event
        self.time = time
    }
}

/// A failure of a subject's program (not of the transport that it serves).
package struct SubjectFailure: Error, Sendable, Equatable {
    /// A description of the failure in one line.
    package var summary: String
    /// Further sentences, one per line, escaped: the program's message, its exit status, and its last lines on stderr.
    package var details: [String]
    /// Whether the subject merely lacks something that the case needs.
    package var isUnsupported: Bool
    /// The machine error that the subject encountered; `nil` for any other failure.
    package var machine: MachineError?
    private var pids: [Int32]?

    package init(_ summary: String, details: [String] = [], isUnsupported: Bool = false) {
        self.summary = summary
        self.details = details
        self.isUnsupported = isUnsupported
    }

    /// Creates the failure for a machine error. Such an error is not evidence against the program that encountered it.
    ///
    /// - Parameter subject: the program that encountered the error, as a noun phrase.
    /// - Parameter pids: the processes of the subject; `nil` for this process.
    init(_ subject: String, met fault: MachineError, detail: String?, pids: [Int32]?) {
        self.init(
            "\(subject) encountered a machine error: \(fault.rawValue), \(fault.reason)",
            details: detail.map { [Escaped.text($0.utf8)] } ?? [])
        machine = fault
        self.pids = pids
    }

    /// The remaining amounts of the resources that a program can exhaust; empty if there is no machine error. The
    /// amounts are computed only on request, because counting takes time.
    package var resourcesLeft: [String] {
        if machine == nil { return [] }
        return pids.map(ResourcesLeft.of) ?? ResourcesLeft.here()
    }

    /// The summary and the details in one line. A detail that ends in a colon introduces the next detail.
    package var line: String {
        details.reduce(summary) { text, detail in
            text + (text.hasSuffix(":") ? " " : "; ") + detail.drop { $0 == " " }
        }
    }
}
