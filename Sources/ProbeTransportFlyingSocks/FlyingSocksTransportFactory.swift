public import ProbeBase
public import ProbeTransport

/// Creates transports with FlyingFox's FlyingSocks.
public struct FlyingSocksTransportFactory: TransportFactory {
    /// A factory without state; FlyingSocks has its own pool of sockets.
    public init() {}

    /// `flyingsocks`.
    public var name: String { "flyingsocks" }

    /// FlyingSocks has no half-close, no pause in reading, no idle timeout and no limit on a line.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .stop, .sent, .leftover, .connectTimeout,
        ]
    }

    /// FlyingSocks writes bytes: the wrapper appends terminators and lengths.
    public var lacks: Set<TransportCapability> { [.frames] }

    /// Those that can be built on the library's own parts.
    public var framings: Set<TransportFraming>? { FlyingSocksFraming.offered }

    /// - Throws: `unsupported` for a framing that is not in ``framings``.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        FlyingSocksTransport(
            FlyingSocksSession(
                configuration, framing: try FlyingSocksFraming(configuration.framing),
                life: TransportLife(isStarted: false),
                handler: handler))
    }

    /// A host that is no numeric address is resolved before this returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        try FlyingSocksListener(
            configuration, framing: try FlyingSocksFraming(configuration.framing), handler: handler, accepted: accepted)
    }
}
