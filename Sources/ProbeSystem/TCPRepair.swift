import CShims
import Glibc

/// The repair state of a socket (TCP_REPAIR, tcp(7)): when a socket in this state is closed, the kernel sends nothing
/// to the peer. The repair state was designed for moving connections between machines. The harness uses it to simulate
/// a loss of power.
package enum TCPRepair {
    /// The reason why sockets can't be put into repair state on this system; `nil` if they can.
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
