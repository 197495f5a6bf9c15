import ProbeSystem
import Glibc
import Synchronization

/// One lookup of a host by `getaddrinfo`: at once for a numeric address, on a thread of its own for a name.
///
/// A lookup can't be broken off: who no longer wants it lets go of it, and its thread ends by itself when the system answers.
final class NameResolution: Sendable {
    /// A name that has no address, and what the resolver said about it.
    struct Failure: Error, Sendable, Equatable {
        var detail: String
    }

    private let answer = Mutex<Result<[SocketAddress], Failure>?>(nil)

    /// The addresses, in the resolver's order (RFC 6724) without repetitions; nil while it is still looking.
    var result: Result<[SocketAddress], Failure>? { answer.withLock { $0 } }

    /// Begins; `wake` is called from the lookup's thread when ``result`` is there, or not at all when it is there already.
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

    /// Looks up on the calling thread; with AI_NUMERICHOST it asks nobody.
    static func look(host: String, port: UInt16, flags: CInt) -> Result<[SocketAddress], Failure> {
        // The rest of it would not reach the resolver.
        if host.utf8.contains(0) { return .failure(Failure(detail: "a host name holds no NUL")) }
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

/// The addresses of a host, for transports of libraries that have no resolver.
package enum HostAddresses {
    /// Looks a name up on the calling thread, which may take seconds; a numeric address is its own.
    ///
    /// - Returns: numeric addresses in the resolver's order (RFC 6724), at least one.
    /// - Throws: `other` with the resolver's words.
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
