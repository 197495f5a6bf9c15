import ProbeSystem
import ProbeBase

/// The transport `bsd`: BSD sockets, and a thread with `poll(2)` for each connection.
///
/// - Threads: each started transport has one, which connects, reads, writes and calls the handler. A name is resolved
///   on another thread. The thread ends when the socket is closed. It does not hold the transport: a transport that its
///   owner releases closes its connection and reports nothing (while connecting: at once).
/// - Handler: called on that thread, without a lock held. Every method may be called from it. If `stop()` is called on
///   another thread, an event whose delivery has begun may still arrive after it.
/// - Sending: messages are queued in memory without a limit, and written in order. `sent` counts framed bytes.
/// - Reading: 64 KiB at a time. After `stopReading()` is called in the handler, no further line is delivered, not even
///   one that was already read. FIN and RST are noticed after `resumeReading()`.
/// - The peer's FIN: lines are delivered, then `leftover`. Sent messages are still written (the transport gives up with
///   `timeout` if nothing can be written for a second), then `stopped(eof)` is reported.
/// - With `allowsHalfClose` the peer's FIN is reported as `halfClosed`, after `leftover`. Writing continues until
///   `halfClose()`, which ends in `stopped(eof)`, or `stop()`.
/// - With `discardsTooLong` a message that is too long is reported as `discarded`, and the next one is delivered.
/// - With `highWater`: `full` is reported when the kernel accepts no more and this number of bytes is queued, `drained`
///   when half of that is left.
/// - The peer's RST: what arrived before it is delivered, then `stopped(reset)` is reported, also if a write found it
///   first.
/// - `stop()`: writes the queued messages, sends FIN and reports `stopped(stopped)`. If no byte is taken for a second, it
///   sends RST, because a FIN would mean that the data is complete. Then the socket stays open for up to 250 ms, or
///   while the peer acknowledges, and input is discarded: otherwise unread input would turn the close into an RST,
///   which destroys the last message.
/// - `reset()`: sends RST, drops what was not written, and reports `stopped(stopped)`.
/// - `connectTimeout` includes the resolution of the name and all addresses. `idleTimeout` counts from the last byte
///   received or written, also while reading is stopped. Both end in `stopped(timeout)`.
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
        // Whether sending is possible is checked first, because `invalid` is an error of the message only.
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

    /// Starts the thread of a connection that a listener accepted. If none can be started, the connection stops.
    func serve(accepted socket: CInt) {
        do {
            try connection.startThread(accepted: socket)
        } catch {
            StreamSocket(accepted: socket).abort()
            connection.fail(error)
        }
    }
}
