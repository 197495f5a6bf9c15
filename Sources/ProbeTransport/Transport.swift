public import ProbeBase

/// A transport under test: one connection with the life cycle of Apple's TCPTransport sample.
///
///     initialized ── start() ──▶ starting ──▶ started ──▶ stopped (with a reason)
///
/// Guarantees of a conforming type:
/// - For each transport that was started, `stopped` is reported exactly once, as the last event.
/// - `stop()` is allowed in any state. Before `start()`, it makes a later `start()` throw; after `stopped`, it does
///   nothing.
/// - Starting twice, sending before `start()`, and sending after `stop()` or `stopped` throw a ``TransportError``; they
///   never trap.
/// - Methods return at once. Their results are reported to the ``TransportHandler``, on any thread, one event at a
///   time.
public protocol Transport: AnyObject, Sendable {
    /// Starts connecting. `started` or `stopped` reports the result.
    func start() throws(TransportError)

    /// Queues one message, which the transport frames. Messages are written in the order of the calls, and not before
    /// `started`.
    ///
    /// - Throws: `notStarted`, `stopped`, or `invalid` if the message contains its own terminator.
    func send(_ message: [UInt8]) throws(TransportError)

    /// Queues a text or binary message on a connection with the framing `websocket`. ``send(_:)`` sends a text message.
    ///
    /// - Throws: the same errors as ``send(_:)``, and `invalid` for a text message that is not valid UTF-8.
    func send(_ message: [UInt8], as kind: WebSocketMessageKind) throws(TransportError)

    /// Sends a WebSocket ping with the given payload after the queued messages.
    ///
    /// - Throws: the same errors as ``send(_:)``, and `invalid` for a payload of more than 125 bytes (RFC 6455, section
    ///   5.5).
    func sendPing(_ payload: [UInt8]) throws(TransportError)

    /// Sends a WebSocket close frame after the queued messages. Reading continues until the peer's close frame arrives,
    /// which is reported by `stopped(.closed)`, or until the wait for that frame times out, which is reported by
    /// `stopped(.timeout)`.
    ///
    /// - Parameters:
    ///   - code: the close code; `nil` for a close without a payload.
    ///   - reason: the reason, in UTF-8.
    /// - Throws: the same errors as ``send(_:)``, and `invalid` for a code that must not be sent (RFC 6455, section
    ///   7.4), for a reason of more than 123 bytes, and for a reason without a code.
    func sendClose(code: UInt16?, reason: [UInt8]) throws(TransportError)

    /// Writes the queued messages, then sends a FIN. Reading continues.
    func halfClose() throws(TransportError)

    /// Stops reading. Bytes that have already been read (at most one read of 64 KiB) may still be delivered.
    func stopReading() throws(TransportError)

    /// Resumes reading after ``stopReading()``.
    func resumeReading() throws(TransportError)

    /// Changes the framing of messages that are sent and delivered from now on. Bytes that have been received but do
    /// not yet form a complete message are divided according to the new framing.
    func setFraming(_ framing: TransportFraming) throws(TransportError)

    /// Starts TLS, as a client, on an open connection that does not use TLS yet (STARTTLS). `secured` or `stopped`
    /// reports the result. Nothing is delivered before the result. Messages that were queued before this call are
    /// written in the clear.
    ///
    /// Bytes that arrived in the clear and have not been delivered before this call are never delivered: they are
    /// discarded, or the connection stops with `tlsFailed`.
    func startTLS(_ tls: TransportTLS) throws(TransportError)

    /// Writes the queued messages, then sends a FIN. Nothing more is delivered except `stopped(.stopped)`. A connection
    /// attempt in progress is aborted.
    func stop() throws(TransportError)

    /// Ends the connection with an RST and reports `stopped(.stopped)`, without writing the messages that are still
    /// queued. A connection attempt in progress is aborted, and a ``stop()`` that is still writing is interrupted. Does
    /// nothing after `stopped`.
    ///
    /// - Throws: `notStarted` before ``start()``.
    func reset() throws(TransportError)

