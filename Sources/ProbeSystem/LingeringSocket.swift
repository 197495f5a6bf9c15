import CShims
import Glibc
import ProbeBase

/// The socket of a connection that the script has closed. The socket has sent its FIN, but stays open until the peer
/// has responded or closed its side. The peer of a TLS connection responds with its own close_notify, and a socket that
/// had already been closed would answer the close_notify with an RST.
///
/// The socket answers data with an RST, as a closed socket does.
final class LingeringSocket {
    private var descriptor: OwnedDescriptor?
    private let layer: any ConnectionLayer
    private let reactor: Reactor
    private var timer: TimerQueue.ID?

    /// The time to wait for the peer, so that an unresponsive peer does not occupy a descriptor for the rest of the
    /// case.
    private static let timeout = Duration.seconds(2)

    init(_ descriptor: consuming OwnedDescriptor, _ layer: any ConnectionLayer, on reactor: Reactor) {
        (self.layer, self.reactor) = (layer, reactor)
        if reactor.isRegistered(descriptor.raw) { reactor.unregister(descriptor.raw) }
        // Bytes that have already arrived were sent before the peer could know of the close, so they do not count as
        // data after the end.
        var rounds = 0
        while rounds < 64, let count = receive(descriptor.raw).count, count > 0 { rounds += 1 }
        guard layer.awaitsAnswer else { return }
        do throws(SystemError) {
            try reactor.register(descriptor.raw, for: .read) { [weak self] _ in self?.takeAnswer() }
            self.descriptor = consume descriptor
            timer = reactor.schedule(at: .now + Self.timeout) { [weak self] in self?.end() }
        } catch {
            // The socket can't be watched, so it is closed immediately.
        }
    }

    deinit { end() }

    /// Stops waiting for the peer's response.
    func end() {
        if let timer { reactor.cancel(timer) }
        timer = nil
        guard let descriptor = descriptor.take() else { return }
        reactor.unregister(descriptor.raw)
    }

    private func takeAnswer() {
        guard let descriptor = descriptor.take() else { return }
        let (count, isData) = receive(descriptor.raw)
        if count != 0, !isData, layer.awaitsAnswer {
            self.descriptor = consume descriptor
            return
        }
        reactor.unregister(descriptor.raw)
        guard isData else { return }
        var reset = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads from the socket.
    ///
    /// - Returns: the number of bytes received, and whether any of them were data. The number is `nil` if no bytes have
    ///   arrived yet, and 0 at the end of the connection.
    private func receive(_ raw: Int32) -> (count: Int?, isData: Bool) {
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
            let count = recv(raw, buffer.baseAddress, buffer.count, 0)
            if count < 0 { return (errno == EAGAIN || errno == EINTR ? nil : 0, false) }
            var isData = false
            layer.receive(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), at: .now) { _ in isData = true }
            return (count, isData)
        }
    }
}
