import ProbeSystem

/// Every connection that the harness has had in a case, in the order in which they began.
struct ConnectionTable {
    typealias Entry = (owner: ConnectionActor, connection: Connection)

    /// Those that are judged at the end. A client that connected again is there more than once.
    private(set) var entries: [Entry] = []
    /// Those of a `retry`'s failed attempts: nothing is judged from them.
    private(set) var discarded: [Connection] = []
    /// Those of them that may still wait at a server of the script.
    var abandoned = AbandonedConnections()

    /// Gives an actor its connection.
    mutating func add(_ connection: Connection, for owner: ConnectionActor) {
        if let earlier = owner.connection {
            owner.earlier.append(earlier)
            earlier.tls?.taken = owner.takenOfTLS
        }
        owner.connection = connection
        (owner.endIsTaken, owner.sendFailureIsTaken) = (false, false)
        owner.opening = nil
        (owner.takenNews, owner.handshakeFailureIsTaken) = (0, false)
        entries.append((owner, connection))
    }

    /// Takes out what a failed attempt opened.
    mutating func discard(_ opened: [Connection]) {
        let present = entries.map(\.connection)
        // Those of an attempt inside this one have been abandoned already.
        abandoned.add(opened.filter { opened in present.contains { $0 === opened } }, among: present)
        entries.removeAll { (_, connection) in opened.contains { $0 === connection } }
        discarded += opened
    }

    /// Whose it is.
    func owner(of connection: Connection) -> ConnectionActor? {
        entries.last { $0.connection === connection }?.owner
    }

    /// Whether the other end of a connection is the harness's own: its steps do nothing while the harness stands still.
    func hasOwnPeer(_ connection: Connection) -> Bool {
        ownPeer(of: connection) != nil
    }

    /// Whose other end of a connection it is, where that is the harness's own.
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
