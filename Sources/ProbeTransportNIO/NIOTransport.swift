import NIOCore
import NIOPosix
import ProbeTransport

/// The transport `nio`: a SwiftNIO channel with NIOExtras' framing. The library's behavior is exposed without
/// corrections.
///
/// - Threads: the connection runs on an event loop of NIO, which also calls the handler. The handler may call every
///   method of the transport.
/// - Connecting: `ClientBootstrap.connect(host:port:)`, which implements Happy Eyeballs. Without a `connectTimeout`,
///   NIO's own timeout of 10 s applies.
/// - Half-closure is allowed (`allowRemoteHalfClosure`). After the peer's FIN, queued messages are still written, and
///   then the channel is closed.
/// - `stop()` waits until the queued messages have been written, as long as at least one byte is written each second,
///   and closes the channel. NIO closes the descriptor; if there is unread input, the kernel then sends an RST.
/// - `reset()` sets SO_LINGER to 0 and closes the channel.
/// - TLS: `NIOSSLClientHandler` precedes the framing in the pipeline. The connect timeout does not limit the handshake,
///   because NIO has no timeout for a handshake. `startTLS` adds the TLS handler to the pipeline and replaces the
///   decoder, so that bytes received in the clear are discarded. A close sends close_notify and waits 250 ms for the
///   peer's close_notify; a reset sends no close_notify.
/// - `sent` is reported when NIO completes a write, that is, once for each message.
/// - `stopReading()` turns `autoRead` off, and returns when it is off. `idleTimeout` is the timeout of an
///   `IdleStateHandler` for both directions.
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
            // Reading begins later, because no other event may be reported before `started`.
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
        // `valueOnLoop` fails only if NIO's event loops are shut down, which never happens.
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
        // A reset takes effect even if a stop is still waiting for the queued messages to be written.
        lifecycle.end()
        session.perform { $0.reset() }
    }
}

extension NIOLoopBoundBox {
    /// Runs `body` on the event loop: at once if the caller (such as a handler) is already on it, otherwise later.
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

    /// Runs `body` on the event loop and waits until it has run, like a caller that waits for the future of a channel's
    /// `setOption`.
    func performAndWait(_ body: @escaping @Sendable (Value) -> Void) {
        // `valueOnLoop` fails only if NIO's event loops are shut down, which never happens.
        try? valueOnLoop(body)
    }
}

extension TimeAmount {
    /// Creates an amount of time, limited to a century because NIO adds it to the current time.
    init(clamping duration: Duration) {
        self.init(min(duration, .seconds(100 * 365 * 24 * 3600)))
    }
}

extension TransportConfiguration {
    /// The local address to bind to, if any. The getter throws `invalid` if the address is not numeric.
    fileprivate var localAddress: NIOCore.SocketAddress? {
        get throws(TransportError) {
            guard let localHost else { return nil }
            // NIO's error is ignored, because it means only that the address is not numeric.
            guard let address = try? NIOCore.SocketAddress(ipAddress: localHost, port: Int(localPort)) else {
                throw .invalid
            }
            return address
        }
    }
}
