import ProbeSystem
import Glibc
import Synchronization

/// The resolution of one host with `getaddrinfo`. A numeric address is resolved at once, and a name is resolved on a
/// separate thread.
///
/// A resolution can't be cancelled. A caller that no longer needs the result releases the object, and the thread ends
/// when `getaddrinfo` returns.
final class NameResolution: Sendable {
    /// A failed resolution, with the resolver's message.
    struct Failure: Error, Sendable, Equatable {
        var detail: String
    }

    private let answer = Mutex<Result<[SocketAddress], Failure>?>(nil)

    /// The addresses in the resolver's order (RFC 6724), without duplicates; `nil` while the resolution is running.
    var result: Result<[SocketAddress], Failure>? { answer.withLock { $0 } }

    /// Begins the resolution. `wake` is called on the resolution's thread when ``result`` has been set. `wake` is not
    /// called for a numeric address, or if no thread could be started.
    init(host: String, port: UInt16, wake: @escaping @Sendable () -> Void) {
        let numeric = Self.look(host: host, port: port, flags: AI_NUMERICHOST)
        if case .success = numeric {
            answer.withLock { $0 = numeric }
            return
        }
        do {
            try WorkerThread("lookup", signals: .inherited) { [self] in
                let found = Self.look(host: host, port: port, flags: 0)
                answer.withLock { $0 = found }
                wake()
            }.detach()
        } catch {
            answer.withLock { $0 = .failure(Failure(detail: "\(host): \(error.reason)")) }
        }
    }

    /// Resolves a host on the calling thread. With AI_NUMERICHOST, no server is queried.
    static func look(host: String, port: UInt16, flags: CInt) -> Result<[SocketAddress], Failure> {
        // A NUL is rejected because the resolver would see only the part of the name before it.
        if host.utf8.contains(0) { return .failure(Failure(detail: "a host name can't contain NUL")) }
        var hints = addrinfo()
        hints.ai_flags = flags | AI_NUMERICSERV
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        if code != 0 {
            let text = code == EAI_SYSTEM ? SystemError.subject().reason : String(cString: gai_strerror(code))
            return .failure(Failure(detail: "\(host): \(text)"))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry {
            if let address = SocketAddress(current.pointee.ai_addr, length: current.pointee.ai_addrlen),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            entry = current.pointee.ai_next
        }
        return .success(addresses)
    }
}

/// Resolves hosts for transports that use a library without a resolver.
package enum HostAddresses {
    /// Resolves a name on the calling thread, which may take seconds. A numeric address is returned unchanged.
    ///
    /// - Returns: numeric addresses in the resolver's order (RFC 6724), at least one.
    /// - Throws: `other` with the resolver's message.
    package static func look(_ host: String) throws(TransportError) -> [String] {
        switch NameResolution.look(host: host, port: 0, flags: 0) {
        case .success(let addresses):
            let hosts = addresses.map(\.scopedHost)
            if hosts.isEmpty { throw .other("\(host): no address") }
            return hosts
        case .failure(let failure): throw .other(failure.detail)
        }
    }
}
