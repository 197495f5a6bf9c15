import ProbeSystem
import ProbeBase
import Synchronization

/// The events of an ``AsyncSocket``. Each event corresponds to a delegate method of the Objective-C class AsyncSocket.
enum AsyncSocketEvent: Sendable, Equatable {
    /// The connection is established (`didConnectToHost`).
    case connected
    /// A read was completed (`didReadData:withTag:`).
    case read([UInt8], tag: Int)
    /// The kernel has accepted part of a write (`didWritePartialDataOfLength:tag:`).
    case wrotePart(Int, tag: Int)
    /// The kernel has accepted the last bytes of a write (`didWriteDataWithTag:`). The number of bytes does not include
    /// the parts that were reported before.
    case wrote(Int, tag: Int)
    /// The connection has ended (`socketDidDisconnect:withError:`). Reported exactly once, as the last event, with the
    /// received bytes that no read has returned.
    case disconnected(StopReason, detail: String?, unread: [UInt8])
}

/// A socket with the interface of the Objective-C class AsyncSocket: reads and writes are queued, each with a tag and a
/// timeout, and completed in order.
///
/// - A read ends after a given length or at a delimiter (which is part of the result and must arrive within the limit),
///   or returns the bytes that are available. While no read is queued, at most one `recv` (64 KiB) is made, so that
///   unread data fills the receive window.
/// - A read or write that times out ends the connection, as in the original class. Its timeout starts when it becomes
///   the oldest read or write in its queue.
/// - After the peer's FIN, reads return the bytes that arrived before the FIN. The connection ends when all these bytes
///   have been read, or when a read can no longer be completed. Unread bytes are reported with
///   ``AsyncSocketEvent/disconnected(_:detail:unread:)``.
/// - ``disconnectAfterWriting()`` writes the queued data, then sends a FIN.
/// - Each started socket has a thread, which also calls the handler, without holding a lock.
final class AsyncSocket: Sendable {
    typealias Handler = @Sendable (AsyncSocketEvent) -> Void

    private let connection: AsyncSocketConnection

    /// Creates a socket that has not been started.
    ///
    /// - Parameter limit: the maximum number of bytes before a delimiter.
    init(_ state: BSDConnectionState, ends: ConnectionEnds, limit: Int, handler: @escaping Handler) {
        connection = AsyncSocketConnection(
            AsyncSocketState(state, limit: limit), ends: ends, handler: handler)
    }

    deinit {
        connection.change { $0.connection.abandon(now: MonotonicTime.now.nanoseconds) }
    }

    /// Connects; `connected` or `disconnected` reports the result.
    func connect() throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.connection.start(now: MonotonicTime.now.nanoseconds)
        }
        do {
            try connection.startThread()
        } catch {
            connection.change { $0.connection.cancelStart() }
            throw .other(error.reason)
        }
    }

    /// Takes over a connection that a listener accepted. If no thread can be started, the connection is aborted, and
    /// `disconnected` is reported.
    func serve(accepted socket: CInt) {
        do {
            try connection.startThread(accepted: socket)
        } catch {
            StreamSocket(accepted: socket).abort()
            connection.fail(error)
        }
    }

    /// Queues a read.
    ///
    /// - Parameter timeout: the timeout in nanoseconds; `nil` for none.
    func read(_ wanted: TransportRead, timeout: Int64?, tag: Int) throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.read(.init(wanted: wanted, timeout: timeout, tag: tag), now: MonotonicTime.now.nanoseconds)
        }
    }

    /// Queues a write. Does nothing if `bytes` is empty.
    ///
    /// - Parameter timeout: the timeout in nanoseconds; `nil` for none.
    func write(_ bytes: [UInt8], timeout: Int64?, tag: Int) throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.write(bytes, timeout: timeout, tag: tag, now: MonotonicTime.now.nanoseconds)
        }
    }

    /// Checks that a write can be queued.
    ///
    /// - Throws: the error that ``write(_:timeout:tag:)`` would throw now.
    func requireWritable() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.requireSendable() }
    }

    /// Checks that the connection can accept requests.
    ///
    /// - Throws: an error that states why the connection can't accept requests.
    func requireOpen() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.requireOpen() }
    }

    /// Disconnects once all queued writes are complete. Allowed in any state.
    func disconnectAfterWriting() {
        connection.change { $0.connection.stop(now: MonotonicTime.now.nanoseconds) }
    }

    /// Closes the connection with an RST and drops the queued writes. Does nothing after `disconnected`.
    func disconnectWithReset() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.reset() }
    }
}
