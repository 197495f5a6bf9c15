/// A capability of a transport under test. The raw values are the words that can follow `require subject` in a script
/// and `can` in the adapter protocol.
public enum TransportCapability: String, Sendable, CaseIterable {
    case connect, listen, send
    /// The transport accepts messages for sending before it is connected.
    case sendEarly = "send-early"
    case lines, data, messages
    /// The transport can change its framing in the middle of a stream.
    case framing
    case halfClose = "half-close"
    /// The transport can stay open after the peer's FIN, and reports the FIN.
    case halfClosed = "half-closed"
    case stop, reset
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case sent, leftover, reads, tls
    case startTLS = "start-tls"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxLine = "max-line"
    /// The transport can discard a message that is longer than `max-line`, report the message as discarded, and
    /// continue with the next one.
    case discarded
    /// The transport reports when its queue of unsent data exceeds a limit, and when the queue no longer exceeds the
    /// limit.
    case highWater = "high-water"
    /// The transport can bind its local end to an address (`local`) or to a network interface (`interface`), and can
    /// try the addresses of one family first (`prefer`).
    case local, interface, prefer
    /// The transport can connect to Unix sockets and listen on them.
    case unix
    /// The transport implements WebSocket: the opening handshake, text and binary messages, pings and closes.
    case webSocket = "websocket"
    /// If the transport implements WebSocket, it reports the pings and pongs that it receives from the peer.
    case pings
    /// The transport can send a heartbeat when it is not sending anything else, and can stop when it receives nothing
    /// from the peer.
    case heartbeat
    /// The transport can reconnect after its connection is lost, and reports the new connection.
    case reconnect
    /// The transport can parse and serialize messages according to the schema given by `with protobuf`.
    case protobuf
    /// Even if no read is pending, the transport detects that the peer has ended the stream or reset the connection.
    case watches
    /// The transport itself, not its adapter, appends terminators and lengths to the data that it sends.
    case frames

    /// The capabilities that a transport has unless it declares, with the adapter protocol's `lacks`, that it lacks
    /// them.
    public static let assumed: Set<TransportCapability> = [.watches, .frames, .pings]
}

/// An operation, without arguments, on a subject. The raw values are the words that can follow `op` in the adapter
/// protocol.
///
/// The language, the engine and the adapter protocol pass the operation on without interpreting it; only a transport
/// defines its effect.
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

    /// Whether the operation ends the connection, regardless of the connection's state. The step for such an operation
    /// does not wait until the connection is established.
    package var ends: Bool {
        switch self {
        case .reset: true
        case .halfClose, .stopReading, .resumeReading: false
        }
    }

    /// Whether the operation makes the transport send a segment. The timeline marks that segment.
    package var sends: Bool {
        switch self {
        case .halfClose, .reset: true
        case .stopReading, .resumeReading: false
        }
    }
}
