import ProbeSystem
import ProbeBase
import Synchronization

/// What an ``AsyncSocket`` tells its owner; the comments name AsyncSocket's delegate methods.
enum AsyncSocketEvent: Sendable, Equatable {
    /// didConnectToHost
    case connected
    /// didReadData:withTag:
    case read([UInt8], tag: Int)
    /// didWritePartialDataOfLength:tag:
    case wrotePart(Int, tag: Int)
    /// didWriteDataWithTag: with the bytes since the last part.
    case wrote(Int, tag: Int)
    /// socketDidDisconnect:withError: exactly once, and nothing after it; with the bytes that nobody read.
    case disconnected(StopReason, detail: String?, unread: [UInt8])
}

/// A socket of AsyncSocket's model: reads and writes are queued, each with a tag and a timeout of its own, and answered in order.
///
/// - Reading: to a length, to a delimiter (which is part of the answer, and must come within the limit) or whatever there is. Nothing
///   is read from the kernel beyond one read in hand (64 KiB) while nobody asks, so that the peer feels it.
/// - A read or write that runs out of time ends the connection, as in AsyncSocket; its time counts from when it became the oldest.
/// - The peer's FIN: reads are answered from what came before it; the connection ends when all of it is read, or when a read can't
///   be answered any more. What nobody read comes with ``AsyncSocketEvent/disconnected(_:detail:unread:)``.
/// - ``disconnectAfterWriting()`` writes what was queued, then FIN.
/// - Threads: one of its own for each socket that was started, which also calls the handler, without a lock held.
final class AsyncSocket: Sendable {
    typealias Handler = @Sendable (AsyncSocketEvent) -> Void

    private let connection: AsyncSocketConnection

    /// A socket in the state initialised.
    ///
    /// - Parameter limit: how many bytes may come before a delimiter.
    init(_ state: BSDConnectionState, host: String, port: UInt16, limit: Int, handler: @escaping Handler) {
        connection = AsyncSocketConnection(
            AsyncSocketState(state, limit: limit), host: host, port: port, handler: handler)
    }

    deinit {
        connection.change { $0.connection.abandon(now: MonotonicTime.now.nanoseconds) }
    }

    /// Connects; the outcome comes as `connected` or `disconnected`.
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

    /// Takes over a connection that a listener accepted. Where there is no thread to be had, it disconnects.
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
    /// - Parameter timeout: nanoseconds; nil: for ever.
    func read(_ wanted: TransportRead, timeout: Int64?, tag: Int) throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.read(.init(wanted: wanted, timeout: timeout, tag: tag), now: MonotonicTime.now.nanoseconds)
        }
    }

    /// Queues a write; without bytes it does nothing.
    ///
    /// - Parameter timeout: nanoseconds; nil: for ever.
    func write(_ bytes: [UInt8], timeout: Int64?, tag: Int) throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.write(bytes, timeout: timeout, tag: tag, now: MonotonicTime.now.nanoseconds)
        }
    }

    /// - Throws: what a ``write(_:timeout:tag:)`` would now.
    func requireWritable() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.connection.requireSendable() }
    }

    /// Legal in any state.
    func disconnectAfterWriting() {
        connection.change { $0.connection.stop(now: MonotonicTime.now.nanoseconds) }
    }
}
