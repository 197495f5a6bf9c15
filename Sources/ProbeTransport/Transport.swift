public import ProbeBase

/// A transport under test: one connection with the life cycle of Apple's TCPTransport sample.
///
///     initialised ── start() ──▶ starting ──▶ started ──▶ stopped (with a reason)
///
/// Guarantees of a conforming type:
/// - `stopped` is reported exactly once for each transport that was started, and nothing after it.
/// - `stop()` is allowed in any state. Before `start()` it only makes a later `start()` an error; after `stopped` it
///   does nothing.
/// - Starting twice, and sending before `start()` or after the stop, throw a ``TransportError``, and never trap.
/// - Methods return at once. Their results are reported to the ``TransportHandler``, on any thread, one event at a
///   time.
public protocol Transport: AnyObject, Sendable {
    /// Begins to connect. `started` or `stopped` reports the result.
    func start() throws(TransportError)

    /// Queues one message; the transport frames it. Messages are written in the order of the calls. Before `started`
    /// the message waits.
    ///
    /// - Throws: `notStarted`, `stopped`, or `invalid` if the message contains its own terminator.
    func send(_ message: [UInt8]) throws(TransportError)

    /// As ``send(_:)``, with the framing `websocket`, where ``send(_:)`` sends a text message.
    ///
    /// - Throws: also `invalid` for a text that is no UTF-8.
    func send(_ message: [UInt8], as kind: WebSocketMessageKind) throws(TransportError)

    /// With the framing `websocket`: sends a ping with this payload, behind what was sent.
    ///
    /// - Throws: also `invalid` for more than 125 bytes (RFC 6455, 5.5).
    func sendPing(_ payload: [UInt8]) throws(TransportError)

    /// With the framing `websocket`: sends a close behind what was sent. Reading continues until the peer's close, which
    /// is reported by `stopped(.closed)`, or until it is waited for no more: `stopped(.timeout)`.
    ///
    /// - Parameters:
    ///   - code: nil: the close has no payload.
    ///   - reason: UTF-8.
    /// - Throws: also `invalid` for a code that may not be sent (RFC 6455, 7.4), and for a reason of more than 123 bytes or
    ///   without a code.
    func sendClose(code: UInt16?, reason: [UInt8]) throws(TransportError)

    /// Writes what was sent, then sends FIN. Reading continues.
    func halfClose() throws(TransportError)

    /// Stops reading. At most one read (64 KiB) that has already happened is still delivered.
    func stopReading() throws(TransportError)

    /// Ends ``stopReading()``.
    func resumeReading() throws(TransportError)

    /// Changes the framing, of messages that are sent and delivered from now on. Received bytes that were no complete
    /// message by then are divided by the new one.
    func setFraming(_ framing: TransportFraming) throws(TransportError)

    /// Begins TLS, as a client, on a connection that is open and has none: STARTTLS. `secured` or `stopped` reports the
    /// result; nothing is delivered before, and what was sent before is written in the clear.
    ///
    /// Received bytes that were not delivered by then came in the clear: they are discarded, or the connection stops with
    /// `tlsFailed`. They are never delivered.
    func startTLS(_ tls: TransportTLS) throws(TransportError)

    /// Writes what was sent, then sends FIN. Delivers nothing more except `stopped(.stopped)`. While connecting,
    /// aborts.
    func stop() throws(TransportError)

    /// Ends the connection with an RST and reports `stopped(.stopped)`, without writing what was sent and is still
    /// queued. While connecting, aborts. Cuts a ``stop()`` short that waits for its writing; does nothing after
    /// `stopped`.
    ///
    /// - Throws: `notStarted`.
    func reset() throws(TransportError)

    /// Requests one read of a transport with capability `reads`. The event `data` or `stopped(.timeout)` answers it.
    func read(_ request: TransportRead, timeout: Duration?) throws(TransportError)
}

