package import ProbeBase

/// A transport under test as the engine drives it: operations in, reports out, whether it lives in this process or behind an
/// adapter.
package protocol SubjectDriver: AnyObject, Sendable {
    /// Does one operation; they are done in the order of the calls. The reply comes from any thread.
    ///
    /// - Parameter connection: a number that the engine chose, never used twice with one driver.
    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    )

    /// What it can do.
    var capabilities: Set<TransportCapability> { get }

    /// Why an op was not answered in time; nil where nothing but the transport itself can be the reason.
    func silence() -> SubjectFailure?

    /// Whether a report's time is that of the event itself, and not of when the harness read of it.
    var reportsAreExact: Bool { get }

    /// How long after its last `stopped` what it says is still on its way.
    var drainInterval: Duration { get }

    /// Ends it: nothing of it runs afterwards, and nothing is reported.
    ///
    /// - Parameters:
    ///   - isReusable: the case ended well, so that the program may serve another one.
    ///   - late: hears what is said after all of connections that had stopped, where reports take their time (``drainInterval``).
    func close(isReusable: Bool, late: (any LateListener)?)
}

/// Hears what a subject says of a connection of a case that has ended, behind that connection's `stopped`.
package protocol LateListener: AnyObject, Sendable {
    /// From any thread.
    func heard(_ report: SubjectReport)
}

/// Makes a driver for each case.
package protocol SubjectSource: Sendable {
    /// As the command line says it, `bsd`, or as its program introduced itself. It stays the same after ``introduce(_:)``.
    var name: String { get }

    /// Learns its name, and calls back once, from any thread, when it is known or never will be.
    func introduce(_ done: @escaping @Sendable () -> Void)

    /// The words of the command line that choose it.
    var option: [String] { get }

    /// A driver for one case.
    ///
    /// - Parameters:
    ///   - handler: gets its reports, from any thread, in order for each connection.
    ///   - ready: called once, from any thread, when it can be used or never will.
    func makeDriver(
        handler: @escaping @Sendable (SubjectReport) -> Void,
        ready: @escaping @Sendable (Result<any SubjectDriver, SubjectFailure>) -> Void)

    /// Ends what is kept from one case to the next.
    func shutDown() async
}

/// The operations of the adapter protocol.
package enum SubjectOperation: Sendable {
    case connect(TransportConfiguration)
    case listen(TransportConfiguration)
    case send([UInt8])
    case halfClose
    case stopReading
    case resumeReading
    case read(TransportRead, timeout: Duration?)
    case stop
}

package enum SubjectReply: Sendable, Equatable {
    /// Taken; a `listen` says on which port.
    case done(port: UInt16?)
    /// Not taken: `not-started`, `already-started`, …
    case refused(code: String)
    /// The subject's program does not do its part: what is wrong.
    case broken(SubjectFailure)
}

/// Something that a subject reported, with the time at which it did.
package struct SubjectReport: Sendable {
    package enum Event: Sendable, Equatable {
        case started
        case accepted(connection: Int)
        case line([UInt8])
        case message([UInt8])
        case data([UInt8])
        case leftover([UInt8])
        case sent(Int)
        case stopped(StopReason, detail: String?)
        /// A line that its program wrote to stderr; about no connection.
        case output([UInt8])
        /// The subject's program does not do its part; about all its connections.
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

/// What is wrong with the program of a subject (not with the transport that it tests).
package struct SubjectFailure: Error, Sendable, Equatable {
    /// One line.
    package var summary: String
    /// Facts, a line each, safe to print: what it said, its exit, its last words on stderr.
    package var details: [String]

    package init(_ summary: String, details: [String] = []) {
        self.summary = summary
        self.details = details
    }
}
