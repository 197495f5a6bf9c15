import ProbeTransport

/// The transport `flyingsocks`: FlyingFox's `AsyncSocket` in Swift tasks. The library's behavior is exposed without
/// corrections.
///
/// - Connecting: `AsyncSocket.connected(to:timeout:)` is called for the addresses of a name one after another, because
///   FlyingSocks has no resolver. The timeout applies to each address separately. Without a `connectTimeout`,
///   FlyingSocks' own timeout of 5 s applies.
/// - Reading: see ``FlyingSocksReader``. There is no `stopReading()`, because cancelling a read loses its bytes.
/// - Writing: `write(_:)` is called for one message after another, and `sent` is reported when a message has been
///   written.
/// - After the peer's FIN, queued messages are still written. FlyingSocks has no half-close, so `stop()` writes the
///   queued messages, for at most two seconds, and closes the descriptor. If there is unread input, the kernel then
///   sends an RST.
final class FlyingSocksTransport: Transport {
    private let session: FlyingSocksSession

    init(_ session: FlyingSocksSession) {
        self.session = session
    }

    deinit {
        if session.lifecycle.end() { session.abandon() }
    }

    func start() throws(TransportError) {
        try session.lifecycle.start()
        session.start()
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        try session.lifecycle.requireSendable()
        try session.send(message)
    }

    func stop() throws(TransportError) {
        if session.lifecycle.end() { session.stop() }
    }
}
