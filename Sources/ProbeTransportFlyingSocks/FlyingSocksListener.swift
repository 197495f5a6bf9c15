import FlyingSocks
import Glibc
import ProbeTransport
import Synchronization

/// Accepts connections from `AsyncSocket.sockets` in a separate task.
final class FlyingSocksListener: TransportListener {
    let port: UInt16
    private let task: Task<Void, Never>
    /// Whether the owner has released the listener. If so, the end of the listener is not reported.
    private let isSilent: SilenceFlag

    /// A flag that the listener shares with its task, because the task must not keep the listener alive.
    private final class SilenceFlag: Sendable {
        let value = Mutex(false)
    }

    init(
        _ configuration: TransportConfiguration, framing: FlyingSocksFraming, handler: @escaping TransportHandler,
        accepted: @escaping @Sendable (_ number: Int) -> TransportHandler
    ) throws(TransportError) {
        let socket: Socket
        let addresses = try HostAddresses.look(configuration.host)
        do {
            (socket, port) = try Self.listen(addresses[0], port: configuration.port)
        } catch {
            throw .other("\(configuration.host):\(configuration.port): \(error)")
        }
        let isSilent = SilenceFlag()
        self.isSilent = isSilent
        task = Task {
            var failure = FlyingSocksFailure(.stopped)
            do {
                let listener = try await AsyncSocket(socket: socket, pool: .client)
                var number = 0
                for try await connection in listener.sockets {
                    number += 1
                    let session = FlyingSocksSession(
                        configuration, framing: framing, lifecycle: TransportLifecycle(isStarted: true),
                        handler: accepted(number)
                    )
                    handler(.accepted(FlyingSocksTransport(session)))
                    session.start(accepted: connection)
                }
            } catch {
                if !Task.isCancelled { failure = FlyingSocksFailure(error) }
            }
            func report() {
                if !isSilent.value.withLock({ $0 }) { handler(.stopped(failure.reason, detail: failure.detail)) }
            }
            // A failure is reported before the socket is closed, so that the report precedes the refusal of any client.
            if failure.reason != .stopped { report() }
            // `close` fails only if the socket is already closed.
            try? socket.close()
            if failure.reason == .stopped { report() }
        }
    }

    deinit {
        isSilent.value.withLock { $0 = true }
        task.cancel()
    }

    func stop() {
        task.cancel()
    }

    private static func listen(_ host: String, port: UInt16) throws -> (Socket, UInt16) {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        let socket = try Socket(domain: isIPv6 ? AF_INET6 : AF_INET, type: .stream)
        try closing(socket) {
            try socket.setValue(true, for: .localAddressReuse)
            if isIPv6 {
                try socket.bind(to: .inet6(ip6: host, port: port))
            } else {
                try socket.bind(to: .inet(ip4: host, port: port))
            }
        }
        // `listen` closes the socket if it fails.
        try socket.listen()
        return (socket, try closing(socket) { try boundPort(of: socket) })
    }

    private static func boundPort(of socket: Socket) throws -> UInt16 {
        switch try socket.sockname() {
        case .ip4(_, let port), .ip6(_, let port): port
        case .unix: throw SocketError.unsupportedAddress
        }
    }

    /// Runs the body, and closes the socket if the body throws.
    private static func closing<Result>(_ socket: Socket, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            // An error from `close` is ignored, because only the first error is reported.
            try? socket.close()
            throw error
        }
    }
}
