import ProbeBase
import ProbeSystem

/// On a connection of a server with TLS of which the plan does not tell whether it begins so: the peer's first bytes do. Until then, or
/// until a step accepts it, nothing is passed on.
///
/// Confined to the reactor's thread.
final class TLSSniffer: ConnectionLayer {
    private(set) var seen: [UInt8] = []
    /// Puts TLS on the connection, in place of this.
    private let begin: () -> (any ConnectionLayer)?
    private let giveUp: () -> Void

    init(begin: @escaping () -> (any ConnectionLayer)?, giveUp: @escaping () -> Void) {
        (self.begin, self.giveUp) = (begin, giveUp)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at time: MonotonicTime, append: (UnsafeRawBufferPointer) -> Void) {
        seen += bytes
        // The record of a ClientHello (RFC 8446, 5.1).
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
    /// A step says what it begins with: what was held back is there for it.
    func endSniffing() {
        guard let sniffer = layer as? TLSSniffer else { return }
        layer = nil
        if !sniffer.seen.isEmpty { receiveBuffer.append(sniffer.seen, at: .now) }
    }
}