extension Transport {
    /// Throws `unsupported`, for a transport without the capability `websocket`.
    public func send(_ message: [UInt8], as kind: WebSocketMessageKind) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without the capability `websocket`.
    public func sendPing(_ payload: [UInt8]) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without the capability `websocket`.
    public func sendClose(code: UInt16?, reason: [UInt8]) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
    public func halfClose() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
    public func stopReading() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
    public func resumeReading() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
    public func setFraming(_ framing: TransportFraming) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
    public func reset() throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without the capability `start-tls`.
    public func startTLS(_ tls: TransportTLS) throws(TransportError) { throw .unsupported }
    /// Throws `unsupported`, for a transport without this capability.
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

/// The three kinds of read of AsyncSocket.
public enum TransportRead: Sendable, Equatable {
    case length(Int)
    case until([UInt8])
    case any
}

/// Receives a transport's events. Called on any thread, never concurrently for one transport.
public typealias TransportHandler = @Sendable (TransportEvent) -> Void

/// The reports of a transport. The comments name the callbacks of Apple's sample.
public enum TransportEvent: Sendable, Equatable {
    /// Connected (didStart).
    case started
    /// The handshake of TLS is done and the peer's certificate is verified: right before `started` where the connection
    /// begins with TLS, otherwise behind ``Transport/startTLS(_:)``. With the protocol that was agreed on (ALPN).
    case secured(TLSVersion, protocol: [UInt8]?)
    /// A line without its terminator (didReceive).
    case line([UInt8])
    /// A message of a framing without lines.
    case message([UInt8])
    /// A message of the framing `websocket`, joined from its fragments.
    case webSocketMessage(WebSocketMessageKind, [UInt8])
    /// A ping of the peer, which the transport answers itself, and a pong. Not of one that lacks the capability `pings`.
    case ping([UInt8])
    /// The peer's answer to a ping, or a pong that nobody asked for.
    case pong([UInt8])
    /// Bytes as they arrived: with framing `none`, or the answer to a read.
    case data([UInt8])
    /// Received bytes that are no complete message. Required before `stopped(.eof)`, optional otherwise.
    case leftover([UInt8])
    /// The number of bytes passed to the kernel since the last `sent`.
    case sent(Int)
    /// The peer's FIN, of a connection that stays open for writing (``TransportConfiguration/allowsHalfClose``).
    /// ``leftover(_:)`` comes before it. Once our side has ended too, `stopped(.eof)` follows.
    case halfClosed
    /// A message that was longer than `maxLine`, of a connection that goes on behind it
    /// (``TransportConfiguration/discardsTooLong``): once for each, behind the messages before it and ahead of those
    /// behind it. Its bytes are not delivered, and are no ``leftover(_:)``.
    case discarded
    /// The kernel takes no more, and at least ``TransportConfiguration/highWater`` bytes wait to be written.
    case full
    /// Follows ``full``, when fewer wait.
    case drained
    /// Reported exactly once, as the last event (didStop).
    case stopped(StopReason, detail: String?)
    /// A connection that was `started` has ended, and another one will be made (``TransportConfiguration/reconnect``):
    /// `started`, `attemptFailed` or `stopped` follows. Of what was sent this many bytes were not passed to the kernel, and will not
    /// be; whatever else no `sent` has told is sent by the next connection.
    case lost(StopReason, dropped: Int, detail: String?)
    /// No connection came about, the first one or a later one; another attempt follows.
    case attemptFailed(StopReason, detail: String?)
    /// A new connection of a listener.
    case accepted(any Transport)

    /// Two ends are equal if their reasons are; details are not compared.
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

/// Why an operation was refused.
public enum TransportError: Error, Sendable, Hashable {
    case unsupported
    case notStarted
    case alreadyStarted
    case stopped
    case invalid
    case other(String)

    /// The word for it in the adapter protocol: `not-started`.
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
    /// A numeric address or a name.
    public var host: String
    /// For listening, 0 means any free port.
    public var port: UInt16
    /// A Unix socket to connect to or to listen on instead of the host and the port; nil for TCP. Needs the capability `unix`.
    public var path: String?
    /// What a message is.
    public var framing: TransportFraming
    /// The longest content of a line, without its terminator: this many bytes are delivered, one more is `too-long`.
    public var maxLine: Int
    /// From `start()` to `started`; nil for the system's limit. Needs the capability `connect-timeout`.
    public var connectTimeout: Duration?
    /// Without traffic, from `started` on. Needs the capability `idle-timeout`.
    public var idleTimeout: Duration?

