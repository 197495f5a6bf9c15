import ProbeSystem
public import ProbeBase

/// Creates transports that use BSD sockets. ``BSDTransport`` describes their guarantees.
public struct BSDTransportFactory: TransportFactory {
    /// Creates a factory, which has no state.
    public init() {}

    /// The name of the transport: `bsd`.
    public var name: String { "bsd" }

    /// The capabilities of the transport `bsd`.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .lines, .data, .messages, .framing, .halfClose, .halfClosed, .stop,
            .reset, .stopReading, .resumeReading, .sent, .leftover, .connectTimeout, .idleTimeout, .maxLine, .discarded,
            .highWater, .local, .interface, .prefer, .unix,
            .heartbeat, .reconnect,
        ]
    }

    /// Creates a transport.
    ///
    /// - Throws: `unsupported` for the framing `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        let limits = try BSDConnectionState.Limits(configuration)
        guard configuration.reconnect != nil else {
            return try makeTransport(configuration, limits: limits, handler: handler, threadEnded: {})
        }
        return try ReconnectingTransport(configuration, handler: handler) { [self] handler throws(TransportError) in
            try makeTransport(configuration, limits: limits, handler: handler, threadEnded: {})
        }
    }

    /// Creates a listener. A host that is not a numeric address is resolved before this function returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        let framing = try BSDFraming(configuration)
        let ends = try ConnectionEnds(configuration)
        let limits = try BSDConnectionState.Limits(configuration)
        return try BSDListener.listen(configuration, handler: handler) { number, descriptor in
            let state = BSDConnectionState(limits: limits, acceptedAt: MonotonicTime.now.nanoseconds)
            let connection = BSDConnection(
                ends: ends, framing: framing, state: state, handler: accepted(number),
                threadEnded: {})
            let transport = BSDTransport(connection)
            handler(.accepted(transport))
            transport.serve(accepted: descriptor)
        }
    }

    /// Creates a transport with the given limits. `threadEnded` is called when the transport's thread has ended and its
    /// descriptors are closed.
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
    /// Creates the limits that a configuration specifies.
    ///
    /// - Throws: `invalid` if the heartbeat can't be encoded with the framing; `unsupported` for the framing
    ///   `websocket`.
    init(_ configuration: TransportConfiguration) throws(TransportError) {
        if let heartbeat = configuration.heartbeat, let interval = heartbeat.interval {
            do {
                let frame = try FrameEncoder(framing: configuration.framing).encode(heartbeat.message)
                beat = Beat(interval: interval.nanoseconds, frame: frame)
            } catch {
                throw .invalid
            }
        }
        connect = configuration.connectTimeout?.nanoseconds
        idle = configuration.idleTimeout?.nanoseconds
        allowsHalfClose = configuration.allowsHalfClose
        highWater = configuration.highWater
        silence = configuration.heartbeat?.timeout?.nanoseconds
        onlyAnswersCountAsAlive = configuration.heartbeat?.answer != nil
    }
}
