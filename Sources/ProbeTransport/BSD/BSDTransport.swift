import ProbeSystem
import ProbeBase

/// The transport `bsd`: BSD sockets, with a thread that calls `poll(2)` for each connection.
///
/// - Threads: each started transport has a thread that connects, reads, writes and calls the handler. A name is
///   resolved on another thread. The transport's thread ends when the socket is closed. The thread does not keep the
///   transport alive: when the owner releases the transport, the connection is closed (or the connection attempt is
///   aborted), and nothing is reported.
/// - Handler: called on the transport's thread, without a lock held. The handler may call every method of the
///   transport. If `stop()` is called on another thread, an event whose delivery has begun may still arrive after the
///   call.
/// - Sending: messages are queued in memory without a limit, and written in order. `sent` counts framed bytes.
/// - Reading: up to 64 KiB at a time. After `stopReading()` is called in the handler, no further line is delivered, not
///   even a line that was already read. While reading is stopped, FIN and RST are not noticed.
/// - The peer's FIN: complete lines are delivered, then `leftover`. Queued messages are still written (the transport
///   gives up with `timeout` if nothing can be written for a second), then `stopped(eof)` is reported.
/// - With `allowsHalfClose`, the peer's FIN is reported as `halfClosed`, after `leftover`. Writing continues until
///   `halfClose()`, which ends in `stopped(eof)`, or `stop()`.
/// - With `discardsTooLong`, a message that is too long is reported as `discarded`, and the next message is delivered.
/// - With `highWater`, `full` is reported when the kernel accepts no more bytes and at least `highWater` bytes are
///   queued. `drained` is reported when at most half of that number is queued.
/// - The peer's RST: the bytes that arrived before it are delivered, then `stopped(reset)` is reported, even if a write
///   detected the RST first.
/// - `stop()`: writes the queued messages, sends a FIN and reports `stopped(stopped)`. If the kernel accepts no byte
///   for a second, the transport sends an RST, because a FIN would mean that the data is complete. After a FIN, the
///   socket stays open for up to 250 ms, or for as long as the peer acknowledges data, and input is discarded.
///   Otherwise, unread input would turn the close into an RST, which would destroy the last message.
/// - `reset()`: sends an RST, drops the unwritten messages, and reports `stopped(stopped)`.
/// - `connectTimeout` covers the resolution of the name and the attempts for all addresses. `idleTimeout` counts from
///   the last byte received or written, even while reading is stopped. Both timeouts result in `stopped(timeout)`.
final class BSDTransport: Transport {
    private let connection: BSDConnection

    init(_ connection: BSDConnection) {
        self.connection = connection
    }

    deinit {
        connection.change { $0.abandon(now: MonotonicTime.now.nanoseconds) }
    }

    func start() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.start(now: MonotonicTime.now.nanoseconds) }
        do {
            try connection.startThread()
        } catch {
            connection.change { $0.cancelStart() }
            throw .other(error.reason)
        }
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        // An invalid message is reported only after the state has been checked, because `invalid` means that only the
        // message is at fault.
        let frame: [UInt8]?
        do {
            frame = try connection.framing.encode(message)
        } catch {
            frame = nil
        }
        try connection.change { state throws(TransportError) in
            if let frame {
                try state.send(frame, now: MonotonicTime.now.nanoseconds)
            } else {
                try state.requireSendable()
                throw .invalid
            }
        }
    }

    func halfClose() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.halfClose() }
    }

    func stopReading() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.stopReading() }
    }

    func resumeReading() throws(TransportError) {
        try connection.change { state throws(TransportError) in
            try state.resumeReading(now: MonotonicTime.now.nanoseconds)
        }
    }

    func stop() throws(TransportError) {
        connection.change { $0.stop(now: MonotonicTime.now.nanoseconds) }
    }

    func setFraming(_ framing: TransportFraming) throws(TransportError) {
        let new = try connection.framing.changed(to: framing)
        try connection.change { state throws(TransportError) in
            try state.requireOpen()
            connection.setFraming(new)
        }
    }

    func reset() throws(TransportError) {
        try connection.change { state throws(TransportError) in try state.reset() }
    }

    /// Starts the thread of a connection that a listener accepted. If no thread can be started, the connection stops.
    func serve(accepted socket: CInt) {
        do {
            try connection.startThread(accepted: socket)
        } catch {
            StreamSocket(accepted: socket).abort()
            connection.fail(error)
        }
    }
}
