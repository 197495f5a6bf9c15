import Glibc

/// A socket address as the kernel takes it, IPv4 or IPv6.
struct SocketAddress: Sendable, Hashable {
    let family: CInt
    /// The `sockaddr_in` or `sockaddr_in6`, byte by byte.
    private let bytes: [UInt8]

    /// Copies `length` bytes, of which the kernel or the resolver gave both numbers.
    init?(_ pointer: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let pointer, Int(length) >= MemoryLayout<sa_family_t>.size else { return nil }
        family = CInt(pointer.pointee.sa_family)
        bytes = [UInt8](UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// What `getsockname` or `getpeername` says; nil when it fails.
    init?(
        _ call: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt, _ descriptor: CInt
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let found = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                call(descriptor, address, &length) == 0 ? SocketAddress(address, length: length) : nil
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// Calls a function of the socket API with the address.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // Copied into storage of its own: an array's is not promised to be aligned for a sockaddr.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { room in
            room.copyBytes(from: bytes.prefix(room.count))
        }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    /// The port in host order.
    var port: UInt16 {
        // Both kinds have it right behind the family (RFC 3493, section 3.3).
        bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : 0
    }

    /// `127.0.0.1`, `::1`; nil for a family that has no such text.
    var host: String? {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = withPointer { getnameinfo($0, $1, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) }
        guard result == 0 else { return nil }
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `127.0.0.1:80`, `[::1]:80`.
    var text: String {
        guard let host else { return "an address of family \(family)" }
        return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
