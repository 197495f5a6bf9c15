import Dispatch
import FlyingSocks
import Foundation
import ProbeTransport
import Synchronization

/// One connection, served by three tasks: one reads, one writes, and one waits until the connection ends.
final class FlyingSocksSession: Sendable {
    /// The reason why a connection ends.
    private enum End: Sendable {
        /// The owner stopped the connection. The queued messages are written first.
        case asked
        case read(FlyingSocksFailure)
        /// All messages have been written, and no more can be sent.
        case written
        case write(FlyingSocksFailure)
        case timedOut
    }

    let lifecycle: TransportLifecycle
    private let configuration: TransportConfiguration
    private let framing: FlyingSocksFraming
    private let reports: FlyingSocksReports
    private let messages = AsyncStream.makeStream(of: [UInt8].self)
    private let ends = AsyncStream.makeStream(of: End.self)
    private let connecting = Mutex<Task<AsyncSocket, any Error>?>(nil)

    /// The maximum time for writing the queued messages before the connection is closed.
    private static let timeout = Duration.seconds(2)

    init(
        _ configuration: TransportConfiguration, framing: FlyingSocksFraming, lifecycle: TransportLifecycle,
        handler: @escaping TransportHandler
    ) {
        self.configuration = configuration
        self.framing = framing
        self.lifecycle = lifecycle
        reports = FlyingSocksReports(lifecycle, handler: handler)
    }

    // MARK: Requests of the owner

    /// Starts connecting.
    func start() {
        let configuration = configuration
        let task = Task { try await Self.connect(configuration) }
        connecting.withLock { $0 = task }
        Task {
            switch await task.result {
            case .success(let socket): await serve(socket)
            case .failure(let error):
                let isWanted = lifecycle.isOpen
                let failure = isWanted ? FlyingSocksFailure(connecting: error) : FlyingSocksFailure(.stopped)
                await reports.report(.stopped(failure.reason, detail: failure.detail))
            }
        }
    }

    /// Takes over an accepted connection.
    func start(accepted socket: AsyncSocket) {
        Task { await serve(socket) }
    }

    /// Queues a message.
    ///
    /// - Throws: `invalid` if the message is too long for its length prefix.
    func send(_ message: [UInt8]) throws(TransportError) {
        messages.continuation.yield(try framing.encode(message))
    }

    func stop() {
        messages.continuation.finish()
        ends.continuation.yield(.asked)
        connecting.withLock { $0 }?.cancel()
    }

    /// Stops the connection like ``stop()``, but without reporting any further event.
    func abandon() {
        reports.silence()
        stop()
    }

    // MARK: The connection

    /// Connects. FlyingSocks has no resolver, so the system resolves the name, and the resulting addresses are tried
    /// one after another.
    private static func connect(_ configuration: TransportConfiguration) async throws -> AsyncSocket {
        let port = configuration.port
        let timeout = configuration.connectTimeout.map { $0 / .seconds(1) }
        var failure: (any Error)?
        for host in try await addresses(of: configuration.host) {
            try Task.checkCancellation()
            do {
                if host.utf8.contains(UInt8(ascii: ":")) {
                    return try await connect(.inet6(ip6: host, port: port), timeout)
                }
                return try await connect(.inet(ip4: host, port: port), timeout)
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? FlyingSocksFailure(.other, "no address")
    }

    private static func addresses(of host: String) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            // Name resolution runs on a queue because it blocks, and tasks share only a few threads.
            DispatchQueue.global().async {
                do throws(TransportError) {
                    continuation.resume(returning: try HostAddresses.look(host))
                } catch {
                    continuation.resume(throwing: FlyingSocksFailure(.other, error.code))
                }
            }
        }
    }

    /// Connects to one address. If `timeout` is `nil`, FlyingSocks' own timeout of 5 s applies.
    private static func connect(
        _ address: some SocketAddress, _ timeout: TimeInterval?
    ) async throws -> AsyncSocket {
        guard let timeout else { return try await AsyncSocket.connected(to: address) }
        // The timeout is limited because FlyingSocks converts it to a 64-bit number of nanoseconds and traps on
        // overflow.
        return try await AsyncSocket.connected(to: address, timeout: min(timeout, 100 * 365 * 24 * 3600))
    }

    private func serve(_ socket: AsyncSocket) async {
        await reports.report(.started)
        let reading = Task { await read(from: socket) }
        let writing = Task { await write(to: socket) }
        var timer: Task<Void, Never>?
        var reason: FlyingSocksFailure?
        waiting: for await end in ends.stream {
            switch end {
            case .asked:
                reason = FlyingSocksFailure(.stopped)
                timer = timer ?? patienceTimer()
            case .read(let failure):
                guard reason == nil else { continue }
                reason = failure
                if failure.reason != .eof { break waiting }
                messages.continuation.finish()
                timer = timer ?? patienceTimer()
            case .written: break waiting
            case .write(let failure):
                reason = reason?.reason == .stopped ? reason : failure
                break waiting
            case .timedOut:
                if reason?.reason == .eof {
                    reason = FlyingSocksFailure(.timeout, "not everything was written: the peer does not read")
                }
                break waiting
            }
        }
        timer?.cancel()
        reading.cancel()
        writing.cancel()
        await reading.value
        await writing.value
        // `close` fails only if the socket is already closed.
        try? socket.close()
        let last = lifecycle.isOpen ? reason ?? FlyingSocksFailure(.other) : FlyingSocksFailure(.stopped)
        await reports.report(.stopped(last.reason, detail: last.detail))
    }

    private func patienceTimer() -> Task<Void, Never> {
        let ends = ends.continuation
        return Task {
            do {
                try await Task.sleep(for: Self.timeout)
                ends.yield(.timedOut)
            } catch {
                // The timer was cancelled, so it has not expired.
            }
        }
    }

    private func read(from socket: AsyncSocket) async {
        var reader = FlyingSocksReader(socket, framing: framing)
        do {
            while true {
                try Task.checkCancellation()
                guard let event = try await reader.next() else { throw SocketError.disconnected }
                await reports.report(event)
            }
        } catch is CancellationError {
            // The task was cancelled because the connection is being closed.
        } catch {
            if !reader.leftover.isEmpty { await reports.report(.leftover(reader.leftover)) }
            ends.continuation.yield(.read(FlyingSocksFailure(error)))
        }
    }

    private func write(to socket: AsyncSocket) async {
        do {
            for await message in messages.stream {
                try Task.checkCancellation()
                try await socket.write(Data(message))
                await reports.report(.sent(message.count))
            }
            ends.continuation.yield(.written)
        } catch is CancellationError {
            // The task was cancelled because the connection is being closed.
        } catch {
            ends.continuation.yield(.write(FlyingSocksFailure(error)))
        }
    }
}

/// Reports the events of a connection, one at a time, and none after `stopped`.
actor FlyingSocksReports {
    private let lifecycle: TransportLifecycle
    /// The handler; `nil` after the last event. The handler is released after that event, because it may hold the
    /// transport.
    private var handler: TransportHandler?
    private let isSilent = Mutex(false)

    init(_ lifecycle: TransportLifecycle, handler: @escaping TransportHandler) {
        self.lifecycle = lifecycle
        self.handler = handler
    }

    nonisolated func silence() {
        isSilent.withLock { $0 = true }
    }

    func report(_ event: TransportEvent) {
        let receiver = isSilent.withLock { $0 } ? nil : handler
        if case .stopped = event {
            lifecycle.end()
            handler = nil
            receiver?(event)
        } else if lifecycle.isOpen {
            receiver?(event)
        }
    }
}
