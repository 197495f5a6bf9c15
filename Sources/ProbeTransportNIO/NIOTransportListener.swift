import NIOCore
import NIOPosix
import ProbeTransport
import Synchronization

/// The channel of a `ServerBootstrap`. It and its connections share one event loop, so that no two of their events are
/// concurrent.
final class NIOTransportListener: TransportListener {
    /// The state that is shared with the connections' initializer, which must not hold the listener.
    private final class Shared: Sendable {
        private struct State {
            var isOpen = true
            var count = 0
        }

        private let state = Mutex(State())

        /// Returns the number of the next connection, counted from 1; `nil` after the listener was stopped.
        func number() -> Int? {
            state.withLock { state in
                guard state.isOpen else { return nil }
                state.count += 1
                return state.count
            }
        }

        /// Marks the listener as closed.
        ///
        /// - Returns: whether it was open.
        func close() -> Bool {
            state.withLock { state in
                defer { state.isOpen = false }
                return state.isOpen
            }
        }
    }

    let port: UInt16
    private let channel: any Channel
    private let shared = Shared()
    private let handler: TransportHandler

    /// Creates a listener.
    ///
    /// - Parameter prepare: builds the pipeline of a connection and announces the connection, with its number; the
    ///   number is `nil` if the listener was stopped.
    init(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        prepare: @escaping @Sendable (_ child: any Channel, _ number: @escaping @Sendable () -> Int?) throws -> Void
    ) throws(TransportError) {
        if MultiThreadedEventLoopGroup.currentEventLoop != nil {
            throw .other("a listener can't be created on an event loop, because binding blocks")
        }
        self.handler = handler
        let shared = shared
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(
                        AcceptFailureHandler { [weak server] error in
                            guard shared.close() else { return }
                            server?.close(promise: nil)
                            handler(.stopped(.other, detail: "\(error)"))
                        })
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture { try prepare(child) { shared.number() } }
            }
        let place = configuration.path ?? "\(configuration.host):\(configuration.port)"
        do {
            channel =
                if let path = configuration.path {
                    try bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).wait()
                } else {
                    try bootstrap.bind(host: configuration.host, port: Int(configuration.port)).wait()
                }
        } catch {
            throw .other("\(place): \(error)")
        }
        if configuration.path != nil {
            port = 0
            return
        }
        guard let port = channel.localAddress?.port.flatMap(UInt16.init(exactly:)) else {
            channel.close(promise: nil)
            throw .other("\(place): no port was bound")
        }
        self.port = port
    }

    deinit {
        if shared.close() { channel.close(promise: nil) }
    }

    func stop() {
        guard shared.close() else { return }
        let handler = handler
        channel.close().whenComplete { _ in handler(.stopped(.stopped, detail: nil)) }
    }
}

/// Handles a connection that could not be accepted. If descriptors have run out, NIO would retry each second, while the
/// client that has connected waits.
private final class AcceptFailureHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let report: @Sendable (any Error) -> Void

    init(_ report: @escaping @Sendable (any Error) -> Void) { self.report = report }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError { report(error) }
        context.fireErrorCaught(error)
    }
}