    /// Whether the connection stays open behind the peer's FIN, which is reported as `halfClosed` then, until our side
    /// ends it. Otherwise it stops with `eof`. Needs the capability `half-closed`.
    public var allowsHalfClose: Bool
    /// Whether a message that is longer than ``maxLine`` is discarded and reported as `discarded`, and the connection
    /// goes on; otherwise it stops with `tooLong`. Needs the capability `discarded`.
    public var discardsTooLong = false
    /// How many bytes may wait to be written before `full` is reported; nil where neither `full` nor `drained` is.
    /// Needs the capability `high-water`.
    public var highWater: Int?
    /// A numeric address to bind the connection's own end to; nil for any. Needs the capability `local`, and is not set
    /// for listening.
    public var localHost: String?
    /// The port of that end; 0 for any.
    public var localPort: UInt16 = 0
    /// The name of the network interface to use; nil for any. Needs the capability `interface`.
    public var interface: String?
    /// The family whose addresses are tried first where the host is a name. Needs the capability `prefer`.
    public var preference: AddressPreference?

    /// The connection begins with TLS; `started` comes behind its handshake, which ``connectTimeout`` includes. Needs the
    /// capability `tls`, and is not set for listening.
    public var tls: TransportTLS?

    /// What a client asks for in the opening handshake of the framing `websocket`.
    public var requestPath = "/"

    /// Each message is a `Sample`, in the schema of the adapter protocol's page: what comes is parsed, and delivered as it is serialised
    /// again, and so is what is sent. Needs the capability `protobuf`.
    public var parsesProtobuf = false

    /// How it keeps the connection alive, and notices that the peer has vanished; nil: it does neither. Needs the capability
    /// `heartbeat`.
    public var heartbeat: TransportHeartbeat?

    /// How it makes another connection where one is lost; nil: it stops. Needs the capability `reconnect`, and is not set
    /// for listening.
    public var reconnect: TransportReconnect?

    /// Whether ``Transport/read(_:timeout:)`` will be called. For a transport that can deliver by itself as well.
    public var reads = false

    /// A configuration with the defaults of the language: `crlf`, 1024, no timeouts.
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

/// How a stream is divided into messages, in the words of the language.
public typealias TransportFraming = Framing

/// Creates transports of one kind.
public protocol TransportFactory: Sendable {
    /// The name on the command line: `bsd`.
    var name: String { get }
    var capabilities: Set<TransportCapability> { get }
    /// Those of ``TransportCapability/assumed`` that its transports do not have; by default none.
    var lacks: Set<TransportCapability> { get }
    /// The framings that it has; nil: not told, and ``makeTransport(_:handler:)`` refuses the others.
    var framings: Set<TransportFraming>? { get }

    /// A transport in the state initialised.
    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport

    /// Listens on the configuration's address and port (0 for any free one). Its framing, limit and idle timeout apply
    /// to each connection.
    ///
    /// - Parameters:
    ///   - handler: receives `accepted` for each connection, and the listener's own `stopped`.
    ///   - accepted: returns the handler of the connection with this number, counted from 1. Called directly before
    ///     `accepted` is reported. The first event of that handler is `started`.
    /// - Throws: `unsupported` without the capability `listen`; `other` with the system's message if it can't listen on
    ///   the address.
    func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener
}

/// A listening socket whose connections are transports.
///
/// Guarantees of a conforming type: it listens from its creation on. Each connection is reported as `accepted` before
/// any event of that connection. `stopped` is reported once, and nothing after it. A listener that its owner releases
/// closes and reports nothing. Connections are independent of the listener, and each closes when its owner releases it.
public protocol TransportListener: AnyObject, Sendable {
    /// The port that it is bound to; 0 of a Unix socket.
    var port: UInt16 { get }

    /// Stops listening and reports `stopped(.stopped)`; accepted connections continue. A second call does nothing.
    func stop()
}

extension TransportFactory {
    /// None.
    public var lacks: Set<TransportCapability> { [] }

    /// Not told.
    public var framings: Set<TransportFraming>? { nil }

    /// Everything that a case may ask of its transports.
    var offers: Set<TransportCapability> {
        capabilities.union(TransportCapability.assumed).subtracting(lacks)
    }

    /// Throws `unsupported`, for a factory without the capability `listen`.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        throw .unsupported
    }
}
