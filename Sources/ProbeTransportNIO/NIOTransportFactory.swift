import NIOCore
import NIOPosix
public import ProbeBase
public import ProbeTransport

/// Creates transports that use SwiftNIO, with the framings of NIOExtras.
///
/// Framings: `crlf` and `lf` (`LineBasedFrameDecoder`, for which a line feed ends a line, with or without a carriage
/// return before it), binary lengths of a fixed width (`LengthFieldBasedFrameDecoder`) and `none`. NIOExtras implements
/// no other framings, so all others are `unsupported`.
///
/// TLS is implemented by NIOSSL.
public struct NIOTransportFactory: TransportFactory {
    /// Creates a factory. It has no state, because NIO manages its own event loops.
    public init() {}

    /// The name of the transport: `nio`.
    public var name: String { "nio" }

    /// The capabilities of NIO with NIOExtras. `max-line` is not among them, because `LineBasedFrameDecoder` does not
    /// limit the length of a line, and the limit of `ByteToMessageHandler` applies to its whole buffer.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .halfClose, .halfClosed, .stop, .reset,
            .stopReading, .resumeReading, .sent, .leftover, .connectTimeout, .idleTimeout,
            .local, .unix, .tls, .startTLS,
        ]
    }

    /// The capability `frames` is lacking: NIOExtras does not frame outgoing lines, so the wrapper appends the
    /// terminator.
    public var lacks: Set<TransportCapability> { [.frames] }

    /// The framings that NIOExtras implements.
    public var framings: Set<TransportFraming>? { NIOFraming.offered }

    /// Creates a transport.
    ///
    /// - Throws: `unsupported` if NIOExtras does not implement the framing.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        let framing = try NIOFraming(configuration.framing)
        let security = try configuration.tls.map { (tls) throws(TransportError) in
            try NIOSecurity(tls, to: configuration.host)
        }
        let lifecycle = TransportLifecycle(isStarted: false)
        let session = NIOLoopBoundBox.makeBoxSendingValue(
            NIOSession(
                lifecycle: lifecycle, framing: framing, security: security,
                idleTimeout: configuration.idleTimeout.map(TimeAmount.init(clamping:)),
                allowsHalfClose: configuration.allowsHalfClose, handler: handler),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        return NIOTransport(lifecycle: lifecycle, configuration: configuration, framing: framing, session: session)
    }

    /// Creates a listener, and waits until the address is bound. Because the call blocks, calling it on an event loop
    /// of NIO is an error.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        let framing = try NIOFraming(configuration.framing)
        return try NIOTransportListener(configuration, handler: handler) { child, number in
            guard let number = number() else { throw ChannelError.ioOnClosedChannel }
            let lifecycle = TransportLifecycle(isStarted: true)
            let session = NIOSession(
                lifecycle: lifecycle, framing: framing, security: nil,
                idleTimeout: configuration.idleTimeout.map(TimeAmount.init(clamping:)),
                allowsHalfClose: configuration.allowsHalfClose, handler: accepted(number))
            session.accepted(child)
            try session.addHandlers(to: child)
            let transport = NIOTransport(
                lifecycle: lifecycle, configuration: configuration, framing: framing,
                session: NIOLoopBoundBox(session, eventLoop: child.eventLoop))
            handler(.accepted(transport))
        }
    }
}
