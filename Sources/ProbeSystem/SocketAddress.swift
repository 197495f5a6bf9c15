package import Glibc

/// An IPv4 or IPv6 address with a port. An IPv4-mapped IPv6 address (`::ffff:127.0.0.1`) is stored as the IPv4 address:
/// its packets are IPv4, and it reaches the same server.
package struct SocketAddress: Sendable, Hashable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    package let port: UInt16
    package let scope: UInt32

    package var isIPv6: Bool { bytes.count == 16 }

    /// AF_INET or AF_INET6.
    package var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// Reads a numeric address; nil for anything else, for example a name.
    package init?(numeric host: String, port: UInt16) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, host, &v4) == 1 {
            self.init(bytes: withUnsafeBytes(of: &v4) { Array($0) }, port: port)
        } else if inet_pton(AF_INET6, host, &v6) == 1 {
            self.init(bytes: withUnsafeBytes(of: &v6) { Array($0) }, port: port)
        } else {
            return nil
        }
    }

    package init(bytes: [UInt8], port: UInt16, scope: UInt32 = 0) {
        let isMapped = bytes.count == 16 && bytes.starts(with: SocketAddress.mappedPrefix)
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
        self.port = port
        self.scope = isMapped ? 0 : scope
    }

    /// The prefix of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    package static func loopback(port: UInt16) -> SocketAddress {
        SocketAddress(bytes: [127, 0, 0, 1], port: port)
    }

    package func with(port: UInt16) -> SocketAddress {
        SocketAddress(bytes: bytes, port: port, scope: scope)
    }

    /// The address without port and brackets.
    package var host: String {
        var text = [CChar](repeating: 0, count: 64)
        let copy = bytes
        inet_ntop(family, copy, &text, 64)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The address with the zone of a link-local one: `fe80::1%2`.
    package var scopedHost: String { scope == 0 ? host : "\(host)%\(scope)" }

    /// 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        if bytes.count == 4 { return bytes[0] == 127 }
        return bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// The IPv4 address for an IPv4-mapped IPv6 address; otherwise unchanged.
    package var canonical: SocketAddress {
        guard isIPv6, bytes[0..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) else { return self }
        return SocketAddress(bytes: Array(bytes[12...]), port: port)
    }

    /// 0.0.0.0 or ::.
    package var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

    /// Calls `body` with the address in the system's structure.
    package func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
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
            self.init(
                bytes: withUnsafeBytes(of: address.sin_addr) { Array($0) }, port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            guard raw.count >= MemoryLayout<sockaddr_in6>.size else { return nil }
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            self.init(
                bytes: withUnsafeBytes(of: address.sin6_addr) { Array($0) },
                port: UInt16(bigEndian: address.sin6_port), scope: address.sin6_scope_id)
        default: return nil
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:80`, `[::1]:80`
    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
