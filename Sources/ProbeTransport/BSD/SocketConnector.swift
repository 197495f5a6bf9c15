import ProbeSystem
import ProbeBase
import Glibc

/// Connects on the calling thread: resolves the host and tries its addresses concurrently ("Happy Eyeballs").
final class SocketConnector {
    enum Outcome {
        case connected(StreamSocket)
        case failed(ConnectRace.Failure)
        /// The owner has cancelled the attempt.
        case abandoned
    }

    /// The result of the read by which a new connection was checked for an error. Any bytes read are in the buffer.
    private(set) var firstRead: StreamSocket.Outcome?

    private let ends: ConnectionEnds
    private let wake: WakeDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private let deadline: () -> Int64?

    /// Creates a connector.
    ///
    /// - Parameters:
    ///   - wake: interrupts the wait, so that `deadline` is called again.
    ///   - buffer: the buffer for the first read from the connected socket. It must outlive the connector.
    ///   - deadline: called before each wait; returns `nil` if the owner has cancelled the attempt.
    init(
        _ ends: ConnectionEnds, wake: WakeDescriptor, buffer: UnsafeMutableRawBufferPointer,
        deadline: @escaping () -> Int64?
    ) {
        self.ends = ends
        self.wake = wake
        self.buffer = buffer
        self.deadline = deadline
    }

    /// Waits until a connection is established or all attempts have failed.
    func connect() -> Outcome {
        if let path = ends.path { return connect(to: path) }
        let wake = wake
        let lookup = NameResolution(host: ends.host, port: ends.port) { wake.wake() }
        while true {
            guard let deadline = deadline() else { return .abandoned }
            switch lookup.result {
            case .success(let addresses):
                let usable = ends.ordered(addresses)
                guard usable.isEmpty, !addresses.isEmpty else { return race(usable) }
                let detail = "\(ends.host): no address that can be reached from \(ends.local?.host ?? "here")"
                return .failed(ConnectRace.Failure(reason: .other, detail: detail))
            case .failure(let failure): return .failed(ConnectRace.Failure(reason: .other, detail: failure.detail))
            case nil:
                var entries = [Polling.entry(wake.descriptor, read: true, write: false)]
                Polling.wait(&entries, until: deadline, now: MonotonicTime.now.nanoseconds)
                if entries[0].isReadable { wake.clear() }
            }
        }
    }

    /// Connects to a Unix socket, which succeeds or fails at once. While the listener's queue is full, the attempt is
    /// repeated every few milliseconds, because the kernel does not report when the queue has room again.
    private func connect(to path: SocketAddress) -> Outcome {
        while let deadline = deadline() {
            do throws(SystemError) {
                let socket = try StreamSocket(family: path.family)
                switch socket.connect(to: path) {
                case .bytes: return .connected(socket)
                case .failed(let error) where error.code != EAGAIN: throw error
                case .failed, .wouldBlock: break
                }
            } catch {
                return .failed(failure(error, path))
            }
            var entries = [Polling.entry(wake.descriptor, read: true, write: false)]
            let now = MonotonicTime.now.nanoseconds
            Polling.wait(&entries, until: min(deadline, now + 5_000_000), now: now)
            if entries[0].isReadable { wake.clear() }
        }
        return .abandoned
    }

    private typealias Attempt = (socket: StreamSocket, address: SocketAddress)

    private func race(_ addresses: [SocketAddress]) -> Outcome {
        var race = ConnectRace(addressCount: addresses.count)
        var attempts: [Attempt] = []
        while true {
            guard let deadline = deadline() else { return .abandoned }
            while let index = race.next(now: MonotonicTime.now.nanoseconds) {
                let address = addresses[index]
                do throws(SystemError) {
                    let socket = try StreamSocket(family: address.family)
                    try socket.bind(to: ends.local, interface: ends.interface)
                    // An attempt that succeeds at once needs no special case, because the `poll` below reports it as
                    // ready.
                    if case .failed(let error) = socket.connect(to: address) { throw error }
                    attempts.append((socket, address))
                } catch {
                    race.attemptFailed(failure(error, address), now: MonotonicTime.now.nanoseconds)
                }
            }
            if let failure = race.outcome { return .failed(failure) }
            var entries = [Polling.entry(wake.descriptor, read: true, write: false)]
            entries += attempts.map { Polling.entry($0.socket.descriptor, read: false, write: true) }
            Polling.wait(&entries, until: min(deadline, race.deadline ?? .max), now: MonotonicTime.now.nanoseconds)
            if entries[0].isReadable { wake.clear() }
            for index in attempts.indices.reversed() where entries[index + 1].revents != 0 {
                let attempt = attempts[index]
                guard let failed = failure(of: attempt, entries[index + 1]) else { return .connected(attempt.socket) }
                attempts.remove(at: index)
                attempt.socket.shut()
                race.attemptFailed(failed, now: MonotonicTime.now.nanoseconds)
            }
        }
    }

    /// Returns the reason why an attempt failed, after `poll` has reported its result. Returns `nil` if the attempt
    /// succeeded, even if the peer has since reset the connection.
    ///
    /// The error is read with `recv` instead of SO_ERROR, because reading SO_ERROR would consume the reset of an
    /// established connection.
    private func failure(of attempt: Attempt, _ entry: pollfd) -> ConnectRace.Failure? {
        if attempt.socket.isConnectedToItself {
            let detail = "\(attempt.address): connected to itself, because no socket is listening"
            return ConnectRace.Failure(reason: .refused, detail: detail)
        }
        guard entry.hasFailed else { return nil }
        let outcome = attempt.socket.receive(into: buffer)
        if case .failed(let error) = outcome, error.code != ECONNRESET { return failure(error, attempt.address) }
        if outcome != .wouldBlock { firstRead = outcome }
        return nil
    }

    private func failure(_ error: SystemError, _ address: SocketAddress) -> ConnectRace.Failure {
        let reason: StopReason =
            switch error.stopReason {
            case .refused, .timeout: error.stopReason
            default: .other
            }
        return ConnectRace.Failure(reason: reason, detail: "\(address): \(error.reason)")
    }
}
