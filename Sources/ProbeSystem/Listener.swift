package import ProbeBase
import CShims
import Glibc

/// A listening socket whose connections are accepted only on request.
package final class Listener {
    private var descriptor: OwnedDescriptor
    package let address: SocketAddress
    /// Whether other processes share the socket, and continue listening when this process ends.
    private var isShared = false

    /// Creates a socket, binds it and listens.
    ///
    /// - Parameters:
    ///   - address: the address; if its port is 0, the kernel chooses one.
    ///   - options: options set before `listen`, so that connections inherit them.
    ///   - sharesAddress: whether other processes of this user may also listen on the address once this socket listens.
    package init(
        address: SocketAddress, backlog: Int32, options: [RawSocketOption], sharesAddress: Bool = false
    ) throws(SystemError) {
        if sharesAddress { try Self.refuseShared(address) }
        descriptor = try openSocket(for: address)
        let raw = descriptor.raw
        var on: Int32 = 1
        if sharesAddress { setsockopt(raw, SOL_SOCKET, SO_REUSEPORT, &on, 4) }
        if let path = address.path {
            // An earlier listener leaves its socket file in place, so that clients are refused as long as no process
            // listens.
            try SocketFile.removeAbandoned(path)
        } else {
            setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        }
        if address.isIPv6 { setsockopt(raw, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, 4) }
        // The SYN's sequence number distinguishes a connection from others with the same addresses. If the kernel does
        // not keep the SYN, the connection is identified by the time at which it was accepted.
        if !address.isUnix { setsockopt(raw, Int32(IPPROTO_TCP), Int32(PROBE_TCP_SAVE_SYN), &on, 4) }
        for option in options { try option.apply(to: raw) }
        if address.withSystemAddress({ bind(raw, $0, $1) }) < 0 { throw SystemError("bind") }
        if listen(raw, backlog) < 0 { throw SystemError("listen") }
        self.address = SocketAddress.local(of: raw) ?? address
    }

    /// Takes over a socket that is already listening, possibly also in another process.
    package init(shared socket: consuming OwnedDescriptor) throws(SystemError) {
        guard let address = SocketAddress.local(of: socket.raw) else { throw SystemError("getsockname") }
        _ = fcntl(socket.raw, F_SETFD, FD_CLOEXEC)
        self.address = address
        isShared = true
        descriptor = socket
    }

    /// Returns a duplicate of the descriptor for another process; the caller must close it.
    package func duplicate() throws(SystemError) -> OwnedDescriptor {
        let copy = fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 10)
        if copy < 0 { throw SystemError("fcntl") }
        return OwnedDescriptor(copy)
    }

    deinit {
        if isShared { return }
        // A program that another thread is starting has a copy of the descriptor until it calls `exec`. `shutdown` also
        // stops the copy from listening.
        shutdown(descriptor.raw, Int32(SHUT_RDWR))
    }

    /// Rejects an address that another process already shares. Binding fails only for a socket that does not share its
    /// address, so such a socket is bound first.
    private static func refuseShared(_ address: SocketAddress) throws(SystemError) {
        let probe = try openSocket(for: address)
        var on: Int32 = 1
        setsockopt(probe.raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        if address.withSystemAddress({ bind(probe.raw, $0, $1) }) < 0 { throw SystemError("bind") }
    }

    /// The criterion by which the connections of a crowd are distinguished from other connections.
    package enum Steering: Sendable, Equatable {
        /// A connection belongs to the crowd if its source address is in the given IPv4 network.
        case address(network: UInt32, mask: UInt32)
        /// A connection belongs to the crowd if its source port is in the given range.
        case port(Range<Int>, isIPv6: Bool)
    }

    /// Distributes the connections of a crowd among the `places` processes that listen on the address. All other
    /// connections are accepted by this process.
    package func steer(_ steering: Steering, places: Int) throws(SystemError) {
        let result =
            switch steering {
            case .address(let network, let mask):
                probe_steer_by_address(descriptor.raw, network, mask, UInt32(places))
            case .port(let ports, let isIPv6):
                probe_steer_by_port(
                    descriptor.raw, isIPv6 ? 1 : 0, UInt16(ports.lowerBound), UInt16(clamping: ports.upperBound),
                    UInt32(places))
            }
        if result < 0 { throw SystemError("setsockopt") }
    }

    /// Calls `handler` whenever a connection may be waiting to be accepted.
    package func watch(on reactor: Reactor, _ handler: @escaping () -> Void) throws(SystemError) {
        try reactor.register(descriptor.raw, for: .read) { _ in handler() }
    }

    package func stopWatching(on reactor: Reactor) {
        reactor.unregister(descriptor.raw)
    }

    /// Returns the next connection; `nil` if none is waiting.
    package func accept() throws(SystemError) -> AcceptedSocket? {
        while true {
            var raw: Int32 = -1
            let listener = descriptor.raw
            // `accept` returns the peer's address. `getpeername` would fail if the connection had been reset in the
            // meantime.
            let peer = SocketAddress.read {
                raw = Glibc.accept(listener, $0, $1)
                return raw >= 0 ? 0 : -1
            }
            if raw >= 0 {
                // Programs that the harness starts must not inherit the descriptor.
                _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
                _ = fcntl(raw, F_SETFL, O_NONBLOCK)
                return AcceptedSocket(
                    descriptor: OwnedDescriptor(raw), peer: peer, time: .now,
                    origin: .accepted(sequence: ConnectionOrigin.initialSequence(of: raw), before: WallClock.now))
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return nil
            default: throw SystemError("accept")
            }
        }
    }

    /// Whether a connection is waiting to be accepted.
    package var hasPending: Bool {
        var poller = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) > 0
    }
}

/// A connection that was just accepted.
package struct AcceptedSocket: ~Copyable {
    package let descriptor: OwnedDescriptor
    package let peer: SocketAddress?
    package let time: MonotonicTime
    let origin: ConnectionOrigin

    package var local: SocketAddress? { SocketAddress.local(of: descriptor.raw) }

    /// Whether either end has already closed or reset the connection.
    package var hasEnded: Bool {
        if peer?.isUnix == true {
            var poller = pollfd(fd: descriptor.raw, events: Int16(PROBE_EPOLLRDHUP), revents: 0)
            return poll(&poller, 1, 0) > 0
        }
        var info = probe_tcp_info()
        _ = probe_tcp_info(descriptor.raw, &info)
        return Int(info.state) != Int(TCP_ESTABLISHED)
    }

    /// Transfers ownership of the descriptor to the caller.
    package consuming func take() -> OwnedDescriptor { descriptor }
}

/// Opens a non-blocking, close-on-exec stream socket for the address's family.
func openSocket(for address: SocketAddress) throws(SystemError) -> OwnedDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let raw = socket(address.family, type, address.isUnix ? 0 : Int32(IPPROTO_TCP))
    guard raw >= 0 else { throw SystemError("socket") }
    return OwnedDescriptor(raw)
}
