import ProbeSystem
import ProbeBase
import Synchronization

/// Accepts connections on a separate thread, and passes each of them to a closure.
///
/// If the process has run out of descriptors, the listener stops. Otherwise, a client whose connection is never
/// accepted could not distinguish the shortage from a program that does not respond.
final class BSDListener: TransportListener {
    private enum RequestedState: Sendable {
        case listen
        case stop
        /// The owner has released the listener.
        case stopSilently
    }

    /// The data that the thread refers to instead of the listener, because the thread must not keep the listener alive.
    private final class Shared: Sendable {
        let requested = Mutex(RequestedState.listen)
        /// The socket. The thread takes the socket out of this property, so that no closure keeps it open.
        let socket: Mutex<ListeningSocket?>
        /// The descriptor that wakes the thread; `nil` unless the thread runs, because the listener may be kept long
        /// after its thread has ended.
        let wake: Mutex<WakeDescriptor?>

        init(_ socket: ListeningSocket) throws(SystemError) {
            self.socket = Mutex(socket)
            wake = Mutex(try WakeDescriptor())
        }

        func change(to state: RequestedState) {
            requested.withLock { if $0 == .listen { $0 = state } }
            wake.withLock { $0 }?.wake()
        }
    }

    let port: UInt16
    private let shared: Shared

    /// Creates a listener and starts its thread.
    ///
    /// - Parameters:
    ///   - handler: the receiver of the listener's own `stopped`.
    ///   - take: called for each connection with its number, counted from 1, and its descriptor, which the closure then
    ///     owns.
    init(
        _ socket: ListeningSocket, handler: @escaping TransportHandler,
        take: @escaping @Sendable (_ number: Int, _ descriptor: CInt) -> Void
    ) throws(SystemError) {
        port = socket.port
        let shared = try Shared(socket)
        self.shared = shared
        try WorkerThread("listener", signals: .inherited, stack: TransportStack.size) {
            if let outcome = Self.serve(shared, take) { handler(outcome) }
        }.detach()
    }

    /// Listens on the first address to which the configuration's host resolves, or on its Unix socket.
    ///
    /// - Throws: `other` with the message of the resolver or the kernel.
    static func listen(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler,
        take: @escaping @Sendable (_ number: Int, _ descriptor: CInt) -> Void
    ) throws(TransportError) -> BSDListener {
        let address = try Self.address(configuration)
        do throws(SystemError) {
            return try BSDListener(
                ListeningSocket(address, interface: configuration.interface), handler: handler, take: take)
        } catch {
            throw .other("\(address): \(error.reason)")
        }
    }

    private static func address(_ configuration: TransportConfiguration) throws(TransportError) -> SocketAddress {
        if let path = configuration.path {
            guard let address = SocketAddress(unixPath: path) else { throw .invalid }
            return address
        }
        switch NameResolution.look(host: configuration.host, port: configuration.port, flags: 0) {
        case .success(let found):
            guard let address = found.first else { throw .other("\(configuration.host): no address") }
            return address
        case .failure(let failure): throw .other(failure.detail)
        }
    }

    deinit {
        shared.change(to: .stopSilently)
    }

    func stop() {
        shared.change(to: .stop)
    }

    /// Accepts connections until the listener stops, and closes its descriptors. Returns the listener's `stopped`
    /// event, if it must be reported.
    private static func serve(
        _ shared: Shared, _ take: (_ number: Int, _ descriptor: CInt) -> Void
    ) -> TransportEvent? {
        guard let socket = shared.socket.withLock({ $0.take() }), let wake = shared.wake.withLock({ $0 }) else {
            return nil
        }
        defer { shared.wake.withLock { $0 = nil } }
        var number = 0
        while true {
            switch shared.requested.withLock({ $0 }) {
            case .listen: break
            case .stop: return .stopped(.stopped, detail: nil)
            case .stopSilently: return nil
            }
            var entries = [
                Polling.entry(wake.descriptor, read: true, write: false),
                Polling.entry(socket.descriptor, read: true, write: false),
            ]
            Polling.wait(&entries, until: nil, now: MonotonicTime.now.nanoseconds)
            if entries[0].isReadable { wake.clear() }
            guard entries[1].isReadable else { continue }
            switch socket.accept() {
            case .connection(let descriptor):
                number += 1
                take(number, descriptor)
            case .noConnection: break
            case .failed(let error): return .stopped(.other, detail: error.reason)
            }
        }
    }
}
