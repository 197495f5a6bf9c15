/// Makes transports of plain BSD sockets; see ``BSDTransport`` for what they guarantee.
public struct BSDTransportFactory: TransportFactory {
    /// Without a state: every transport is its own.
    public init() {}

    /// `bsd`.
    public var name: String { "bsd" }

    /// All but `reads`, `tls` and `start-tls`.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .lines, .data, .messages, .halfClose, .stop, .stopReading, .resumeReading, .sent,
            .leftover, .connectTimeout, .idleTimeout, .maxLine,
        ]
    }

    /// - Throws: `unsupported` for the framing `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        try makeTransport(configuration, limits: .init(configuration), handler: handler, threadEnded: {})
    }

    /// A host that is no numeric address is looked up before this returns.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        let framing = try BSDFraming(configuration)
        let addresses: [SocketAddress]
        switch NameResolution.look(host: configuration.host, port: configuration.port, flags: 0) {
        case .success(let found): addresses = found
        case .failure(let failure): throw .other(failure.detail)
        }
        guard let address = addresses.first else { throw .other("\(configuration.host): no address") }
        do throws(SystemError) {
            let socket = try ListeningSocket(address)
            return try BSDListener(
                socket, configuration: configuration, framing: framing, handler: handler, accepted: accepted)
        } catch {
            throw .other("\(address.text): \(error.text)")
        }
    }

    /// With limits of its own, and told when the transport's thread has ended and its descriptors are closed.
    func makeTransport(
        _ configuration: TransportConfiguration, limits: BSDConnectionState.Limits,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) throws(TransportError) -> BSDTransport {
        BSDTransport(
            BSDConnection(
                configuration: configuration, framing: try BSDFraming(configuration),
                state: BSDConnectionState(limits: limits), handler: handler, threadEnded: threadEnded))
    }
}

extension BSDConnectionState.Limits {
    init(_ configuration: TransportConfiguration) {
        connect = configuration.connectTimeout?.clampedNanoseconds
        idle = configuration.idleTimeout?.clampedNanoseconds
    }
}
