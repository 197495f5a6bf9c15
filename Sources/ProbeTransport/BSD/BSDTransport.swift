import ProbeSystem
import ProbeBase

/// The transport `bsd`: plain BSD sockets, and a thread of its own with `poll(2)`.
///
/// - Threads: one for each transport that was started, which connects, reads, writes and calls the handler; a name is looked up on
///   another. The thread ends when the socket is closed. It does not hold the transport: a transport that nobody holds any more
///   closes its connection without a word (while connecting: at once).
/// - Handler: called from that thread, without a lock held; every method may be called from within it. When `stop()` comes from
///   another thread, an event whose delivery had begun may still arrive after it.
/// - Sending: messages are queued in memory without a bound, and written in order. `sent` counts framed bytes.
/// - Reading: 64 KiB at a time. After `stopReading()` called from the handler no further line is delivered, not even of a read in
///   hand; FIN and RST are noticed on `resumeReading()`.
/// - The peer's FIN: lines, then `leftover`, then what was sent is still written (the transport gives up with `timeout` when
///   nothing can be written for a second), then `stopped(eof)`.
/// - The peer's RST: what came before it is delivered, then `stopped(reset)`, also when a write found it first.
/// - `stop()`: writes what was sent (an RST after one second without a byte taken, rather than a FIN that calls it complete), FIN,
///   `stopped(stopped)`; then the socket stays for up to 250 ms, or as long as the peer goes on acknowledging, and what comes
///   is thrown away, so that unread input does not turn the close into an RST that destroys the last message.
/// - `connectTimeout` covers the name's lookup and all addresses. `idleTimeout` counts from the last byte received or written,
///   and not while reading is stopped with nothing waiting to be written. Both end in `stopped(timeout)`.
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
        // Who may not send learns that first: `invalid` is about the message alone.
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

    /// Starts the thread of a connection that a listener accepted. Where there is none to be had, the connection stops.
    func serve(accepted socket: CInt) {
        do {
            try connection.startThread(accepted: socket)
        } catch {
            StreamSocket(accepted: socket).abort()
            connection.fail(error)
        }
    }
}
