package import Glibc
package import ProbeBase

/// An address for system calls: an IP address with a port and the zone of a link-local address, or the path of a Unix
/// socket. An IPv4-mapped IPv6 address (`::ffff:127.0.0.1`) is stored as the IPv4 address, because its packets are IPv4
/// and it reaches the same server.
package struct SocketAddress: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        /// An IP endpoint, whose address is never IPv4-mapped.
        case internet(SocketEndpoint, scope: UInt32)
        /// The `sun_path` of a Unix socket, without the NUL that terminates a path. An abstract name begins with NUL. A
        /// socket without a name has no bytes.
        case unix([UInt8])
    }

    private let place: Place

    package init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        let plain = address.unmapped
        place = .internet(SocketEndpoint(address: plain, port: port), scope: plain == address ? scope : 0)
    }

    /// Parses a numeric address; `nil` for anything else, such as a name.
    package init?(numeric host: String, port: UInt16) {
        guard let address = IPAddress(host) else { return nil }
        self.init(address, port: port)
    }

    /// Creates the address of a Unix socket; `nil` if the path is empty, contains a NUL, or is longer than the system
    /// allows (107 bytes).
    package init?(unixPath path: String) {
        let bytes = Array(path.utf8)
        guard (1...Self.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
        place = .unix(bytes)
    }

    /// Creates the address of a Unix socket with an abstract name, which is not a file; `nil` if the name is too long.
    init?(abstractName name: String) {
        guard name.utf8.count < Self.longestPath else { return nil }
        place = .unix([0] + Array(name.utf8))
    }

    private init(name: [UInt8]) { place = .unix(name) }

    /// The maximum length of a Unix socket's path, in bytes.
    package static let longestPath = 107

    package static func loopback(port: UInt16) -> SocketAddress { SocketAddress(.loopbackV4, port: port) }

    /// Returns the same host with another port. The address of a Unix socket has no port, and is returned unchanged.
    package func with(port: UInt16) -> SocketAddress {
        guard case .internet(let endpoint, let scope) = place else { return self }
        return SocketAddress(endpoint.address, port: port, scope: scope)
    }

    /// The IP endpoint; `nil` for a Unix socket.
    package var endpoint: SocketEndpoint? {
        guard case .internet(let endpoint, _) = place else { return nil }
        return endpoint
    }
    /// The path of a Unix socket; `nil` if the socket has no path.
    package var path: String? {
        guard case .unix(let bytes) = place, let first = bytes.first, first != 0 else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var isUnix: Bool { endpoint == nil }
    /// The port; 0 for a Unix socket.
    package var port: UInt16 { endpoint?.port ?? 0 }
    package var isIPv6: Bool { endpoint?.address.family == .v6 }
    /// The address family: AF_INET, AF_INET6 or AF_UNIX.
    package var family: Int32 { isUnix ? AF_UNIX : isIPv6 ? AF_INET6 : AF_INET }
    /// The address without port and brackets; for a Unix socket, its path.
    package var host: String { endpoint.map { "\($0.address)" } ?? description }
    /// The host with the zone of a link-local address, such as `fe80::1%2`.
    package var scopedHost: String {
        guard case .internet(_, let scope) = place, scope != 0 else { return host }
        return "\(host)%\(scope)"
    }
    /// Whether the address is local to this machine; the address of a Unix socket always is.
    package var isLoopback: Bool { endpoint?.address.isLoopback ?? true }
    /// Whether the address is 0.0.0.0 or ::.
    package var isUnspecified: Bool { endpoint?.address.isUnspecified ?? false }

    /// The address to connect to: this address, or the loopback address if this address is the wildcard address of its
    /// family.
    package var reachable: SocketAddress {
        isUnspecified ? SocketAddress(isIPv6 ? .loopbackV6 : .loopbackV4, port: port) : self
    }

    /// Calls `body` with the address as a `sockaddr`.
    package func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        let endpoint: SocketEndpoint
        let scope: UInt32
        switch place {
        case .internet(let address, let zone): (endpoint, scope) = (address, zone)
        case .unix(let path): return Self.withUnixAddress(path, body)
        }
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

    private static func withUnixAddress<R>(
        _ path: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // The length of a path includes a terminating NUL; an abstract name has no terminator.
        let isPath = path.first != nil && path.first != 0
        let length = MemoryLayout<sa_family_t>.size + path.count + (isPath ? 1 : 0)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// Binds a Unix socket to a unique abstract name, chosen by the kernel. The name distinguishes the socket from
    /// other sockets.
    package static func bindToOwnName(_ descriptor: Int32) -> Int32 {
        withUnixAddress([]) { bind(descriptor, $0, $1) }
    }

    /// Returns the result of `getsockname`; `nil` if it fails.
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
        return withUnsafeBytes(of: &storage) { SocketAddress(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(length)))) }
    }

    /// Creates an address from an entry of the resolver's result.
    package init?(_ pointer: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let pointer else { return nil }
        self.init(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// Reads a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`; `nil` for another family or if bytes are missing.
    private init?(_ raw: UnsafeRawBufferPointer) {
        let header = MemoryLayout<sa_family_t>.size
        guard raw.count >= header else { return nil }
        switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_UNIX:
            let name = raw.dropFirst(header)
            self.init(name: name.first == 0 ? Array(name) : Array(name.prefix { $0 != 0 }))
        case AF_INET:
            guard raw.count >= MemoryLayout<sockaddr_in>.size else { return nil }
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
    /// The address as text: `127.0.0.1:80`, `[::1]:80`, `/run/app.sock`, `@0004f` (an abstract name).
    package var description: String {
        switch place {
        case .internet(let endpoint, _): endpoint.description
        case .unix(let name) where name.first == 0: "@" + Escaped.text(name.dropFirst())
        case .unix(let name): name.isEmpty ? "a Unix socket without a name" : Escaped.text(name)
        }
    }
}

/// A name that can't be resolved.
package struct NameError: Error, Sendable {
    package let text: String
}

extension SocketAddress {
    /// Returns the first address that the system's resolver returns for a name.
    package static func resolved(_ host: String, port: UInt16) throws(NameError) -> SocketAddress {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        let shown = Escaped.text(host.utf8)
        guard code == 0, let first = list?.pointee.ai_addr else {
            throw NameError(text: "\(shown) can't be resolved: \(String(cString: gai_strerror(code)))")
        }
        var text = [CChar](repeating: 0, count: 256)
        getnameinfo(first, list?.pointee.ai_addrlen ?? 0, &text, 256, nil, 0, NI_NUMERICHOST)
        let numeric = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let address = SocketAddress(numeric: numeric, port: port) else {
            throw NameError(text: "\(shown) resolves to \(numeric), which is not an IP address")
        }
        return address
    }
}
