import ProbeSystem
public import ProbeBase

/// Creates transports with BSD sockets; see ``BSDTransport`` for their guarantees.
public struct BSDTransportFactory: TransportFactory {
    /// A factory; it has no state.
    public init() {}

    /// `bsd`.
    public var name: String { "bsd" }

    /// All but `reads`, `tls` and `start-tls`.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .framing, .halfClose, .halfClosed, .stop,
            .reset, .stopReading, .resumeReading, .sent, .leftover, .connectTimeout, .idleTimeout, .maxLine, .discarded,
            .highWater, .local, .interface, .prefer, .unix,
        ]
    }

    /// - Throws: `unsupported` for the framing `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        try makeTransport(configuration, limits: .init(configuration), handler: handler, threadEnded: {})
    }

    /// A host that is no numeric address is resolved before this returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        let framing = try BSDFraming(configuration)
        let ends = try ConnectionEnds(configuration)
        return try BSDListener.listen(configuration, handler: handler) { number, descriptor in
            let state = BSDConnectionState(limits: .init(configuration), acceptedAt: MonotonicTime.now.nanoseconds)
            let connection = BSDConnection(
                ends: ends, framing: framing, state: state, handler: accepted(number),
                threadEnded: {})
            let transport = BSDTransport(connection)
            handler(.accepted(transport))
            transport.serve(accepted: descriptor)
        }
    }

    /// With other limits, and a callback for when the transport's thread has ended and its descriptors are closed.
    func makeTransport(
        _ configuration: TransportConfiguration, limits: BSDConnectionState.Limits,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) throws(TransportError) -> BSDTransport {
        BSDTransport(
            BSDConnection(
                ends: try ConnectionEnds(configuration), framing: try BSDFraming(configuration),
                state: BSDConnectionState(limits: limits), handler: handler, threadEnded: threadEnded))
    }
}

extension BSDConnectionState.Limits {
    init(_ configuration: TransportConfiguration) {
        connect = configuration.connectTimeout?.nanoseconds
        idle = configuration.idleTimeout?.nanoseconds
        allowsHalfClose = configuration.allowsHalfClose
        highWater = configuration.highWater
    }
}
