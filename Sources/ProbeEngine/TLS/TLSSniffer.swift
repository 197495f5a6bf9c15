import ProbeBase
import ProbeSystem

/// Detects TLS by the peer's first bytes, on a server's connection for which the plan does not determine whether TLS is
/// used. Until TLS is detected or a step accepts the connection, received bytes are held back.
///
/// This type is confined to the reactor's thread.
final class TLSSniffer: ConnectionLayer {
    private(set) var seen: [UInt8] = []
    /// Replaces the sniffer with a TLS layer, and returns the new layer.
    private let begin: () -> (any ConnectionLayer)?
    private let giveUp: () -> Void

    init(begin: @escaping () -> (any ConnectionLayer)?, giveUp: @escaping () -> Void) {
        (self.begin, self.giveUp) = (begin, giveUp)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        seen += bytes
        // The first bytes of a record that contains a ClientHello (RFC 8446, section 5.1).
        if seen.count == 1, seen[0] == 22 { return }
        if seen.count > 1, seen[0] == 22, seen[1] == 3, let layer = begin() {
            seen.withUnsafeBytes { layer.receive($0, at: time, append: append) }
        } else {
            giveUp()
            seen.withUnsafeBytes(append)
        }
        seen = []
    }

    func receiveEnd(at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        giveUp()
        seen.withUnsafeBytes(append)
        seen = []
    }

    var held: Int { 0 }
    var awaitsAnswer: Bool { false }
}

extension Connection {
    /// Ends sniffing because a step specifies whether the connection begins with TLS. The bytes held back so far become
    /// available to the step.
    func endSniffing() {
        guard let sniffer = layer as? TLSSniffer else { return }
        layer = nil
        if !sniffer.seen.isEmpty { receiveBuffer.append(sniffer.seen, at: .now) }
    }
}
