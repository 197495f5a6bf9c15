import CShims
import Glibc

/// The state of repair of a socket (TCP_REPAIR, tcp(7)): closed in it, the kernel tells the peer nothing. It is made to move connections
/// between machines, and here it is a machine that loses its power.
package enum TCPRepair {
    /// Why no socket can be put into it here; nil if one can.
    package static let obstacle: SystemError? = {
        guard let address = SocketAddress(numeric: "127.0.0.1", port: 0) else { return nil }
        do throws(SystemError) {
            let descriptor = try openSocket(for: address)
            try start(descriptor.raw)
            return nil
        } catch {
            return error
        }
    }()

    static func start(_ raw: Int32) throws(SystemError) {
        var on: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(raw, Int32(IPPROTO_TCP), Int32(PROBE_TCP_REPAIR), &on, length) == 0 else {
            throw SystemError("setsockopt(TCP_REPAIR)")
        }
    }
}
