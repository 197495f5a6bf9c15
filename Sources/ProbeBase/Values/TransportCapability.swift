/// What a transport under test can do, in the words of `require subject …` and of the adapter protocol's `can`.
public enum TransportCapability: String, Sendable, CaseIterable {
    case connect, listen, send
    /// To be told to send before it is connected.
    case sendEarly = "send-early"
    case lines, data, messages
    /// To change its framing in mid-stream.
    case framing
    case halfClose = "half-close"
    /// To stay open behind the peer's FIN, and to report it.
    case halfClosed = "half-closed"
    case stop, reset
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case sent, leftover, reads, tls
    case startTLS = "start-tls"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxLine = "max-line"
    /// To discard a message that is longer than `max-line`, to report that, and to go on behind it.
    case discarded
    /// To report when too much of what was sent waits to be written, and when it waits no longer.
    case highWater = "high-water"
    /// To bind its own end to an address; to a network interface; to try the addresses of one family first.
    case local, interface, prefer
    /// To connect to Unix sockets, and to listen on them.
    case unix
    /// To speak WebSocket: the opening handshake, text and binary messages, pings and closes.
    case webSocket = "websocket"
    /// Where it speaks WebSocket: it reports the peer's pings and pongs.
    case pings
    /// To send a heartbeat where it sends nothing else, and to stop when nothing comes from the peer.
    case heartbeat
    /// To make another connection where one is lost, and to report that.
    case reconnect
    /// To parse messages by the schema of `with protobuf`, and to serialise them.
    case protobuf
    /// It notices that the peer has ended or reset the stream while no read is asked of it.
    case watches
    /// The transport itself, and not its adapter, appends terminators and lengths to what it sends.
    case frames

    /// What a transport is taken to do unless it says that it does not: the adapter protocol's `lacks`.
    public static let assumed: Set<TransportCapability> = [.watches, .frames, .pings]
}

/// An operation on a subject that has no arguments; its word is the adapter protocol's `op`.
///
/// The language, the engine and the adapter protocol pass it on without looking at it. Only a transport knows what it does.
package enum PlainOperation: String, Sendable, CaseIterable {
    case halfClose = "half-close"
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case reset

    /// What a transport needs to do it.
    package var capability: TransportCapability {
        switch self {
        case .halfClose: .halfClose
        case .stopReading: .stopReading
        case .resumeReading: .resumeReading
        case .reset: .reset
        }
    }

    /// Whether it ends the connection, in any state of it: then nobody waits for the connection first.
    package var ends: Bool {
        switch self {
        case .reset: true
        case .halfClose, .stopReading, .resumeReading: false
        }
    }

    /// Whether it makes the transport send a segment, which is then marked in the timeline.
    package var sends: Bool {
        switch self {
        case .halfClose, .reset: true
        case .stopReading, .resumeReading: false
        }
    }
}
