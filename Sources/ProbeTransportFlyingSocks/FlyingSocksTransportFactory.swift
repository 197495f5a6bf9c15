public import ProbeTransport

/// Makes transports of FlyingFox's FlyingSocks.
public struct FlyingSocksTransportFactory: TransportFactory {
    /// Without a state: the pool of sockets is FlyingSocks' own.
    public init() {}

    /// `flyingsocks`.
    public var name: String { "flyingsocks" }

    /// No half-close, no pause in reading, no idle timeout and no limit on a line: FlyingSocks has none of them.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .lines, .data, .messages, .stop, .sent, .leftover, .connectTimeout,
        ]
    }

    /// - Throws: `unsupported` for the framings `varint` and `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        FlyingSocksTransport(
            FlyingSocksSession(
                configuration, framing: try FlyingSocksFraming(configuration.framing),
                life: TransportLife(isStarted: false),
                handler: handler))
    }

    /// A host that is no numeric address is looked up before this returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        try FlyingSocksListener(
            configuration, framing: try FlyingSocksFraming(configuration.framing), handler: handler, accepted: accepted)
    }
}
