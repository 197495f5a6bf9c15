package import ProbeSockets

/// A transport under test as the engine drives it: operations in, reports out, whether it lives in this process or behind an
/// adapter.
package protocol SubjectDriver: AnyObject, Sendable {
    /// Does one operation; they are done in the order of the calls. The reply comes from any thread.
    ///
    /// - Parameter connection: a number that the engine chose, never used twice with one driver.
    func perform(
        _ operation: SubjectOperation, on connection: Int, reply: @escaping @Sendable (SubjectReply) -> Void
    )

    /// Ends it: nothing of it runs afterwards, and nothing is reported.
    func close()
}

/// Makes a driver for each case.
package protocol SubjectSource: Sendable {
    /// As the command line says it: `bsd`.
    var name: String { get }

    /// What it can do.
    var capabilities: Set<TransportCapability> { get }

    /// A driver for one case; its reports go to `handler`, from any thread, in order for each connection.
    func makeDriver(handler: @escaping @Sendable (SubjectReport) -> Void) -> any SubjectDriver
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
    case broken(String)
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
        /// The subject's program does not do its part; about all its connections.
        case broken(String)
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
