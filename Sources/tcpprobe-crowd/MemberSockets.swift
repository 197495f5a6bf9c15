import CShims
import Glibc
import ProbeBase
import ProbeCrowd
import ProbeSystem

/// The sockets of a worker's members, indexed by member.
final class MemberSockets: CrowdConnections {
    private let epoll: Int32
    private let order: CrowdOrder
    private let target: SocketAddress?
    private let security: MemberSecurity?
    private var descriptors: [Int32]
    /// The generation of each member's connection. Each event contains the generation, so that events of an earlier
    /// connection are dropped.
    private var generations: [UInt32]
    private let sends: Bool
    /// The members whose connection has ended. Their numbers can be used for new connections.
    private(set) var free: [Int] = []
    /// The number of connections that were made from the order's alternative source addresses.
    private(set) var elsewhere = 0

    /// The connections that are closing, each with the TLS bytes that remain to be sent.
    ///
    /// A closing connection sends its remaining bytes and a FIN, and drops received bytes until the peer's FIN. If the
    /// socket were closed at once, the kernel would answer further bytes with an RST, and the peer might lose bytes
    /// that it has not read yet.
    private var closing: [Int32: [UInt8]] = [:]
    /// Whether the crowd is stopping. No descriptors are then needed for new connections.
    var isStopping = false
    private let maxClosing: Int
    /// The bit that marks events of closing connections.
    private static let closingMark: UInt64 = 1 << 63
    private let drain = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

    /// The maximum number of attempts to connect a member, each with a different source address or port, because some
    /// may be in use.
    private static let attempts = 16

    /// - Parameter limit: the maximum number of open descriptors of this process.
    init(_ order: CrowdOrder, epoll: Int32, limit: Int) throws(WorkerProblem) {
        self.order = order
        maxClosing = max(8, min(1024, limit - order.members - 64))
        self.epoll = epoll
        var target: SocketAddress?
        if case .clients(let place) = order.role { target = SocketAddress(place.address, port: place.port) }
        self.target = target
        let own = target == nil ? 0 : order.members
        descriptors = Array(repeating: -1, count: own)
        generations = Array(repeating: 0, count: own)
        if let options = order.tls {
            security = try MemberSecurity(options, isServer: target == nil)
        } else {
            security = nil
        }
        sends = order.program.instructions.contains {
            switch $0 {
            case .send, .sendEndlessly: true
            default: false
            }
        }
    }

    deinit { drain.deallocate() }

    // MARK: Events

    /// Returns the member to which an event applies; `nil` if the connection of the event has ended.
    func member(of data: UInt64) -> Int? {
        let member = Int(UInt32(truncatingIfNeeded: data))
        guard member < descriptors.count, generations[member] == UInt32(data >> 32), descriptors[member] >= 0 else {
            return nil
        }
        return member
    }

    private func data(of member: Int) -> UInt64 { UInt64(generations[member]) << 32 | UInt64(member) }

    // MARK: Incoming connections

    /// Assigns an accepted connection to a member.
    ///
    /// - Parameter member: the number of the member.
    /// - Returns: 0 on success, otherwise the `errno` of the failure.
    func adopt(_ accepted: Int32, as member: Int) -> Int32 {
        while member >= descriptors.count {
            descriptors.append(-1)
            generations.append(0)
        }
        generations[member] = (generations[member] + 1) & 0x7fff_ffff
        let descriptor = probe_crowd_adopt(accepted, sends ? 1 : 0, epoll, data(of: member))
        if descriptor < 0 { return -descriptor }
        descriptors[member] = descriptor
        security?.begin(member)
        if free.last == member { free.removeLast() }
        return 0
    }

    // MARK: CrowdConnections

    func connect(_ member: Int) -> CrowdConnect {
        guard let target else { return .failed("a member of `servers` does not connect") }
        for attempt in 0..<Self.attempts {
            generations[member] = (generations[member] + 1) & 0x7fff_ffff
            var isPending: Int32 = 0
            var failedToBind: Int32 = 0
            let descriptor = target.withSystemAddress { address, length in
                source(of: member, attempt: attempt, for: target) { source, sourceLength in
                    probe_crowd_connect(
                        address, length, source, sourceLength, Int32(clamping: order.receiveBuffer ?? 0),
                        sends ? 1 : 0, epoll, data(of: member), &isPending, &failedToBind)
                }
            }
            if descriptor >= 0 {
                descriptors[member] = descriptor
                if isElsewhere(member, attempt: attempt) { elsewhere += 1 }
                security?.begin(member)
                if isPending != 0 { return .pending }
                return security == nil ? .connected : continueConnect(member)
            }
            if failedToBind == 0 || order.sources == nil || attempt == Self.attempts - 1 {
                return .failed(Self.reason(-descriptor))
            }
        }
        return .failed(CrowdSnapshot.Obstacle.noPort)
    }

    private func source<R>(
        of member: Int, attempt: Int, for target: SocketAddress, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> R
    ) -> R {
        guard let first = order.sources else { return body(nil, 0) }
        let sources = isElsewhere(member, attempt: attempt) ? order.otherSources ?? first : first
        // The last attempt uses the member's first port, with which no other member starts.
        let round = attempt == Self.attempts - 1 ? 0 : Int(generations[member] & 0xfff) - 1
        let end = sources.endpoint(of: order.first + member * order.step, round: max(0, round))
        let address = sources.first == 0 ? unspecified(for: target) : IPAddress(v4: end.address)
        return SocketAddress(address, port: end.port).withSystemAddress { body($0, $1) }
    }

