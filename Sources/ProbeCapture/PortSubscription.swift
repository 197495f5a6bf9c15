package import ProbeBase
package import ProbeWire
import Synchronization

/// A subscription to the packets of the connections in its scopes, from the SYN on, in the order in which the kernel
/// processed them.
///
/// The subscription ends with `release()`, or when its last reference is released. After a fence, `packets` contains
/// every packet sent before the fence. A connection whose SYN was sent before the scope was added does not belong to
/// the subscription, however late its packets arrive.
package final class PortSubscription: Sendable {
    private let store: PacketStore
    private let core: CaptureCore
    private let crowds = Mutex<[CrowdTraffic]>([])

    init(store: PacketStore, core: CaptureCore) {
        self.store = store
        self.core = core
    }

    deinit { release() }

    /// Adds the connections of a scope.
    /// - Parameter since: the earliest time of a connection's SYN, in nanoseconds since 1970-01-01 UTC.
    package func add(_ scope: CaptureScope, since: UInt64) throws(CaptureError) {
        try core.add(port: scope.port)
        core.subscribe(store, to: scope, since: since)
    }

    /// Removes a scope. No further connections of the scope are added; existing connections stay subscribed.
    package func remove(_ scope: CaptureScope) {
        core.unsubscribe(store, from: scope)
    }

    /// Excludes the packets of a crowd from the capture until the subscription is released.
    package func leaveOut(_ crowd: CrowdTraffic) throws(CaptureError) {
        guard !crowds.withLock({ $0.contains(crowd) }) else { return }
        try core.change { $0.leaveOut(crowd) }
        crowds.withLock { $0.append(crowd) }
    }

    /// The number of packets that the subscription holds.
    package var count: Int { store.count }

    /// Whether packets were discarded because the subscription's memory limit was reached. In that case, any judgment
    /// based on the subscription's packets is inconclusive.
    package var overflowed: Bool { store.overflowed }

    /// Returns the packets from the given index on; an empty array if the subscription holds fewer packets. The time
    /// taken depends only on the number of returned packets, whose bytes are not copied.
    package func packets(from index: Int = 0) -> [ConnectionPacket] { store.packets(from: index) }

    /// Removes and returns all packets that the subscription holds. Taking packets limits the memory of a subscription
    /// that is never released.
    package func take() -> [CapturedPacket] { store.take().map(\.packet) }

    /// Ends the subscription, and drops its packets. Later packets are ignored. A second call has no effect.
    package func release() {
        let crowds = crowds.withLock { list in
            defer { list = [] }
            return list
        }
        do {
            if !crowds.isEmpty { try core.change { ports in crowds.forEach { ports.readmit($0) } } }
        } catch {
            // `change` fails only if the capture has ended. Its filter then no longer exists.
        }
        core.release(store)
        store.release()
    }
}

/// A captured packet and the connection that it belongs to.
package struct ConnectionPacket: Sendable {
    package let packet: CapturedPacket
    /// The number of the connection, which is unique within the capture; 0 in a subscription to all packets.
    package let connection: Int

    package init(packet: CapturedPacket, connection: Int) {
        self.packet = packet
        self.connection = connection
    }
}

/// The connections that a subscription selects, by the side that opens them or by their destination.
package enum CaptureScope: Sendable, Hashable {
    /// Connections to a listener that belongs to the subscription's owner. Because no one else can listen on the same
    /// address, other subscriptions to a `server` with that address get none of these connections.
    case listener(EndpointPattern)
    /// Connections to a server outside the run. Every subscription that names the server gets these connections.
    case server(EndpointPattern)
    /// The next connection to the peer from the given endpoint, which the subscription's owner has bound. A
    /// subscription to the peer as a `server` does not get this connection.
    case client(SocketEndpoint, peer: SocketEndpoint)

    /// The port that the capture's filter must accept.
    package var port: UInt16 {
        switch self {
        case .listener(let pattern), .server(let pattern): pattern.port
        case .client(_, let peer): peer.port
        }
    }
}
