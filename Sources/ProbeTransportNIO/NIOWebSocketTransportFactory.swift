import NIOCore
import NIOPosix
public import ProbeBase
public import ProbeTransport

/// Creates transports that use SwiftNIO's WebSocket implementation.
public struct NIOWebSocketTransportFactory: TransportFactory {
    /// Creates a factory. It has no state, because NIO manages its own event loops.
    public init() {}

    /// The name of the transport: `nio-websocket`.
    public var name: String { "nio-websocket" }

    /// The capabilities of NIO's WebSocket support. `half-close` is not among them, because a WebSocket ends with a
    /// close frame, nor is `idle-timeout`, because users of NIO must implement it themselves.
    public var capabilities: Set<TransportCapability> {
        [
            .connect, .listen, .send, .sendEarly, .messages, .webSocket, .stop, .reset, .stopReading, .resumeReading,
            .connectTimeout, .maxLine, .tls, .unix,
        ]
    }

    /// The only framing: WebSocket.
    public var framings: Set<TransportFraming>? { [.websocket] }

    /// Creates a transport.
    ///
    /// - Throws: `unsupported` for a framing other than `websocket`.
    public func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        guard configuration.framing == .websocket else { throw .unsupported }
        let security = try configuration.tls.map { (tls) throws(TransportError) in
            try NIOSecurity(tls, to: configuration.host)
        }
        let lifecycle = TransportLifecycle(isStarted: false)
        let session = NIOLoopBoundBox.makeBoxSendingValue(
            NIOWebSocketSession(lifecycle: lifecycle, isClient: true, handler: handler),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        return NIOWebSocketTransport(
            lifecycle: lifecycle, configuration: configuration, security: security, session: session)
    }

    /// Creates a listener, and waits until the address is bound. Because the call blocks, calling it on an event loop
    /// of NIO is an error.
    public func makeListener(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) -> any TransportListener {
        guard configuration.framing == .websocket else { throw .unsupported }
        return try NIOTransportListener(configuration, handler: handler) { child, number in
            try NIOWebSocketTransport.prepareServer(child, configuration, handler: handler) {
                guard let number = number() else { throw ChannelError.ioOnClosedChannel }
                return accepted(number)
            }
        }
    }
}
