import ProbeSystem
public import ProbeBase

/// Creates transports that have the interface of the Objective-C class AsyncSocket and read only on request
/// (``TransportRead``).
public struct AsyncSocketTransportFactory: TransportFactory {
    /// Creates a factory, which has no state.
    public init() {}

    /// The name of the transport: `async-socket`.
    public var name: String { "async-socket" }

    /// The capabilities of AsyncSocket, which has no half-close and no idle timeout. AsyncSocket can't stop reading,
    /// because it reads only on request.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .data, .framing, .reads, .stop, .reset, .sent, .leftover,
            .connectTimeout,
            .maxLine, .local, .interface, .prefer, .unix,
        ]
    }

    /// Creates a transport.
    ///
    /// - Throws: `unsupported` for the framing `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        AsyncSocketTransport(
            BSDConnectionState(limits: Self.limits(configuration)), try ConnectionEnds(configuration),
            limit: configuration.maxLine, encoder: try Self.encoder(configuration), handler: handler)
    }

    /// Creates a listener. A host that is not a numeric address is resolved before this function returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        let encoder = try Self.encoder(configuration)
        let ends = try ConnectionEnds(configuration)
        return try BSDListener.listen(configuration, handler: handler) { number, descriptor in
            let state = BSDConnectionState(
                limits: Self.limits(configuration), acceptedAt: MonotonicTime.now.nanoseconds)
            let transport = AsyncSocketTransport(
                state, ends, limit: configuration.maxLine, encoder: encoder, handler: accepted(number))
            handler(.accepted(transport))
            transport.socket.serve(accepted: descriptor)
        }
    }

    private static func encoder(_ configuration: TransportConfiguration) throws(TransportError) -> FrameEncoder {
        guard configuration.framing != .websocket else { throw .unsupported }
        return FrameEncoder(framing: configuration.framing)
    }

    private static func limits(_ configuration: TransportConfiguration) -> BSDConnectionState.Limits {
        var limits = BSDConnectionState.Limits()
        limits.connect = configuration.connectTimeout?.nanoseconds
        return limits
    }
}
