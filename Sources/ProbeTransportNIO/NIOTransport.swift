import NIOCore
import NIOPosix
import ProbeTransport

/// The transport `nio`: a SwiftNIO channel with NIOExtras' framing. Its behaviour is reported without corrections.
///
/// - Threads: an event loop of NIO, which also calls the handler. Every method may be called from it.
/// - Connecting: `ClientBootstrap.connect(host:port:)`, NIO's Happy Eyeballs. Without a `connectTimeout` NIO's own
///   timeout of 10 s applies.
/// - Half-closure is allowed (`allowRemoteHalfClosure`). On the peer's FIN, queued messages are still written, then the
///   channel is closed.
/// - `stop()` waits until queued messages are written, as long as a byte is written each second, and closes the
///   channel. NIO closes the descriptor: if input is unread, that sends an RST.
/// - `reset()` sets SO_LINGER to 0 and closes the channel.
/// - TLS: `NIOSSLClientHandler` before the framing. The connect timeout does not limit the handshake, because NIO has
///   no timeout for it. `startTLS` adds that handler to the pipeline, and replaces the decoder: what the decoder holds
///   was received in the clear and is discarded. A close sends close_notify and waits 250 ms for the peer's; a reset
///   sends none.
/// - `sent` is reported when NIO completes a write: one message at a time.
/// - `stopReading()` turns `autoRead` off, and returns when it is off. `idleTimeout` is `IdleStateHandler`'s for both
///   directions.
final class NIOTransport: Transport {
    private let lifecycle: TransportLifecycle
    private let configuration: TransportConfiguration
    private let framing: NIOFraming
    private let session: NIOLoopBoundBox<NIOSession>

    init(
        lifecycle: TransportLifecycle, configuration: TransportConfiguration, framing: NIOFraming,
        session: NIOLoopBoundBox<NIOSession>
    ) {
        self.lifecycle = lifecycle
        self.configuration = configuration
        self.framing = framing
        self.session = session
    }

    deinit {
        if lifecycle.end() { session.perform { $0.abandon() } }
    }

    func start() throws(TransportError) {
        let local = try configuration.localAddress
        try lifecycle.start()
        let session = session
        var bootstrap = ClientBootstrap(group: session.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            // No other event may be reported before `started`.
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard session.value.attempts(channel) else { throw ChannelError.ioOnClosedChannel }
                    try session.value.addHandlers(to: channel)
                }
            }
        if let timeout = configuration.connectTimeout {
            bootstrap = bootstrap.connectTimeout(TimeAmount(clamping: timeout))
        }
        if let local { bootstrap = bootstrap.bind(to: local) }
        connect(bootstrap).whenComplete { result in
            switch result {
            case .success(let channel): session.value.connected(channel)
            case .failure(let error): session.value.connectFailed(error)
            }
        }
    }

    private func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
        if let path = configuration.path { return bootstrap.connect(unixDomainSocketPath: path) }
        return bootstrap.connect(host: configuration.host, port: Int(configuration.port))
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        try lifecycle.requireSendable()
        let buffer = try framing.encode(message)
        session.perform { $0.send(buffer) }
    }

    func halfClose() throws(TransportError) {
        try lifecycle.halfClose()
        session.perform { $0.halfClose() }
    }

    func stopReading() throws(TransportError) {
        try lifecycle.requireOpen()
        session.performAndWait { $0.setReading(false) }
    }

    func resumeReading() throws(TransportError) {
        try lifecycle.requireOpen()
        session.perform { $0.setReading(true) }
    }

    func startTLS(_ tls: TransportTLS) throws(TransportError) {
        try lifecycle.requireSendable()
        let security = try NIOSecurity(tls, to: configuration.host)
        // Fails only if the loops are shut down, which never happens.
        let result = try? session.valueOnLoop { session in
            Result { () throws(TransportError) in try session.startTLS(security) }
        }
        try result?.get()
    }

    func stop() throws(TransportError) {
        if lifecycle.end() { session.perform { $0.stop() } }
    }

    func reset() throws(TransportError) {
        guard lifecycle.wasStarted else { throw .notStarted }
        // Done even if a stop is still waiting for its writing.
        lifecycle.end()
        session.perform { $0.reset() }
    }
}

extension NIOLoopBoundBox {
    /// Runs `body` on the event loop; at once if the caller is already on it, such as a handler.
    func perform(_ body: @escaping @Sendable (Value) -> Void) {
        if eventLoop.inEventLoop {
            body(value)
        } else {
            eventLoop.execute { body(self.value) }
        }
    }

    /// Returns the result of `body`, which runs on the event loop.
    fileprivate func valueOnLoop<Answer: Sendable>(
        _ body: @escaping @Sendable (Value) -> Answer
    ) throws -> Answer {
        eventLoop.inEventLoop ? body(value) : try eventLoop.submit { body(self.value) }.wait()
    }

    /// Returns when `body` has run, as waiting for the future of a channel's `setOption` would.
    func performAndWait(_ body: @escaping @Sendable (Value) -> Void) {
        // Fails only if the loops are shut down, which never happens.
        try? valueOnLoop(body)
    }
}

extension TimeAmount {
    /// Creates an amount clamped to a century, because NIO adds it to the clock.
    init(clamping duration: Duration) {
        self.init(min(duration, .seconds(100 * 365 * 24 * 3600)))
    }
}

extension TransportConfiguration {
    /// The local address to bind to; throws `invalid` if it is not numeric.
    fileprivate var localAddress: NIOCore.SocketAddress? {
        get throws(TransportError) {
            guard let localHost else { return nil }
            // NIO's error says only that the address is not one.
            guard let address = try? NIOCore.SocketAddress(ipAddress: localHost, port: Int(localPort)) else {
                throw .invalid
            }
            return address
        }
    }
}
