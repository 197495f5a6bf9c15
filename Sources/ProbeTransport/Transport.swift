public import ProbeBase

/// A transport under test: one connection's worth of the life cycle that Apple's TCPTransport sample has.
///
///     initialised ── start() ──▶ starting ──▶ started ──▶ stopped (with a reason)
///
/// What a conformer guarantees:
/// - `stopped` is reported exactly once for each transport that was started, and nothing after it;
/// - `stop()` is legal in any state: before `start()` it only makes a later `start()` an error, after `stopped` it does nothing;
/// - starting twice, or sending before `start()` or after the stop, is a ``TransportError``, never a trap;
/// - methods return at once; what comes of them is reported to the ``TransportHandler``, from any thread, one event at a time.
public protocol Transport: AnyObject, Sendable {
    /// Begins to connect. The outcome is reported as `started` or `stopped`.
    func start() throws(TransportError)

    /// Queues one message; the transport frames it. Messages are written in the order of the calls. Before `started` it is queued.
    ///
    /// - Throws: `notStarted`, `stopped`, or `invalid` when the message contains its own terminator.
    func send(_ message: [UInt8]) throws(TransportError)

    /// Writes what was sent, then FIN. Reading goes on.
    func halfClose() throws(TransportError)

    /// Reads no more: at most one read already in hand (64 KiB) is still delivered.
    func stopReading() throws(TransportError)

    /// Ends ``stopReading()``.
    func resumeReading() throws(TransportError)

    /// Writes what was sent, then FIN; delivers nothing more but `stopped(.stopped)`. While connecting: aborts.
    func stop() throws(TransportError)

    /// Asks for one read of a transport with capability `reads`; answered by the event `data` or `stopped(.timeout)`.
    func read(_ request: TransportRead, timeout: Duration?) throws(TransportError)
}

extension Transport {
    /// `unsupported`, for a transport that does not claim it.
    public func halfClose() throws(TransportError) { throw .unsupported }
    /// `unsupported`, for a transport that does not claim it.
    public func stopReading() throws(TransportError) { throw .unsupported }
    /// `unsupported`, for a transport that does not claim it.
    public func resumeReading() throws(TransportError) { throw .unsupported }
    /// `unsupported`, for a transport that does not claim it.
    public func read(_ request: TransportRead, timeout: Duration?) throws(TransportError) { throw .unsupported }
}

/// AsyncSocket's three reads.
public enum TransportRead: Sendable, Equatable {
    case length(Int)
    case until([UInt8])
    case any
}

/// Receives a transport's events. Called from any thread, never concurrently for one transport.
public typealias TransportHandler = @Sendable (TransportEvent) -> Void

/// What a transport reports. The comments name the callbacks of Apple's sample.
public enum TransportEvent: Sendable, Equatable {
    /// Connected (didStart).
    case started
    /// A line without its terminator (didReceive).
    case line([UInt8])
    /// A message of a framing that is not of lines.
    case message([UInt8])
    /// Bytes as they came: framing `none`, or the answer to a read.
    case data([UInt8])
    /// Bytes in hand that were no whole message. Required before `stopped(.eof)`, free otherwise.
    case leftover([UInt8])
    /// Bytes handed to the kernel since the last `sent`.
    case sent(Int)
    /// Exactly once, and nothing after it (didStop).
    case stopped(StopReason, detail: String?)
    /// A listener's new connection: its number among this subject's.
    case accepted(any Transport)

    /// Stops are equal whose reasons are, whatever their details say.
    public static func == (left: TransportEvent, right: TransportEvent) -> Bool {
        switch (left, right) {
        case (.started, .started): true
        case (.line(let a), .line(let b)), (.message(let a), .message(let b)), (.data(let a), .data(let b)),
            (.leftover(let a), .leftover(let b)):
            a == b
        case (.sent(let a), .sent(let b)): a == b
        case (.stopped(let a, _), .stopped(let b, _)): a == b
        case (.accepted(let a), .accepted(let b)): a === b
        default: false
        }
    }
}

/// Why a transport stopped.
public enum StopReason: String, Sendable, CaseIterable {
    case eof, reset, refused, timeout
    case tooLong = "too-long"
    case tlsTruncated = "tls-truncated"
    case tlsFailed = "tls-failed"
    case brokenPipe = "broken-pipe"
    case `protocol`, stopped, other
}

/// Why an operation was not taken.
public enum TransportError: Error, Sendable, Hashable {
    case unsupported
    case notStarted
    case alreadyStarted
    case stopped
    case invalid
    case other(String)

    /// The word of the adapter protocol: `not-started`.
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

/// What a subject can do: the words of the adapter protocol's `can`.
public enum TransportCapability: String, Sendable, CaseIterable {
    case connect, listen, send, lines, data, messages
    case halfClose = "half-close"
    case stop
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case sent, leftover, reads, tls
    case startTLS = "start-tls"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxLine = "max-line"
}

/// What a transport is made with.
public struct TransportConfiguration: Sendable {
    /// A numeric address or a name.
    public var host: String
    /// 0 when listening: any free port.
    public var port: UInt16
    /// What a message is.
    public var framing: TransportFraming
    /// Limit on a line's content, without its terminator: exactly that many bytes are delivered, one more is `too-long`.
    public var maxLine: Int
    /// From `start()` to `started`; nil: as long as the system tries. Needs the capability `connect-timeout`.
    public var connectTimeout: Duration?
    /// Without traffic, from `started` on. Needs the capability `idle-timeout`.
    public var idleTimeout: Duration?

    /// A configuration with the language's defaults: `crlf`, 1024, no timeouts.
    public init(
        host: String, port: UInt16, framing: TransportFraming = .crlf, maxLine: Int = 1024,
        connectTimeout: Duration? = nil, idleTimeout: Duration? = nil
    ) {
        self.host = host
        self.port = port
        self.framing = framing
        self.maxLine = maxLine
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
    }
}

/// How messages are told apart; the words are the language's.
public typealias TransportFraming = Framing

/// Makes transports of one kind.
public protocol TransportFactory: Sendable {
    /// As the command line says it: `bsd`.
    var name: String { get }
    var capabilities: Set<TransportCapability> { get }

    /// A transport in the state initialised.
    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport

    /// Listens on the configuration's address and port (0: any free one). Its framing, limit and idle timeout are those of each connection.
    ///
    /// - Parameters:
    ///   - handler: told `accepted` for each connection, and the listener's own `stopped`.
    ///   - accepted: gives the handler of the connection with that number, counted from 1; called right before `accepted` is reported. That
    ///     handler's first event is `started`.
    /// - Throws: `unsupported` without the capability `listen`; `other` with the system's words when the address can't be had.
    func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener
}

/// A listening socket whose connections are transports.
///
/// What a conformer guarantees: it listens from the moment it is made; each connection is reported as `accepted`, before any of
/// that connection's own events; `stopped` is reported once, and nothing after it. One that nobody holds any more closes
/// without a word. The connections live on their own, and each closes when nobody holds it.
public protocol TransportListener: AnyObject, Sendable {
    /// The port that it is bound to.
    var port: UInt16 { get }

    /// Listens no more, and reports `stopped(.stopped)`; connections that were accepted go on. The second call does nothing.
    func stop()
}

extension TransportFactory {
    /// `unsupported`, for a factory without the capability `listen`.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        throw .unsupported
    }
}
