package import ProbeBase
package import ProbeWire
import Synchronization

/// The right to the packets of connections: those that the subscription's scopes name, from their SYN on, in the order in which the kernel
/// saw them. Released by `release()`, or when the last reference goes.
///
/// What a fence promises holds for a subscription: after it, every packet sent before it is in `packets`. A connection whose SYN was sent
/// before the scope's beginning is not the subscription's, however late its packets come.
package final class PortSubscription: Sendable {
    private let store: PacketStore
    private let core: CaptureCore
    private let crowds = Mutex<[CrowdTraffic]>([])

    init(store: PacketStore, core: CaptureCore) {
        self.store = store
        self.core = core
    }

    deinit { release() }

    /// Takes the connections of one more scope.
    /// - Parameter since: connections whose SYN is from this time on, in nanoseconds since 1970-01-01 UTC.
    package func add(_ scope: CaptureScope, since: UInt64) throws(CaptureError) {
        try core.add(port: scope.port)
        core.subscribe(store, to: scope, since: since)
    }

    /// Takes no further connections of that scope; those that it has go on.
    package func remove(_ scope: CaptureScope) {
        core.unsubscribe(store, from: scope)
    }

    /// Nobody takes the packets of this crowd, until the subscription is released.
    package func leaveOut(_ crowd: CrowdTraffic) throws(CaptureError) {
        guard !crowds.withLock({ $0.contains(crowd) }) else { return }
        try core.change { $0.leaveOut(crowd) }
        crowds.withLock { $0.append(crowd) }
    }

    /// Packets kept so far.
    package var count: Int { store.count }

    /// Whether packets were thrown away because the subscription's memory was full. What is kept then has a gap, and what is judged
    /// from it is inconclusive.
    package var overflowed: Bool { store.overflowed }

    /// The packets from the one at `index` on; none when there are not that many. Costs the packets returned, and no copy of
    /// their bytes.
    package func packets(from index: Int = 0) -> [ConnectionPacket] { store.packets(from: index) }

    /// The packets kept so far, which the subscription then drops: for a subscription without an end.
    package func take() -> [CapturedPacket] { store.take().map(\.packet) }

    /// Ends the subscription and drops its packets; later ones are ignored. Doing it twice does no harm.
    package func release() {
        let crowds = crowds.withLock { list in
            defer { list = [] }
            return list
        }
        do {
            if !crowds.isEmpty { try core.change { ports in crowds.forEach { ports.readmit($0) } } }
        } catch {
            // The capture has ended, and its filter with it.
        }
        core.release(store)
        store.release()
    }
}

/// A captured packet and the connection that it belongs to.
package struct ConnectionPacket: Sendable {
    package let packet: CapturedPacket
    /// The same for all packets of one connection, and for no other connection of the capture; 0 where everything is taken.
    package let connection: Int

    package init(packet: CapturedPacket, connection: Int) {
        self.packet = packet
        self.connection = connection
    }
}

/// Which connections a subscription takes, by who opens them or where they go.
package enum CaptureScope: Sendable, Hashable {
    /// Those that go to a listener of the subscription's owner. No other owner can listen there: another subscription of a `server` with that
    /// address gets none of them.
    case listener(EndpointPattern)
    /// Those that go to a server outside of the run. Every subscription that names it gets them.
    case server(EndpointPattern)
    /// The next one that leaves this endpoint, which the owner has bound, for that peer. A subscription of the peer as a `server` does not get it.
    case client(SocketEndpoint, peer: SocketEndpoint)

    /// The port that the capture's filter has to let through.
    package var port: UInt16 {
        switch self {
        case .listener(let pattern), .server(let pattern): pattern.port
        case .client(_, let peer): peer.port
        }
    }
}
