package import ProbeBase
import CShims
import Glibc

/// A listening socket whose connections are taken only when asked for.
package final class Listener {
    private var descriptor: OwnedDescriptor
    package let address: SocketAddress

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - address: port 0 lets the kernel choose.
    ///   - options: applied before `listen`, so that connections inherit them.
    package init(
        address: SocketAddress, backlog: Int32, options: [RawSocketOption]
    ) throws(SystemError) {
        descriptor = try openSocket(for: address)
        let raw = descriptor.raw
        var on: Int32 = 1
        setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        if address.isIPv6 { setsockopt(raw, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, 4) }
        // The SYN's sequence number tells a connection from others with its addresses. Without it, time does.
        setsockopt(raw, Int32(IPPROTO_TCP), Int32(PROBE_TCP_SAVE_SYN), &on, 4)
        for option in options { try option.apply(to: raw) }
        if address.withSystemAddress({ bind(raw, $0, $1) }) < 0 { throw SystemError("bind") }
        if listen(raw, backlog) < 0 { throw SystemError("listen") }
        self.address = SocketAddress.local(of: raw) ?? address
    }

    deinit {
        // A program that another thread starts just now has a copy of the descriptor until its `exec`, and would go on listening.
        shutdown(descriptor.raw, Int32(SHUT_RDWR))
    }

    /// Calls `handler` whenever a connection may be waiting.
    package func watch(on reactor: Reactor, _ handler: @escaping () -> Void) throws(SystemError) {
        try reactor.register(descriptor.raw, for: .read) { _ in handler() }
    }

    package func stopWatching(on reactor: Reactor) {
        reactor.unregister(descriptor.raw)
    }

    /// The next connection, or nil when none waits.
    package func accept() throws(SystemError) -> AcceptedSocket? {
        while true {
            var raw: Int32 = -1
            let listener = descriptor.raw
            // The peer is asked for here: a connection that was reset meanwhile has none any more.
            let peer = SocketAddress.read {
                raw = Glibc.accept(listener, $0, $1)
                return raw >= 0 ? 0 : -1
            }
            if raw >= 0 {
                // Programs that the harness starts get no descriptor of it, close-on-exec or not.
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

    /// Whether a connection waits to be accepted.
    package var hasPending: Bool {
        var poller = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) > 0
    }
}

/// A connection just taken from a listener.
package struct AcceptedSocket: ~Copyable {
    package let descriptor: OwnedDescriptor
    package let peer: SocketAddress?
    package let time: MonotonicTime
    let origin: ConnectionOrigin

    package var local: SocketAddress? { SocketAddress.local(of: descriptor.raw) }

    /// One of its ends, or both, have closed or reset it already.
    package var hasEnded: Bool {
        var info = probe_tcp_info()
        _ = probe_tcp_info(descriptor.raw, &info)
        return Int(info.state) != Int(TCP_ESTABLISHED)
    }

    /// Gives up the descriptor.
    package consuming func take() -> OwnedDescriptor { descriptor }
}

/// A non-blocking, close-on-exec TCP socket of the address's family.
func openSocket(for address: SocketAddress) throws(SystemError) -> OwnedDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let raw = socket(address.isIPv6 ? AF_INET6 : AF_INET, type, Int32(IPPROTO_TCP))
    guard raw >= 0 else { throw SystemError("socket") }
    return OwnedDescriptor(raw)
}
