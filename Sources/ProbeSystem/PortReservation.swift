import Glibc

/// Keeps a free port for several processes of this user that listen on it later (SO_REUSEPORT): a socket that is bound and does not
/// listen. Who connects meanwhile is refused.
package final class PortReservation {
    package let address: SocketAddress
    private let descriptor: OwnedDescriptor

    /// - Parameter host: the kernel chooses the port.
    package init(on host: SocketAddress) throws(SystemError) {
        let socket = try openSocket(for: host)
        let raw = socket.raw
        var on: Int32 = 1
        setsockopt(raw, SOL_SOCKET, SO_REUSEPORT, &on, 4)
        if host.with(port: 0).withSystemAddress({ bind(raw, $0, $1) }) < 0 { throw SystemError("bind") }
        guard let bound = SocketAddress.local(of: raw) else { throw SystemError("getsockname") }
        address = bound
        descriptor = socket
    }
}
