import NIOCore
import NIOPosix
import ProbeTransport
import Synchronization

/// A listener that uses a `ServerBootstrap`. Its channel and all accepted connections share one event loop, so that no
/// two of their events are concurrent.
final class NIOTransportListener: TransportListener {
    /// The state that the listener shares with the initializer of its connections, because the initializer must not
    /// keep the listener alive.
    private final class Shared: Sendable {
        private struct State {
            var isOpen = true
            var count = 0
        }

        private let state = Mutex(State())

        /// Returns the number of the next connection, counted from 1; `nil` after the listener has been stopped.
        func number() -> Int? {
            state.withLock { state in
                guard state.isOpen else { return nil }
                state.count += 1
                return state.count
            }
        }

        /// Marks the listener as closed.
        ///
        /// - Returns: whether the listener was open before.
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
    /// - Parameter prepare: builds the pipeline of a connection and reports the connection with its number; the number
    ///   is `nil` if the listener was stopped.
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

/// Stops a listener that could not accept a connection. Without this handler, NIO would retry once per second when
/// descriptors have run out, while the connected client waits.
private final class AcceptFailureHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let report: @Sendable (any Error) -> Void

    init(_ report: @escaping @Sendable (any Error) -> Void) { self.report = report }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError { report(error) }
        context.fireErrorCaught(error)
    }
}
