import CShims
import Glibc
import Synchronization

/// Assigns ports to servers and processes. Each run has one allocator. Its ports are below the kernel's range for
/// outgoing connections, so that no outgoing connection can take a port that has been chosen but is not used yet.
///
/// If possible, no other allocator in this network namespace has the same block of ports. Otherwise, another run could
/// take a port while nothing listens on it (`stop listening`).
package final class PortAllocator: Sendable {
    /// All ports that the allocator may assign; the capture filter includes all of them.
    package let range: ClosedRange<UInt16>
    private let next: Mutex<UInt16>
    /// The socket that reserves the block of ports; `nil` if all blocks are reserved, or if such sockets are forbidden.
    private let reservation: OwnedDescriptor?

    /// Creates an allocator.
    ///
    /// - Parameters:
    ///   - seed: selects the block that is tried first, so that different runs start with different blocks; for
    ///     example, a process id.
    ///   - realm: a namespace of reservations, within which allocators have different blocks; tests use their own
    ///     realm.
    package init(seed: Int32, realm: String = "tcpprobe") {
        let top = PortAllocator.firstOutgoingPort() - 1
        let bottom: UInt16 = top > 12_000 ? 10_000 : 1_024
        let all = bottom...max(bottom, top)
        let hash = UInt32(bitPattern: seed) &* 2_654_435_761 >> 8
        let blocks = UInt32(all.count) / UInt32(PortAllocator.blockSize)
        if blocks > 1 {
            var first = bottom + UInt16(hash % blocks) * PortAllocator.blockSize
            var descriptor: Int32 = -1
            for turn in 0..<blocks {
                let block = bottom + UInt16((hash + turn) % blocks) * PortAllocator.blockSize
                descriptor = probe_reserve_name("\(realm)/ports/\(block)")
                if descriptor >= 0 { first = block }
                if descriptor != -EADDRINUSE { break }
            }
            reservation = descriptor >= 0 ? OwnedDescriptor(descriptor) : nil
            range = first...(first + PortAllocator.blockSize - 1)
        } else {
            reservation = nil
            range = all
        }
        next = Mutex(range.lowerBound + UInt16(hash / max(blocks, 1) % UInt32(range.count)))
    }

    /// The number of ports of one run. The capture filter accepts all of them, and must exclude the traffic from other
    /// runs on this machine.
    private static let blockSize: UInt16 = 2048

    /// Returns the next candidate port. If the port is in use, `bind` fails.
    package func candidate() -> UInt16 {
        next.withLock { next in
            defer { next = next >= range.upperBound ? range.lowerBound : next + 1 }
            return next
        }
    }

    /// Returns a loopback port to which no socket is currently bound.
    ///
    /// A port with closed connections in TIME_WAIT is chosen only if there is no other port, because some programs
    /// can't bind such a port.
    package func freePort(address: SocketAddress) throws(SystemError) -> UInt16 {
        do throws(SystemError) {
            return try freePort(address: address, reusesAddress: false)
        } catch {
            if error.code != EADDRINUSE { throw error }
            return try freePort(address: address, reusesAddress: true)
        }
    }

    private func freePort(address: SocketAddress, reusesAddress: Bool) throws(SystemError) -> UInt16 {
        var last = SystemError("bind", code: EADDRINUSE)
        for _ in range {
            let port = candidate()
            let probe = try openSocket(for: address)
            if reusesAddress {
                var on: Int32 = 1
                setsockopt(probe.raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
            }
            if address.with(port: port).withSystemAddress({ bind(probe.raw, $0, $1) }) == 0 { return port }
            last = SystemError("bind")
            if last.code != EADDRINUSE { throw last }
        }
        throw last
    }

    /// Returns whether a socket listens on the port, either on 127.0.0.1 or on all addresses.
    package static func isListenedOn(_ port: UInt16) -> Bool {
        let address = SocketAddress.loopback(port: port)
        // If no descriptor is available, the answer is unknown and treated as `false`, so that the caller does not
        // wait.
        guard let probe = try? openSocket(for: address) else { return false }
        var on: Int32 = 1
        setsockopt(probe.raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        return address.withSystemAddress { bind(probe.raw, $0, $1) } != 0 && errno == EADDRINUSE
    }

    /// Returns the lower end of `net.ipv4.ip_local_port_range`, or Linux's default if it can't be read.
    package static func firstOutgoingPort() -> UInt16 {
        let text = SmallFile.read("/proc/sys/net/ipv4/ip_local_port_range") ?? []
        let digits = text.drop { $0 == 32 || $0 == 9 }.prefix { (48...57).contains($0) }
        return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 2048 ? $0 : nil } ?? 32_768
    }
}

/// Reserves a free port on which several processes of this user will listen later (SO_REUSEPORT), by means of a socket
/// that is bound but does not listen. A client that connects before the processes listen is refused.
package final class PortReservation {
    package let address: SocketAddress
    private let descriptor: OwnedDescriptor

    /// Reserves a port.
    ///
    /// - Parameter host: the address to bind; the kernel chooses the port.
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
