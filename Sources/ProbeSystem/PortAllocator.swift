import CShims
import Glibc
import Synchronization

/// Assigns ports to servers and processes. A run has one allocator. Its ports are below the kernel's range for outgoing
/// connections, so that no outgoing connection takes a port between its choice and its use.
///
/// If possible its block of ports belongs to no other allocator of this network namespace, so that a port on which
/// nothing listens for a while (`stop listening`) is not taken by another run.
package final class PortAllocator: Sendable {
    /// All ports that the allocator may assign; the capture's filter contains them.
    package let range: ClosedRange<UInt16>
    private let next: Mutex<UInt16>
    /// The descriptor that reserves the block; `nil` if all blocks are reserved, or if such sockets are forbidden.
    private let reservation: OwnedDescriptor?

    /// Creates an allocator.
    ///
    /// - Parameters:
    ///   - seed: selects the first block that is tried, so that runs begin with different ones; for example a process
    ///     id.
    ///   - realm: allocators of one realm have different blocks; tests use their own realm.
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

    /// The number of ports of one run. The capture's filter accepts all of them, and must exclude the traffic of other
    /// runs on this machine.
    private static let blockSize: UInt16 = 2048

    /// Returns the next candidate. It may be in use, in which case `bind` fails.
    package func candidate() -> UInt16 {
        next.withLock { next in
            defer { next = next >= range.upperBound ? range.lowerBound : next + 1 }
            return next
        }
    }

    /// Returns a port of the loopback address to which no socket is bound now.
    ///
    /// A port with closed connections in TIME_WAIT is chosen only if there is no other, because some programs can't
    /// bind it.
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

    /// Returns whether a socket listens on the port of 127.0.0.1 or of all addresses.
    package static func isListenedOn(_ port: UInt16) -> Bool {
        let address = SocketAddress.loopback(port: port)
        // `try?`: without a descriptor the answer is unknown, and there is no wait.
        guard let probe = try? openSocket(for: address) else { return false }
        var on: Int32 = 1
        setsockopt(probe.raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        return address.withSystemAddress { bind(probe.raw, $0, $1) } != 0 && errno == EADDRINUSE
    }

    /// Returns the lower end of `net.ipv4.ip_local_port_range`; Linux's default if it can't be read.
    package static func firstOutgoingPort() -> UInt16 {
        let text = SmallFile.read("/proc/sys/net/ipv4/ip_local_port_range") ?? []
        let digits = text.drop { $0 == 32 || $0 == 9 }.prefix { (48...57).contains($0) }
        return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 2048 ? $0 : nil } ?? 32_768
    }
}

/// Reserves a free port for several processes of this user that listen on it later (SO_REUSEPORT), by a socket that is
/// bound and does not listen. A client that connects in the meantime is refused.
package final class PortReservation {
    package let address: SocketAddress
    private let descriptor: OwnedDescriptor

    /// Reserves a port.
    ///
    /// - Parameter host: the address; the kernel chooses the port.
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
