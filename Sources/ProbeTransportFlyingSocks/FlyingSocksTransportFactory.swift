public import ProbeBase
public import ProbeTransport

/// Creates transports with FlyingFox's FlyingSocks.
public struct FlyingSocksTransportFactory: TransportFactory {
    /// Creates a factory without state; FlyingSocks has its own pool of sockets.
    public init() {}

    /// The name of the transport: `flyingsocks`.
    public var name: String { "flyingsocks" }

    /// The capabilities: FlyingSocks has no half-close, no pause in reading, no idle timeout and no limit on a line.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .stop, .sent, .leftover, .connectTimeout,
        ]
    }

    /// The lacking capability: FlyingSocks writes bytes, so the wrapper appends terminators and lengths.
    public var lacks: Set<TransportCapability> { [.frames] }

    /// The framings that can be built from the library's own parts.
    public var framings: Set<TransportFraming>? { FlyingSocksFraming.offered }

    /// Creates a transport.
    ///
    /// - Throws: `unsupported` for a framing that is not in ``framings``.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        FlyingSocksTransport(
            FlyingSocksSession(
                configuration, framing: try FlyingSocksFraming(configuration.framing),
                lifecycle: TransportLifecycle(isStarted: false),
                handler: handler))
    }

    /// Creates a listener. A host that is not a numeric address is resolved before this function returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        try FlyingSocksListener(
            configuration, framing: try FlyingSocksFraming(configuration.framing), handler: handler, accepted: accepted)
    }
}
