public import ProbeBase
public import ProbeTransport

/// Creates transports that use FlyingSocks, the socket library of FlyingFox.
public struct FlyingSocksTransportFactory: TransportFactory {
    /// Creates a factory. It has no state, because FlyingSocks manages its own pool of sockets.
    public init() {}

    /// The name of the transport: `flyingsocks`.
    public var name: String { "flyingsocks" }

    /// The capabilities of FlyingSocks, which can't half-close a connection, stop reading, detect an idle connection or
    /// limit the length of a line.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .stop, .sent, .leftover, .connectTimeout,
        ]
    }

    /// The capability `frames` is lacking: FlyingSocks writes only bytes, so the wrapper adds terminators and lengths.
    public var lacks: Set<TransportCapability> { [.frames] }

    /// The framings that can be built on the library's own reads.
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
