import ProbeSystem

/// All connections that the harness has had in a case, in the order in which they started.
struct ConnectionTable {
    typealias Entry = (owner: ConnectionActor, connection: Connection)

    /// The connections that are judged at the end of the case. A client that has connected again is listed more than
    /// once.
    private(set) var entries: [Entry] = []
    /// The connections of failed attempts of a `retry`, which are not judged.
    private(set) var discarded: [Connection] = []
    /// The abandoned connections that may still be waiting at one of the script's servers.
    var abandoned = AbandonedConnections()

    /// Makes a connection the current connection of an actor.
    mutating func add(_ connection: Connection, for owner: ConnectionActor) {
        if let earlier = owner.connection {
            owner.earlier.append(earlier)
            earlier.tls?.taken = owner.consumedTLS
        }
        owner.connection = connection
        (owner.endIsConsumed, owner.sendFailureIsConsumed) = (false, false)
        owner.opening = nil
        (owner.consumedEventCount, owner.handshakeFailureIsConsumed) = (0, false)
        entries.append((owner, connection))
    }

    /// Removes the connections that a failed attempt opened.
    mutating func discard(_ opened: [Connection]) {
        let present = entries.map(\.connection)
        // The connections of a nested `retry` have already been abandoned.
        abandoned.add(opened.filter { opened in present.contains { $0 === opened } }, among: present)
        entries.removeAll { (_, connection) in opened.contains { $0 === connection } }
        discarded += opened
    }

    /// Returns the actor that owns a connection.
    func owner(of connection: Connection) -> ConnectionActor? {
        entries.last { $0.connection === connection }?.owner
    }

    /// Returns whether the harness also owns the other end of a connection. Such a peer does nothing while the harness
    /// is stalled.
    func hasOwnPeer(_ connection: Connection) -> Bool {
        ownPeer(of: connection) != nil
    }

    /// Returns the entry for the other end of a connection; `nil` if the harness doesn't own that end.
    func ownPeer(of connection: Connection) -> Entry? {
        guard let (local, peer) = ends(connection) else { return nil }
        return entries.last { other in
            guard let ends = ends(other.connection) else { return false }
            return ends == (peer, local)
        }
    }

    private func ends(_ connection: Connection) -> (local: SocketAddress, peer: SocketAddress)? {
        guard let local = connection.local, let peer = connection.peer else { return nil }
        return (local, peer)
    }
}
