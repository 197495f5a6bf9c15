import NIOCore
import NIOSSL
import ProbeTransport

/// TLS.
extension NIOSession {
    /// The handshake is read whether or not messages are.
    func secure() {
        (phase, hasTLS) = (.securing, true)
        channel?.setAutoRead(true)
    }

    func secured(_ name: String?) {
        guard case .securing = phase, let channel else { return }
        guard let version = channel.pipeline.syncOperations.agreedVersion else {
            return caught(NIOSSLError.handshakeFailed(.noError))
        }
        report(.secured(version, protocol: name.map { Array($0.utf8) }))
        // The handler may have stopped the transport.
        if case .securing = phase { begin() }
    }

    /// STARTTLS. The decoder of the framing is exchanged: what it holds came in the clear, and nothing of it is delivered.
    func startTLS(_ security: NIOSecurity) throws(TransportError) {
        if hasTLS { throw .alreadyStarted }
        if isHalfClosed { throw .other("half-closed") }
        guard case .open = phase, let channel else { throw hasStarted ? .stopped : .notStarted }
        let pipeline = channel.pipeline.syncOperations
        do {
            let handler = try security.makeHandler()
            secure()
            try framing.replaceDecoder(in: pipeline)
            // It sends the ClientHello as soon as it is in the pipeline.
            // Fails only where no idle timeout was asked for.
            if let idle = try? pipeline.handler(type: IdleStateHandler.self) {
                try pipeline.addHandler(handler, position: .after(idle))
            } else {
                try pipeline.addHandler(handler, position: .first)
            }
        } catch {
            throw .other("\(error)")
        }
    }
}
