import ProbeSystem
import Glibc
import Synchronization

/// The resolution of one host by `getaddrinfo`: at once for a numeric address, on a separate thread for a name.
///
/// A resolution can't be cancelled. A caller that no longer needs it releases it, and its thread ends when the system
/// responds.
final class NameResolution: Sendable {
    /// A name without an address, and the resolver's message.
    struct Failure: Error, Sendable, Equatable {
        var detail: String
    }

    private let answer = Mutex<Result<[SocketAddress], Failure>?>(nil)

    /// The addresses in the resolver's order (RFC 6724), each once; `nil` while the resolution is running.
    var result: Result<[SocketAddress], Failure>? { answer.withLock { $0 } }

    /// Begins the resolution. `wake` is called on its thread when ``result`` is set, and never if it is set already.
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

    /// Resolves on the calling thread; with AI_NUMERICHOST, without querying a server.
    static func look(host: String, port: UInt16, flags: CInt) -> Result<[SocketAddress], Failure> {
        // The resolver would get only the part before the NUL.
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

/// Resolves hosts for transports of libraries that have no resolver.
package enum HostAddresses {
    /// Resolves a name on the calling thread, which may take seconds. The result for a numeric address is the address.
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
