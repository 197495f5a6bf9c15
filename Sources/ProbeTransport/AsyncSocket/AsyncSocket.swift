import ProbeSystem
import ProbeBase
import Synchronization

/// The events of an ``AsyncSocket``. The comments name the delegate methods of the Objective-C class AsyncSocket.
enum AsyncSocketEvent: Sendable, Equatable {
    /// didConnectToHost
    case connected
    /// didReadData:withTag:
    case read([UInt8], tag: Int)
    /// didWritePartialDataOfLength:tag:
    case wrotePart(Int, tag: Int)
    /// didWriteDataWithTag:, with the number of bytes since the last part.
    case wrote(Int, tag: Int)
    /// socketDidDisconnect:withError: reported exactly once, as the last event, with the bytes that were not read.
    case disconnected(StopReason, detail: String?, unread: [UInt8])
}

/// A socket with AsyncSocket's interface: reads and writes are queued, each with a tag and a timeout, and answered in
/// order.
///
/// - Reads end at a length or at a delimiter (which is part of the result and must arrive within the limit), or take
///   the bytes that are available. If no read is queued, at most one `recv` (64 KiB) is read from the kernel, so that
///   the peer's window fills.
/// - A read or write that times out ends the connection, as in AsyncSocket. Its time counts from the moment when it
///   became the oldest.
/// - After the peer's FIN, reads are answered from the bytes before the FIN. The connection ends when all bytes are
///   read, or when a read can no longer be answered. Unread bytes are reported with
///   ``AsyncSocketEvent/disconnected(_:detail:unread:)``.
/// - ``disconnectAfterWriting()`` writes what is queued, then sends FIN.
/// - Threads: each started socket has one, which also calls the handler, without holding a lock.
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

    /// Takes over a connection that a listener accepted. If no thread can be started, the socket disconnects.
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

    /// Checks whether a write can be queued.
    ///
    /// - Throws: the error that ``write(_:timeout:tag:)`` would throw now.
    func requireWritable() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.requireSendable() }
    }

    /// Checks whether the connection can accept requests.
    ///
    /// - Throws: an error if it can't.
    func requireOpen() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.requireOpen() }
    }

    /// Disconnects once everything queued has been written. Allowed in any state.
    func disconnectAfterWriting() {
        connection.change { $0.connection.stop(now: MonotonicTime.now.nanoseconds) }
    }

    /// Closes with RST and drops the queued writes. Does nothing after the end.
    func disconnectWithReset() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.reset() }
    }
}