    /// Requests one read from a transport with the capability `reads`. The result is reported by `data` or
    /// `stopped(.timeout)`.
    func read(_ request: TransportRead, timeout: Duration?) throws(TransportError)
}

extension Transport {
    /// Throws `unsupported`; the default for transports without the capability `websocket`.
    public func send(_ message: [UInt8], as kind: WebSocketMessageKind) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `websocket`.
    public func sendPing(_ payload: [UInt8]) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `websocket`.
    public func sendClose(code: UInt16?, reason: [UInt8]) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `half-close`.
    public func halfClose() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `stop-reading`.
    public func stopReading() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `resume-reading`.
    public func resumeReading() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `framing`.
    public func setFraming(_ framing: TransportFraming) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `reset`.
    public func reset() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `start-tls`.
    public func startTLS(_ tls: TransportTLS) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`; the default for transports without the capability `reads`.
    public func read(_ request: TransportRead, timeout: Duration?) throws(TransportError) { throw .unsupported }

    package func perform(_ operation: PlainOperation) throws(TransportError) {
        switch operation {
        case .halfClose: try halfClose()
        case .stopReading: try stopReading()
        case .resumeReading: try resumeReading()
        case .reset: try reset()
        }
    }
}

/// The kinds of read that a transport with the capability `reads` performs, as in AsyncSocket.
public enum TransportRead: Sendable, Equatable {
    case length(Int)
    case until([UInt8])
    case any
}

/// Receives a transport's events. Called on any thread, never concurrently for one transport.
public typealias TransportHandler = @Sendable (TransportEvent) -> Void

/// The events that a transport reports. The names in parentheses are the callbacks of Apple's TCPTransport sample.
public enum TransportEvent: Sendable, Equatable {
    /// The connection is established (didStart).
    case started
    /// The TLS handshake is complete and the peer's certificate has been verified. `protocol` is the protocol that was
    /// negotiated (ALPN). Reported immediately before `started` if the connection begins with TLS, otherwise after
    /// ``Transport/startTLS(_:)``.
    case secured(TLSVersion, protocol: [UInt8]?)
    /// A line without its terminator (didReceive).
    case line([UInt8])
    /// A complete message, with a framing that is not line-based.
    case message([UInt8])
    /// A WebSocket message, reassembled from its fragments.
    case webSocketMessage(WebSocketMessageKind, [UInt8])
    /// A ping from the peer, which the transport answers automatically. Not reported by a transport that lacks the
    /// capability `pings`.
    case ping([UInt8])
    /// A pong from the peer, whether it answers a ping or is unsolicited.
    case pong([UInt8])
    /// Bytes as they arrived, with the framing `none`, or the result of ``Transport/read(_:timeout:)``.
    case data([UInt8])
    /// The bytes received after the last complete message. Must be reported before `stopped(.eof)`; may be reported
    /// before `stopped` with any other reason.
    case leftover([UInt8])
    /// The number of bytes passed to the kernel since the previous `sent` event.
    case sent(Int)
    /// The peer's FIN was received on a connection that stays open for writing
    /// (``TransportConfiguration/allowsHalfClose``). Any ``leftover(_:)`` is reported before this event. When this side
    /// has also closed its direction, `stopped(.eof)` follows.
    case halfClosed
    /// A message longer than `maxLine` was discarded, and the connection continues
    /// (``TransportConfiguration/discardsTooLong``). Reported once for each discarded message, in order with the other
    /// messages. The discarded bytes are neither delivered nor reported by ``leftover(_:)``.
    case discarded
    /// The kernel accepts no more bytes, and at least ``TransportConfiguration/highWater`` bytes are queued.
    case full
    /// Fewer bytes are queued than when ``full`` was reported; the transport chooses the threshold.
    case drained
    /// The transport has stopped. Reported exactly once, as the last event (didStop).
    case stopped(StopReason, detail: String?)
    /// A connection that was `started` has ended, and the transport will reconnect
    /// (``TransportConfiguration/reconnect``): `started`, `attemptFailed` or `stopped` follows. `dropped` is the number
    /// of queued bytes that were not and never will be passed to the kernel. All other bytes that no `sent` has
    /// reported are sent on the next connection.
    case lost(StopReason, dropped: Int, detail: String?)
    /// A connection attempt failed, whether the first or a later one. Another attempt follows.
    case attemptFailed(StopReason, detail: String?)
    /// A listener accepted a new connection.
    case accepted(any Transport)

    /// Returns whether two events are equal. The `detail` texts are not compared.
    public static func == (left: TransportEvent, right: TransportEvent) -> Bool {
        switch (left, right) {
        case (.started, .started), (.halfClosed, .halfClosed), (.discarded, .discarded), (.full, .full),
            (.drained, .drained):
            true
        case (.line(let a), .line(let b)), (.message(let a), .message(let b)), (.data(let a), .data(let b)),
            (.leftover(let a), .leftover(let b)), (.ping(let a), .ping(let b)), (.pong(let a), .pong(let b)):
            a == b
        case (.webSocketMessage(let x, let a), .webSocketMessage(let y, let b)): x == y && a == b
        case (.sent(let a), .sent(let b)): a == b
        case (.secured(let a, let x), .secured(let b, let y)): a == b && x == y
        case (.stopped(let a, _), .stopped(let b, _)), (.attemptFailed(let a, _), .attemptFailed(let b, _)): a == b
        case (.lost(let a, let x, _), .lost(let b, let y, _)): a == b && x == y
        case (.accepted(let a), .accepted(let b)): a === b
        default: false
        }
    }
}

/// The reason why a transport refused an operation.
public enum TransportError: Error, Sendable, Hashable {
    case unsupported
    case notStarted
    case alreadyStarted
    case stopped
    case invalid
    case other(String)

    /// The word for the error in the adapter protocol, such as `not-started`.
    public var code: String {
        switch self {
        case .unsupported: "unsupported"
        case .notStarted: "not-started"
        case .alreadyStarted: "already-started"
        case .stopped: "stopped"
        case .invalid: "invalid"
        case .other(let code): code
        }
    }
}

/// The configuration of a transport.
public struct TransportConfiguration: Sendable {
    /// The host to connect to or to listen on: a numeric address or a name.
    public var host: String
    /// The port. For listening, 0 means any free port.
    public var port: UInt16
    /// The path of a Unix socket to connect to or to listen on instead of the host and the port; `nil` for TCP. Needs
    /// the capability `unix`.
    public var path: String?
    /// The framing, which defines what a message is.
    public var framing: TransportFraming
    /// The maximum length of a line, in bytes, without its terminator. A longer line either is discarded or stops the
    /// connection with `too-long`.
    public var maxLine: Int
    /// The maximum time from `start()` to `started`; `nil` for the system's limit. Needs the capability
    /// `connect-timeout`.
    public var connectTimeout: Duration?
    /// The time after which the connection stops if there is no traffic, counted from `started` on; `nil` for no limit.
    /// Needs the capability `idle-timeout`.
    public var idleTimeout: Duration?

    /// Whether the connection stays open after the peer's FIN until this side ends it. If so, the FIN is reported as
    /// `halfClosed`. Otherwise, the connection stops with `eof`. Needs the capability `half-closed`.
    public var allowsHalfClose: Bool
    /// Whether a message longer than ``maxLine`` is discarded and reported as `discarded`. Otherwise, such a message
    /// stops the connection with `tooLong`. Needs the capability `discarded`.
    public var discardsTooLong = false
    /// The number of bytes that may be queued before `full` is reported; `nil` if neither `full` nor `drained` is
    /// reported. Needs the capability `high-water`.
    public var highWater: Int?
    /// A numeric address to which the connection's local end is bound; `nil` for any. Needs the capability `local`;
    /// always `nil` for a listener.
    public var localHost: String?
    /// The port of the connection's local end; 0 for any.
    public var localPort: UInt16 = 0
    /// The name of the network interface to use; `nil` for any. Needs the capability `interface`.
    public var interface: String?
    /// The address family that is tried first if the host is a name. Needs the capability `prefer`.
    public var preference: AddressPreference?

    /// The TLS settings of a connection that begins with TLS; `nil` for any other connection. `started` is reported
    /// after the handshake, which must complete within ``connectTimeout``. Needs the capability `tls`; always `nil` for
    /// a listener.
    public var tls: TransportTLS?

    /// The path that a client requests in the WebSocket opening handshake.
    public var requestPath = "/"

    /// Whether each message is a `Sample`, whose Protocol Buffers schema is in the adapter protocol's documentation.
    /// Messages are parsed and serialized again before they are delivered or sent. Needs the capability `protobuf`.
    public var parsesProtobuf = false

    /// How the transport keeps the connection alive and notices that the peer has vanished; `nil` if it does neither.
    /// Needs the capability `heartbeat`.
    public var heartbeat: TransportHeartbeat?

    /// How the transport reconnects when its connection is lost; `nil` if the transport stops instead. Needs the
    /// capability `reconnect`; always `nil` for a listener.
    public var reconnect: TransportReconnect?

    /// Whether ``Transport/read(_:timeout:)`` will be called. The value matters only to transports that can also
    /// deliver data without requests.
    public var reads = false

    /// Creates a configuration with the scenario language's defaults: framing `crlf`, lines of at most 1024 bytes, and
    /// no timeouts.
    public init(
        host: String, port: UInt16, framing: TransportFraming = .crlf, maxLine: Int = 1024,
        connectTimeout: Duration? = nil, idleTimeout: Duration? = nil, allowsHalfClose: Bool = false,
        highWater: Int? = nil
    ) {
        self.host = host
        self.port = port
        self.framing = framing
        self.maxLine = maxLine
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.allowsHalfClose = allowsHalfClose
        self.highWater = highWater
    }
}

/// How a stream is divided into messages, as in the scenario language's `framing`.
public typealias TransportFraming = Framing

/// Creates transports of one kind.
public protocol TransportFactory: Sendable {
    /// The name by which the command line selects the transport, such as `bsd`.
    var name: String { get }
    var capabilities: Set<TransportCapability> { get }
    /// The capabilities among ``TransportCapability/assumed`` that the factory's transports lack; none by default.
    var lacks: Set<TransportCapability> { get }
    /// The framings that the factory's transports support. If `nil`, the factory does not declare its framings, and
    /// ``makeTransport(_:handler:)`` refuses unsupported ones.
    var framings: Set<TransportFraming>? { get }

    /// Creates a transport that has not been started.
    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport

    /// Listens on the configuration's address and port. Port 0 means any free port. The configuration's framing, limit
    /// and idle timeout apply to each connection.
    ///
    /// - Parameters:
    ///   - handler: the receiver of `accepted` for each connection, and of the listener's own `stopped`.
    ///   - accepted: returns the handler of the connection with the given number, counted from 1. Called immediately
    ///     before `accepted` is reported. The first event of that handler is `started`.
    /// - Throws: `unsupported` without the capability `listen`; `other` with the system's message if listening on the
    ///   address fails.
    func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener
}

/// A listening socket whose connections are transports.
///
/// Guarantees of a conforming type: a listener listens as soon as it has been created. Each connection is reported as
/// `accepted` before any event of that connection. `stopped` is reported exactly once, as the last event. A listener
/// that is released by its owner closes without reporting anything. Accepted connections are independent of the
/// listener, and each connection closes when its owner releases it.
public protocol TransportListener: AnyObject, Sendable {
    /// The port to which the listener is bound; 0 for a Unix socket.
    var port: UInt16 { get }

    /// Stops listening and reports `stopped(.stopped)`; accepted connections continue. A second call does nothing.
    func stop()
}

extension TransportFactory {
    /// By default, the transports have all of the assumed capabilities.
    public var lacks: Set<TransportCapability> { [] }

    /// By default, the factory does not declare its framings.
    public var framings: Set<TransportFraming>? { nil }

    /// The capabilities that a case may require of the factory's transports.
    var offers: Set<TransportCapability> {
        capabilities.union(TransportCapability.assumed).subtracting(lacks)
    }

    /// Throws `unsupported`; the default for factories without the capability `listen`.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        throw .unsupported
    }
}
