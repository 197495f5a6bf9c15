package import ProbeBase
package import ProbeWire
import Synchronization

/// A subscription to the packets of the connections in its scopes, from their SYN on, in the order in which the kernel
/// saw them.
///
/// It is released by `release()`, or with the last reference. After a fence, every packet sent before the fence is in
/// `packets`. A connection whose SYN was sent before the scope began does not belong to the subscription, however late
/// its packets arrive.
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

    /// Accepts no further connections of the scope; existing ones stay subscribed.
    package func remove(_ scope: CaptureScope) {
        core.unsubscribe(store, from: scope)
    }

    /// Excludes the packets of a crowd from the capture until the subscription is released.
    package func leaveOut(_ crowd: CrowdTraffic) throws(CaptureError) {
        guard !crowds.withLock({ $0.contains(crowd) }) else { return }
        try core.change { $0.leaveOut(crowd) }
        crowds.withLock { $0.append(crowd) }
    }

    /// The number of packets kept so far.
    package var count: Int { store.count }

    /// Whether packets were discarded because the subscription's memory was full. The packets then have a gap, and any
    /// judgement based on them is inconclusive.
    package var overflowed: Bool { store.overflowed }

    /// Returns the packets from the one at `index` on, or none if there are fewer. Takes time for the returned packets
    /// only, and doesn't copy their bytes.
    package func packets(from index: Int = 0) -> [ConnectionPacket] { store.packets(from: index) }

    /// Removes and returns the packets kept so far, for a subscription that is never released.
    package func take() -> [CapturedPacket] { store.take().map(\.packet) }

    /// Ends the subscription, and drops its packets; later ones are ignored. Calling it again has no effect.
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
    /// The number of the connection, which is unique within the capture; 0 in a subscription to everything.
    package let connection: Int

    package init(packet: CapturedPacket, connection: Int) {
        self.packet = packet
        self.connection = connection
    }
}

/// Selects the connections of a subscription, by who opens them or where they go.
package enum CaptureScope: Sendable, Hashable {
    /// Connections to a listener of the subscription's owner. No other owner can listen there: another subscription to
    /// a `server` with that address gets none of them.
    case listener(EndpointPattern)
    /// Connections to a server outside of the run. Every subscription that names the server gets them.
    case server(EndpointPattern)
    /// The next connection from this endpoint, which the owner has bound, to the peer. A subscription to the peer as a
    /// `server` does not get it.
    case client(SocketEndpoint, peer: SocketEndpoint)

    /// The port that the capture's filter must accept.
    package var port: UInt16 {
        switch self {
        case .listener(let pattern), .server(let pattern): pattern.port
        case .client(_, let peer): peer.port
        }
    }
}
