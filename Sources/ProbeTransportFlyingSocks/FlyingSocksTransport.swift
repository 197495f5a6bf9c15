import ProbeTransport

/// The transport `flyingsocks`: FlyingFox's `AsyncSocket`, in Swift tasks. What FlyingSocks does is reported as it is.
///
/// - Connecting: `AsyncSocket.connected(to:timeout:)`, for a name's addresses one after the other: FlyingSocks has no resolver. The
///   timeout is that of each; without a `connectTimeout` its own of 5 s holds.
/// - Reading: see ``FlyingSocksReader``. A read that is under way can't be taken back without losing what it has, so that there is no
///   `stopReading()`.
/// - Writing: `write(_:)`, a message after the other; `sent` comes when one is written.
/// - On the peer's FIN what was sent is still written. FlyingSocks has no half-close: `stop()` writes what was sent, for at most two
///   seconds, and closes the descriptor; where input is unread, that is an RST.
final class FlyingSocksTransport: Transport {
    private let session: FlyingSocksSession

    init(_ session: FlyingSocksSession) {
        self.session = session
    }

    deinit {
        if session.life.end() { session.abandon() }
    }

    func start() throws(TransportError) {
        try session.life.start()
        session.start()
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        try session.life.requireSendable()
        try session.send(message)
    }

    func stop() throws(TransportError) {
        if session.life.end() { session.stop() }
    }
}
