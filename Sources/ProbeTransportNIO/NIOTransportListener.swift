import NIOCore
import NIOPosix
import ProbeTransport
import Synchronization

/// The channel of a `ServerBootstrap`. It and its connections share one event loop, so that no two of their events are
/// concurrent.
final class NIOTransportListener: TransportListener {
    /// Shared with the connections' initializer, which must not hold the listener.
    private final class Shared: Sendable {
        private struct State {
            var isOpen = true
            var count = 0
        }

        private let state = Mutex(State())

        /// The number of the next connection, counted from 1; nil after the listener was stopped.
        func number() -> Int? {
            state.withLock { state in
                guard state.isOpen else { return nil }
                state.count += 1
                return state.count
            }
        }

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

    init(
        _ configuration: TransportConfiguration, framing: NIOFraming, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) {
        if MultiThreadedEventLoopGroup.currentEventLoop != nil {
            throw .other("a listener can't be made on an event loop, as binding waits")
        }
        self.handler = handler
        let shared = shared
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    guard let number = shared.number() else { throw ChannelError.ioOnClosedChannel }
                    let life = TransportLife(isStarted: true)
                    let session = NIOSession(
                        life: life, framing: framing, security: nil,
                        idleTimeout: configuration.idleTimeout.map(TimeAmount.init(clamping:)),
                        allowsHalfClose: configuration.allowsHalfClose, handler: accepted(number))
                    session.accepted(child)
                    try session.addHandlers(to: child)
                    let transport = NIOTransport(
                        life: life, configuration: configuration, framing: framing,
                        session: NIOLoopBoundBox(session, eventLoop: child.eventLoop))
                    handler(.accepted(transport))
                }
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
