package import ProbeBase
package import ProbeSystem

/// A transport under test as the engine uses it, in this process or behind an adapter: operations go in, reports come
/// out.
package protocol SubjectDriver: AnyObject, Sendable {
    /// Executes one operation, in the order of the calls. The reply may come on any thread.
    ///
    /// - Parameter connection: a number that the engine chose; each is used once with a driver.
    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    )

    /// The capabilities that it declares.
    var capabilities: Set<TransportCapability> { get }
    /// The framings that it declares; nil if it declares none, and answers `unsupported` to one that it lacks.
    var framings: Set<TransportFraming>? { get }

    /// Why an operation was not answered in time; nil if only the transport itself can be the reason.
    func silence() -> SubjectFailure?

    /// Whether the time of a report is that of the event, and not that of reading the report.
    var reportsAreExact: Bool { get }

    /// How long after its last `stopped` reports may still be on their way.
    var drainInterval: Duration { get }

    /// Its program and all that it has started; nil if it has no program of its own, or the program has ended.
    var processes: ProcessTree? { get }

    /// The case that its process served before this one; nil if this is its first one, or it has no process of its own.
    var servedBefore: String? { get }

    /// The case that it serves.
    func serve(_ id: String)

    /// Calls back when its program has ended, after ``close(isReusable:late:)``; at once where it has none of its own.
    func whenEnded(_ call: @escaping @Sendable () -> Void)

    /// Ends the subject. Afterwards none of its code runs, and nothing is reported.
    ///
    /// - Parameters:
    ///   - isReusable: the case ended well, so the program may serve another one.
    ///   - late: receives reports of connections after their stop, if reports take time to arrive (``drainInterval``).
    func close(isReusable: Bool, late: (any LateListener)?)
}

extension SubjectDriver {
    package var processes: ProcessTree? { nil }

    package var servedBefore: String? { nil }

    package func serve(_ id: String) {}

    package func whenEnded(_ call: @escaping @Sendable () -> Void) { call() }
}

/// Receives the reports of a subject about a connection of an ended case, after that connection's `stopped`.
package protocol LateListener: AnyObject, Sendable {
    /// May be called on any thread.
    func heard(_ report: SubjectReport)
}

/// Creates a driver for each case.
package protocol SubjectSource: Sendable {
    /// The name from the command line (`bsd`), or the one that the program sent. It does not change after
    /// ``introduce(_:)``.
    var name: String { get }

    /// Finds out the name, and calls back once, on any thread, when the name is known or never will be.
    func introduce(_ done: @escaping @Sendable () -> Void)

    /// The words of the command line that select it.
    var option: [String] { get }

    /// A driver for one case.
    ///
    /// - Parameters:
    ///   - isFresh: its process has served no other case.
    ///   - place: the network that it is to be in; nil: that of the run. It is fresh in another one.
    ///   - handler: receives the reports, on any thread, in order for each connection.
    ///   - ready: called once, on any thread, when the driver can be used or never will be.
    func makeDriver(
        isFresh: Bool, in place: ProgramPlace?, handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void)

    /// Why no case is given to it any more: its program ended at its start too often.
    var givenUp: SubjectFailure? { get }

    /// Ends what is kept between cases.
    func shutDown() async
}

extension SubjectSource {
    package var givenUp: SubjectFailure? { nil }
}

package enum SubjectReply: Sendable, Equatable {
    /// Accepted; a `listen` reports its port.
    case done(port: UInt16?)
    /// Refused: `not-started`, `already-started`, …
    case refused(code: String)
    /// The subject's program does not work as it must; the failure says why.
    case broken(SubjectFailure)
}

/// A report of a subject, with its time.
package struct SubjectReport: Sendable {
    package enum Event: Sendable, Equatable {
        case started
        /// With the protocol that was agreed on (ALPN).
        case secured(TLSVersion, protocol: [UInt8]?)
        case accepted(connection: Int)
        case line([UInt8])
        /// - Parameter kind: with the framing `websocket`; nil where it did not say it.
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
        /// - Parameter dropped: bytes that it was told to send, and never will.
        case lost(StopReason, dropped: Int, detail: String?)
        case attemptFailed(StopReason, detail: String?)
        case stopped(StopReason, detail: String?)
        /// A line that its program wrote to stderr; about no connection.
        case output([UInt8])
        /// The subject's program does not work as it must; about all its connections.
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

/// What is wrong with the program of a subject (not with the transport that it serves).
package struct SubjectFailure: Error, Sendable, Equatable {
    /// What is wrong, in one line.
    package var summary: String
    /// Further sentences, a line each, escaped: its message, its exit status, its last lines on stderr.
    package var details: [String]
    /// It can't do what the case needs, and nothing else is wrong.
    package var isUnsupported: Bool
    /// The trouble of the machine that it met; nil: it is something else.
    package var machine: MachineError?
    private var pids: [Int32]?

    package init(_ summary: String, details: [String] = [], isUnsupported: Bool = false) {
        self.summary = summary
        self.details = details
        self.isUnsupported = isUnsupported
    }

    /// What was met is trouble of the machine, which says nothing about who met it.
    ///
    /// - Parameter subject: who met it, as a noun.
    /// - Parameter pids: the processes of the subject; nil: this one.
    init(_ subject: String, met fault: MachineError, detail: String?, pids: [Int32]?) {
        self.init(
            "\(subject) met trouble of the machine: \(fault.rawValue), \(fault.reason)",
            details: detail.map { [Escaped.text($0.utf8)] } ?? [])
        machine = fault
        self.pids = pids
    }

    /// What the machine has left of what it was out of. It is counted when it is asked for, as that takes time.
    package var resourcesLeft: [String] {
        if machine == nil { return [] }
        return pids.map(ResourcesLeft.of) ?? ResourcesLeft.here()
    }

    /// All of it in one line; what a detail that ends in a colon announces follows it.
    package var line: String {
        details.reduce(summary) { text, detail in
            text + (text.hasSuffix(":") ? " " : "; ") + detail.drop { $0 == " " }
        }
    }
}
