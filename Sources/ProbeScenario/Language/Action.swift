package import ProbeBase

/// What an actor is told to do. Each kind of actor has a type of its own, so that what no executor runs does not compile.
///
/// A server and a client have the actions of a connection too: the server's name is that of the connection which a plain
/// `accept` took.
package enum Action: Sendable {
    case server(ServerAction)
    case client(ClientAction)
    case connection(ConnectionAction)
    case subject(SubjectAction)
    case process(ProcessAction)
}

package enum ServerAction: Sendable {
    case accept(as: Name?)
    case listen
    case stopListening
    case expect(ServerExpectation)
}

package enum ClientAction: Sendable {
    case connect(to: AddressExpression?, ConnectOutcome)

    package enum ConnectOutcome: Sendable { case succeeds, refused, timesOut }
}

package enum ConnectionAction: Sendable {
    case send(SendStatement)
    case expect(ConnectionExpectation)
    case close
    case halfClose
    case reset
    case stopReading
    case resumeReading
    /// `read 1B every 100ms`
    case readSlowly(bytes: Expression, every: Duration)
    case set(SocketOption)
    case ignoreRest
    case framing(Framing)
}

package enum SubjectAction: Sendable {
    case start
    case send(SendStatement)
    case expect(SubjectExpectation)
    case halfClose
    case stopReading
    case resumeReading
    case read(ReadRequest)
    case stop

    /// AsyncSocket's reads; the `within` of the step is the read's own timeout.
    package enum ReadRequest: Sendable {
        case length(Expression)
        case until(Expression)
        case any
    }
}

package enum ProcessAction: Sendable {
    case start
    case send(SendStatement)
    case expect(ProcessExpectation)
    case signal(ProcessSignal)
    case stop
}
