/// What a transport under test can do, in the words of `require subject …` and of the adapter protocol's `can`.
public enum TransportCapability: String, Sendable, CaseIterable {
    case connect, listen, send
    /// It accepts messages to send before it is connected.
    case sendEarly = "send-early"
    case lines, data, messages
    /// It can change its framing in mid-stream.
    case framing
    case halfClose = "half-close"
    /// It can stay open after the peer's FIN, and report it.
    case halfClosed = "half-closed"
    case stop, reset
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case sent, leftover, reads, tls
    case startTLS = "start-tls"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxLine = "max-line"
    /// It can discard a message that is longer than `max-line`, report that, and continue after it.
    case discarded
    /// It can report when too much of what was sent is queued, and when it no longer is.
    case highWater = "high-water"
    /// It can bind its local end to an address; bind it to a network interface; try the addresses of one family first.
    case local, interface, prefer
    /// It can connect to Unix sockets, and listen on them.
    case unix
    /// It speaks WebSocket: the opening handshake, text and binary messages, pings and closes.
    case webSocket = "websocket"
    /// It reports the peer's pings and pongs if it speaks WebSocket.
    case pings
    /// It can send a heartbeat if it sends nothing else, and stop if nothing is received from the peer.
    case heartbeat
    /// It can reconnect when its connection is lost, and report that.
    case reconnect
    /// It can parse messages by the schema of `with protobuf`, and serialise them.
    case protobuf
    /// It notices that the peer has ended or reset the stream even while no read is requested.
    case watches
    /// The transport itself, and not its adapter, appends terminators and lengths to what it sends.
    case frames

    /// The capabilities that a transport has unless it declares that it lacks them: the adapter protocol's `lacks`.
    public static let assumed: Set<TransportCapability> = [.watches, .frames, .pings]
}

/// An operation on a subject that has no arguments; its word is the adapter protocol's `op`.
///
/// The language, the engine and the adapter protocol pass it on without interpreting it. Only a transport knows what it
/// does.
package enum PlainOperation: String, Sendable, CaseIterable {
    case halfClose = "half-close"
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case reset

    /// The capability that a transport needs for the operation.
    package var capability: TransportCapability {
        switch self {
        case .halfClose: .halfClose
        case .stopReading: .stopReading
        case .resumeReading: .resumeReading
        case .reset: .reset
        }
    }

    /// Whether the operation ends the connection, in any state of it, so that the step does not wait for the connection
    /// first.
    package var ends: Bool {
        switch self {
        case .reset: true
        case .halfClose, .stopReading, .resumeReading: false
        }
    }

    /// Whether the operation makes the transport send a segment, which is then marked in the timeline.
    package var sends: Bool {
        switch self {
        case .halfClose, .reset: true
        case .stopReading, .resumeReading: false
        }
    }
}
