import ProbeBase
import ProbeCrowd
import ProbeLink
import ProbeSystem
import ProbeTLS

/// The TLS sessions of the members, one for each connection.
final class MemberSecurity {
    private final class Link {
        let session: TLSSession
        /// Encrypted bytes that the kernel has not accepted yet.
        var pending: [UInt8] = []
        /// Decrypted bytes that the member has not read yet.
        var plain: [UInt8] = []
        var isSecured = false
        /// The end of the stream or an error, which is reported after the decrypted bytes.
        var end: CrowdRead?

        init(_ session: TLSSession) { self.session = session }
    }

    private let context: TLSContext
    private let options: MemberTLS
    private var links: [Int: Link] = [:]
    private let network = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

    init(_ options: MemberTLS, isServer: Bool) throws(WorkerProblem) {
        self.options = options
        var contents = TLSContext.Options(isServer: isServer)
        contents.protocols = options.alpn
        if let certificate = options.certificate, let key = options.key {
            do throws(SystemError) {
                contents.identity = .files(
                    certificates: try InputFile.contents(of: certificate, limit: 1 << 20),
                    key: try InputFile.contents(of: key, limit: 1 << 20))
            } catch {
                throw WorkerProblem("can't read a certificate: \(error.reason)")
            }
        }
        do throws(TLSError) { context = try TLSContext(contents) } catch {
            throw WorkerProblem("TLS: \(error.reason)")
        }
    }

    deinit { network.deallocate() }

    func begin(_ member: Int) {
        // If no session can be created, the handshake fails, and that failure is reported.
        links[member] = (try? TLSSession(context, indicated: options.serverName)).map(Link.init)
    }

    func forget(_ member: Int) { links[member] = nil }

    /// Ends a member's session by sending close_notify.
    ///
    /// - Returns: the encrypted bytes that the kernel has not accepted yet.
    func end(_ member: Int, _ descriptor: Int32) -> [UInt8] {
        guard let link = links.removeValue(forKey: member), link.isSecured else { return [] }
        _ = link.session.notify()
        send(link, descriptor)
        return link.pending
    }

    func handshake(_ member: Int, _ descriptor: Int32) -> CrowdConnect {
        guard let link = links[member] else { return .failed("TLS: can't create a session") }
        while true {
            let progress = link.session.handshake()
            send(link, descriptor)
            switch progress {
            case .done:
                link.isSecured = true
                return .connected
            case .notified: return .failed("TLS: closed by the peer")
            case .failed(let error): return .failed("TLS: \(error.reason)")
            case .waits:
                switch MemberSockets.receive(descriptor, into: network) {
                case .bytes(let count): link.session.receive(UnsafeRawBufferPointer(rebasing: network[..<count]))
                case .blocked: return .pending
                case .end: return .failed("TLS: closed by the peer")
                case .failed(let reason): return .failed("TLS: \(reason)")
                }
            }
        }
    }

    func write(_ member: Int, _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite {
        guard let link = links[member] else { return .failed("TLS: there is no session") }
        guard secure(member, link, descriptor) else {
            if case .failed(let reason)? = link.end { return .failed(reason) }
            return .blocked
        }
        send(link, descriptor)
        guard link.pending.isEmpty else { return .blocked }
        let part = Array(bytes.prefix(TLSSession.longestRecord))
        switch link.session.write(part) {
        case .done: break
        case .waits: return .blocked
        case .notified: return .failed("closed by the peer")
        case .failed(let error): return .failed("TLS: \(error.reason)")
        }
        send(link, descriptor)
        return .wrote(part.count)
    }

    func read(_ member: Int, _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead {
        guard let link = links[member] else { return .failed("TLS: there is no session") }
        guard secure(member, link, descriptor) else { return link.end ?? .blocked }
        while link.plain.isEmpty {
            if let end = link.end { return end }
            switch MemberSockets.receive(descriptor, into: network) {
            case .bytes(let count): link.session.receive(UnsafeRawBufferPointer(rebasing: network[..<count]))
            case .blocked: return .blocked
            case .end: link.end = .end
            case .failed(let reason): link.end = .failed(reason)
            }
            switch link.session.read({ link.plain.append(contentsOf: $0) }) {
            case .done, .waits: break
            case .notified: link.end = .end
            case .failed(let error): if link.end == nil { link.end = .failed("TLS: \(error.reason)") }
            }
            send(link, descriptor)
        }
        let count = min(buffer.count, link.plain.count)
        buffer.copyBytes(from: link.plain[..<count])
        link.plain.removeFirst(count)
        return .bytes(count)
    }

    func flush(_ member: Int, _ descriptor: Int32) {
        if let link = links[member] { send(link, descriptor) }
    }

    /// Continues a server's handshake, which is performed as part of reading and writing. Returns whether the handshake
    /// is complete.
    private func secure(_ member: Int, _ link: Link, _ descriptor: Int32) -> Bool {
        if link.isSecured { return true }
        if case .failed(let reason) = handshake(member, descriptor) { link.end = .failed(reason) }
        return link.isSecured
    }

    private func send(_ link: Link, _ descriptor: Int32) {
        link.pending += link.session.takeOutput()
        while !link.pending.isEmpty {
            guard case .wrote(let count) = link.pending.withUnsafeBytes({ MemberSockets.send(descriptor, $0) }) else {
                return
            }
            link.pending.removeFirst(count)
        }
    }
}
