import NIOCore
import NIOPosix
public import ProbeTransport

/// Makes transports of SwiftNIO with the framing of NIOExtras.
///
/// Framings: `crlf` and `lf` (`LineBasedFrameDecoder`, for which a line feed ends a line, with or without a carriage return before it),
/// `u8`, `u16`, `u32`, `u64` (`LengthFieldBasedFrameDecoder`) and `none`; the others are `unsupported`, as NIOExtras has none.
public struct NIOTransportFactory: TransportFactory {
    /// Without a state: the event loops are NIO's own.
    public init() {}

    /// `nio`.
    public var name: String { "nio" }

    /// No `max-line`: `LineBasedFrameDecoder` has no limit, and that of `ByteToMessageHandler` is one of the buffer.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .lines, .data, .messages, .halfClose, .stop, .stopReading, .resumeReading, .sent,
            .leftover, .connectTimeout, .idleTimeout,
        ]
    }

    /// - Throws: `unsupported` for a framing that NIOExtras does not have.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        let framing = try NIOFraming(configuration.framing)
        let life = TransportLife(isStarted: false)
        let session = NIOLoopBoundBox.makeBoxSendingValue(
            NIOSession(
                life: life, framing: framing, idleTimeout: configuration.idleTimeout.map(TimeAmount.init(clamping:)),
                handler: handler),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        return NIOTransport(life: life, configuration: configuration, framing: framing, session: session)
    }

    /// Waits for the address to be bound, for which an event loop of NIO's can't be the caller: that is an error.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        try NIOTransportListener(
            configuration, framing: try NIOFraming(configuration.framing), handler: handler, accepted: accepted)
    }
}
