import CShims
import Glibc
import Synchronization

/// Hands out ports for servers and processes: one allocator a run, below the kernel's range for outgoing connections, so that no
/// outgoing connection takes a port between its choice and its use.
///
/// Its block of ports is its own as long as there is one that no other allocator of this network namespace has: a port on which
/// nobody listens for a while (`stop listening`) is not taken by another run.
package final class PortAllocator: Sendable {
    /// All that it gives out; the capture's filter is made of it.
    package let range: ClosedRange<UInt16>
    private let next: Mutex<UInt16>
    /// Who has it has the block; nil where all blocks are taken, or sockets of that kind are forbidden.
    private let claim: OwnedDescriptor?

    /// - Parameters:
    ///   - seed: where to begin, so that runs that share a block start apart; a process id will do.
    ///   - realm: among whom a block has one owner; tests have their own.
    package init(seed: Int32, realm: String = "tcpprobe") {
        let top = PortAllocator.firstOutgoingPort() - 1
        let bottom: UInt16 = top > 12_000 ? 10_000 : 1_024
        let all = bottom...max(bottom, top)
        let hash = UInt32(bitPattern: seed) &* 2_654_435_761 >> 8
        let blocks = UInt32(all.count) / UInt32(PortAllocator.blockSize)
        if blocks > 1 {
            var first = bottom + UInt16(hash % blocks) * PortAllocator.blockSize
            var claimed: Int32 = -1
            for turn in 0..<blocks {
                let block = bottom + UInt16((hash + turn) % blocks) * PortAllocator.blockSize
                claimed = probe_claim("\(realm)/ports/\(block)")
                if claimed >= 0 { first = block }
                if claimed != -EADDRINUSE { break }
            }
            claim = claimed >= 0 ? OwnedDescriptor(claimed) : nil
            range = first...(first + PortAllocator.blockSize - 1)
        } else {
            claim = nil
            range = all
        }
        next = Mutex(range.lowerBound + UInt16(hash / max(blocks, 1) % UInt32(range.count)))
    }

    /// Ports of one run. The capture lets all of them through: what other runs on this machine send is to stay outside of its ring.
    private static let blockSize: UInt16 = 2048

    /// The next candidate; it may be taken by somebody else, which `bind` tells.
    package func candidate() -> UInt16 {
        next.withLock { next in
            defer { next = next >= range.upperBound ? range.lowerBound : next + 1 }
            return next
        }
    }

    /// A port of the loopback address on which nobody is bound now.
    ///
    /// One of which closed connections wait (TIME_WAIT) is given only where there is no other: not every program may bind it.
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

    /// Lower end of `net.ipv4.ip_local_port_range`; Linux's default where it can't be read.
    private static func firstOutgoingPort() -> UInt16 {
        let text = SmallFile.read("/proc/sys/net/ipv4/ip_local_port_range") ?? []
        let digits = text.drop { $0 == 32 || $0 == 9 }.prefix { (48...57).contains($0) }
        return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 2048 ? $0 : nil } ?? 32_768
    }
}
