import Glibc

/// A non-blocking UDP socket.
package final class DatagramSocket {
    private let owned: OwnedDescriptor
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    package var descriptor: Int32 { owned.raw }

    /// Creates a socket bound to an address in the calling thread's network namespace.
    package init(address: SocketAddress) throws(SystemError) {
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let raw = socket(address.family, type, Int32(IPPROTO_UDP))
        guard raw >= 0 else { throw SystemError("socket") }
        owned = OwnedDescriptor(raw)
        if address.withSystemAddress({ bind(raw, $0, $1) }) < 0 { throw SystemError("bind") }
    }

    /// Returns the next datagram and its sender; `nil` if no datagram is available.
    package func receive() -> (bytes: [UInt8], sender: SocketAddress)? {
        var count = -1
        let raw = descriptor
        let sender = buffer.withUnsafeMutableBytes { buffer in
            SocketAddress.read { address, length in
                repeat {
                    count = recvfrom(raw, buffer.baseAddress, buffer.count, 0, address, length)
                } while count < 0 && errno == EINTR
                return count >= 0 ? 0 : -1
            }
        }
        guard let sender else { return nil }
        return (Array(buffer.prefix(count)), sender)
    }

    /// Sends a datagram.
    ///
    /// - Returns: whether the system accepted it.
    package func send(_ bytes: [UInt8], to address: SocketAddress) -> Bool {
        address.withSystemAddress { sendto(descriptor, bytes, bytes.count, 0, $0, $1) } == bytes.count
    }
}