    /// Returns whether an attempt uses the alternative addresses. The second half of the attempts use them, as do all
    /// attempts if the primary addresses have no port for the member.
    private func isElsewhere(_ member: Int, attempt: Int) -> Bool {
        guard let sources = order.sources, order.otherSources != nil else { return false }
        return attempt >= Self.attempts / 2 || !sources.suffices(for: order.first + member * order.step)
    }

    /// Returns the unspecified address, so that the crowd chooses only the source port, and the system chooses the
    /// source address.
    private func unspecified(for target: SocketAddress) -> IPAddress {
        target.isIPv6 ? IPAddress(v6High: 0, low: 0) : IPAddress(v4: 0)
    }

    func continueConnect(_ member: Int) -> CrowdConnect {
        let descriptor = descriptors[member]
        let error = probe_socket_error(descriptor)
        if error != 0 { return .failed(Self.reason(error)) }
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var peer = sockaddr_storage()
        let isConnected = withUnsafeMutableBytes(of: &peer) { bytes in
            getpeername(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        guard isConnected else { return .pending }
        guard let security else { return .connected }
        return security.handshake(member, descriptor)
    }

    func write(_ member: Int, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite {
        if let security { return security.write(member, descriptors[member], bytes) }
        return Self.send(descriptors[member], bytes)
    }

    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite {
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count > 0 { return .wrote(count) }
            if errno == EAGAIN || count == 0 { return .blocked }
            if errno != EINTR { return .failed(reason(errno)) }
        }
    }

    func read(_ member: Int, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead {
        if let security { return security.read(member, descriptors[member], into: buffer) }
        return Self.receive(descriptors[member], into: buffer)
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .blocked }
            if errno != EINTR { return .failed(reason(errno)) }
        }
    }

    func unread(_ member: Int) -> Int {
        // With TLS, unread bytes in the kernel are records, which need not contain any application data.
        if security != nil { return 0 }
        var count: Int32 = 0
        return ioctl(descriptors[member], UInt(FIONREAD), &count) == 0 ? max(0, Int(count)) : 0
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ECONNRESET: "reset by the peer"
        case EPIPE: "closed by the peer"
        case ECONNREFUSED: "refused"
        case ETIMEDOUT: "no answer in time"
        default: SystemError("", code: code).reason
        }
    }

    func close(_ member: Int) {
        let unsent = security?.end(member, descriptors[member]) ?? []
        let descriptor = release(member)
        guard isStopping || closing.count < maxClosing else {
            _ = Glibc.close(descriptor)
            return
        }
        closing[descriptor] = unsent
        continueClosing(descriptor)
    }

    // MARK: Closing connections

    /// Returns whether an event is for a closing connection.
    static func isClosing(_ data: UInt64) -> Bool { data & closingMark != 0 }

    /// Continues to close a connection that has become readable or writable, or whose peer has also closed its side.
    func continueClosing(_ data: UInt64) { continueClosing(Int32(truncatingIfNeeded: data & ~Self.closingMark)) }

    private func continueClosing(_ descriptor: Int32) {
        guard var unsent = closing[descriptor] else { return }
        var hasEnded = false
        sending: while !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ Self.send(descriptor, $0) }) {
            case .wrote(let count): unsent.removeFirst(count)
            case .blocked: break sending
            case .failed:
                hasEnded = true
                break sending
            }
        }
        closing[descriptor] = unsent
        // The remaining bytes are sent first, because a peer that has sent its FIN may still read them.
        let isSent = unsent.isEmpty
        if isSent { hasEnded = shutdown(descriptor, Int32(SHUT_WR)) != 0 || readsEnd(of: descriptor) }
        let events = isSent ? PROBE_EPOLLIN | PROBE_EPOLLRDHUP : PROBE_EPOLLOUT
        if !hasEnded,
            probe_epoll_set(epoll, PROBE_EPOLL_MOD, descriptor, events, Self.closingMark | UInt64(descriptor)) == 0
        {
            return
        }
        closing[descriptor] = nil
        _ = Glibc.close(descriptor)
    }

    /// Drops received bytes, and returns whether the peer has closed its side.
    private func readsEnd(of descriptor: Int32) -> Bool {
        for _ in 0..<64 {
            switch Self.receive(descriptor, into: drain) {
            case .bytes: continue
            case .blocked: return false
            case .end, .failed: return true
            }
        }
        return false
    }

    func reset(_ member: Int) {
        security?.forget(member)
        probe_crowd_reset(release(member))
    }

    private func release(_ member: Int) -> Int32 {
        let descriptor = descriptors[member]
        descriptors[member] = -1
        if target == nil { free.append(member) }
        return descriptor
    }

    /// Resets all members' connections, so that no connection remains in the kernel waiting for its peer.
    func resetAll() {
        for descriptor in descriptors where descriptor >= 0 { probe_crowd_reset(descriptor) }
        descriptors = descriptors.map { _ in -1 }
        for descriptor in closing.keys { _ = Glibc.close(descriptor) }
        closing = [:]
    }

    /// Sends a member's pending TLS bytes, which the kernel has not accepted yet.
    func flush(_ member: Int) { security?.flush(member, descriptors[member]) }
}
