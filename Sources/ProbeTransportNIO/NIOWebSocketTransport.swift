import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import ProbeBase
import ProbeTransport

/// The transport `nio-websocket`, as a client or as a server: NIO's upgraders, frame codec, aggregator and error
/// handler.
///
/// - Threads: the connection runs on an event loop of NIO, which also calls the handler. The handler may call every
///   method of the transport.
/// - The connect timeout also covers the TLS handshake and the opening handshake. `max-line` is passed to NIO as the
///   limit for a frame and for the sum of a message's fragments.
/// - `stop()` sends a close frame with the code 1000 after the queued messages, and closes the channel when the close
///   frame has been written, or after a second.
final class NIOWebSocketTransport: Transport {
    private let lifecycle: TransportLifecycle
    private let configuration: TransportConfiguration
    private let security: NIOSecurity?
    private let session: NIOLoopBoundBox<NIOWebSocketSession>

    init(
        lifecycle: TransportLifecycle, configuration: TransportConfiguration, security: NIOSecurity?,
        session: NIOLoopBoundBox<NIOWebSocketSession>
    ) {
        (self.lifecycle, self.configuration, self.security, self.session) = (
            lifecycle, configuration, security, session
        )
    }

    deinit {
        if lifecycle.end() { session.perform { $0.abandon() } }
    }

    /// Returns the maximum size of a message, in bytes, reduced to the largest value that NIO accepts.
    static func limit(_ configuration: TransportConfiguration) -> Int {
        min(configuration.maxLine, Int(UInt32.max))
    }

    /// Adds the handlers that follow the frame codec.
    static func addHandlers(
        to channel: any Channel, _ session: NIOWebSocketSession, _ configuration: TransportConfiguration
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: .max,
                maxAccumulatedFrameSize: limit(configuration)))
        try pipeline.addHandler(NIOWebSocketFrameHandler(session))
    }

    func start() throws(TransportError) {
        try lifecycle.start()
        let (session, configuration, security) = (session, configuration, security)
        let isDefaultPort = configuration.port == (security == nil ? 80 : 443)
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let request = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: configuration.requestPath,
            headers: ["Host": isDefaultPort ? host : "\(host):\(configuration.port)"])
        session.perform { $0.prepare(request, needsTLS: security != nil) }
        var bootstrap = ClientBootstrap(group: session.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.prepare(channel, session, configuration, security)
                }
            }
        if let timeout = configuration.connectTimeout {
            let timeout = TimeAmount(clamping: timeout)
            bootstrap = bootstrap.connectTimeout(timeout)
            session.eventLoop.scheduleTask(in: timeout) {
                session.value.openingFailed(NIOFailure(.timeout, "the opening handshake took too long"))
            }
        }
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

    private static func prepare(
        _ channel: any Channel, _ session: NIOLoopBoundBox<NIOWebSocketSession>,
        _ configuration: TransportConfiguration, _ security: NIOSecurity?
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if let security { try pipeline.addHandler(try security.makeHandler()) }
        let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: limit(configuration)) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try addHandlers(to: channel, session.value, configuration)
                session.value.opened(channel)
            }
        }
        // Leftover bytes are forwarded because frames may arrive in the same segment as the server's response.
        try pipeline.addHTTPClientHandlers(
            leftOverBytesStrategy: .forwardBytes,
            withClientUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    let pipeline = context.pipeline.syncOperations
                    // Finding the handler fails only if it has already been removed.
                    if let handler = try? pipeline.handler(type: NIOWebSocketRequestHandler.self) {
                        pipeline.removeHandler(handler, promise: nil)
                    }
                }
            ))
        try pipeline.addHandler(NIOWebSocketRequestHandler(session.value))
    }

    /// Builds the pipeline of a connection that a listener has accepted. The connection is reported when its opening
    /// handshake is complete.
    static func prepareServer(
        _ channel: any Channel, _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable () throws -> TransportHandler
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: limit(configuration),
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let lifecycle = TransportLifecycle(isStarted: true)
                    let session = NIOWebSocketSession(lifecycle: lifecycle, isClient: false, handler: try accepted())
                    try addHandlers(to: channel, session, configuration)
                    let transport = NIOWebSocketTransport(
                        lifecycle: lifecycle, configuration: configuration, security: nil,
                        session: NIOLoopBoundBox(session, eventLoop: channel.eventLoop))
                    handler(.accepted(transport))
                    session.opened(channel)
                }
            })
        try pipeline.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    let pipeline = context.pipeline.syncOperations
                    // Finding the handler fails only if it has already been removed.
                    if let handler = try? pipeline.handler(type: NIOWebSocketRefusalHandler.self) {
                        pipeline.removeHandler(handler, promise: nil)
                    }
                }
            ))
        try pipeline.addHandler(NIOWebSocketRefusalHandler())
    }

    // MARK: Operations

    func send(_ message: [UInt8]) throws(TransportError) { try send(message, as: .text) }

    func send(_ message: [UInt8], as kind: WebSocketMessageKind) throws(TransportError) {
        try requireSendable()
        if kind == .text, String(validating: message, as: UTF8.self) == nil { throw .invalid }
        session.perform { $0.send(kind == .text ? .text : .binary, message) }
    }

    /// Throws if nothing can be sent, for example because this side has already sent its close frame (RFC 6455, section
    /// 5.5.1).
    private func requireSendable() throws(TransportError) {
        do { try lifecycle.requireSendable() } catch .other { throw .stopped }
    }

    func sendPing(_ payload: [UInt8]) throws(TransportError) {
        try requireSendable()
        guard payload.count <= 125 else { throw .invalid }
        session.perform { $0.send(.ping, payload) }
    }

    func sendClose(code: UInt16?, reason: [UInt8]) throws(TransportError) {
        try requireSendable()
        guard code != nil || reason.isEmpty, reason.count <= 123, String(validating: reason, as: UTF8.self) != nil,
            code.map(ProbeBase.WebSocketFrame.mayBeSent) != false
        else { throw .invalid }
        try lifecycle.halfClose()
        let payload = (code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + reason
        session.perform { $0.close(payload) }
    }

    func stopReading() throws(TransportError) {
        try lifecycle.requireOpen()
        session.performAndWait { $0.setReading(false) }
    }

    func resumeReading() throws(TransportError) {
        try lifecycle.requireOpen()
        session.perform { $0.setReading(true) }
    }

    func stop() throws(TransportError) {
        if lifecycle.end() { session.perform { $0.stop() } }
    }

    func reset() throws(TransportError) {
        guard lifecycle.wasStarted else { throw .notStarted }
        lifecycle.end()
        session.perform { $0.reset() }
    }
}
