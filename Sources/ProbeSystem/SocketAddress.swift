package import ProbeBase
package import Glibc

/// An address and a port for the system's calls, with the zone of a link-local address. An IPv4-mapped IPv6 address
/// (`::ffff:127.0.0.1`) is stored as the IPv4 address: its packets are IPv4, and it reaches the same server.
package struct SocketAddress: Sendable, Hashable {
    /// Never an IPv4-mapped address.
    package let endpoint: SocketEndpoint
    private let scope: UInt32

    package init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        let plain = address.unmapped
        endpoint = SocketEndpoint(address: plain, port: port)
        self.scope = plain == address ? scope : 0
    }

    /// Reads a numeric address; nil for anything else, for example a name.
    package init?(numeric host: String, port: UInt16) {
        guard let address = IPAddress(host) else { return nil }
        self.init(address, port: port)
    }

    package static func loopback(port: UInt16) -> SocketAddress { SocketAddress(.loopbackV4, port: port) }

    package func with(port: UInt16) -> SocketAddress { SocketAddress(endpoint.address, port: port, scope: scope) }

    package var port: UInt16 { endpoint.port }
    package var isIPv6: Bool { endpoint.address.family == .v6 }
    /// AF_INET or AF_INET6.
    package var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }
    /// Without port and brackets.
    package var host: String { "\(endpoint.address)" }
    /// With the zone of a link-local address: `fe80::1%2`.
    package var scopedHost: String { scope == 0 ? host : "\(host)%\(scope)" }
    package var isLoopback: Bool { endpoint.address.isLoopback }
    /// 0.0.0.0 or ::.
    package var isUnspecified: Bool { endpoint.address.isUnspecified }

    /// Calls `body` with the address in the system's structure.
    package func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        let bytes = endpoint.address.bytes
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    /// The result of `getsockname`; nil if it fails.
    package static func local(of descriptor: Int32) -> SocketAddress? { read { getsockname(descriptor, $0, $1) } }
    package static func peer(of descriptor: Int32) -> SocketAddress? { read { getpeername(descriptor, $0, $1) } }

    static func read(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: &storage) { SocketAddress($0) }
    }

    /// From the resolver's result: an address and its length.
    package init?(_ pointer: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let pointer else { return nil }
        self.init(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// Reads a `sockaddr_in` or `sockaddr_in6`; nil for another family or if there are too few bytes.
    private init?(_ raw: UnsafeRawBufferPointer) {
        guard raw.count >= MemoryLayout<sockaddr_in>.size else { return nil }
        switch Int32(raw.loadUnaligned(as: sockaddr_in.self).sin_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            let host = IPAddress(v4: UInt32(bigEndian: address.sin_addr.s_addr))
            self.init(host, port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            guard raw.count >= MemoryLayout<sockaddr_in6>.size else { return nil }
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            guard let host = IPAddress(bytes: bytes.span) else { return nil }
            self.init(host, port: UInt16(bigEndian: address.sin6_port), scope: address.sin6_scope_id)
        default: return nil
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:80`, `[::1]:80`
    package var description: String { endpoint.description }
}
