import ProbeBase
import ProbeSystem

/// The connections to the script's servers that were opened by failed attempts of a `retry` and that no step has
/// accepted. They may still be waiting in the servers' queues, where no step refers to them.
struct AbandonedConnections {
    private struct Ends: Equatable {
        var client: SocketAddress
        var server: SocketAddress
    }

    private var left: [Ends] = []

    var isEmpty: Bool { left.isEmpty }

    /// Adds those connections of a failed attempt that no server has accepted.
    ///
    /// - Parameter others: the case's connections, including those that the servers have accepted.
    mutating func add(_ opened: [Connection], among others: [Connection]) {
        for connection in opened {
            guard let client = connection.local, let server = connection.peer else { continue }
            let isAccepted = others.contains {
                $0 !== connection && $0.peer == client && $0.local == server
                    && ($0.openedAt ?? .distantFuture) >= connection.createdAt
            }
            if !isAccepted { left.append(Ends(client: client, server: server)) }
        }
    }

    /// Removes the abandoned connections from a server's waiting connections. If several waiting connections have the
    /// same two endpoints, the one that arrived last is removed.
    mutating func remove(from waiting: inout [WaitingConnection]) {
        left.removeAll { ends in
            guard let index = waiting.lastIndex(where: { $0.isBetween(ends.client, ends.server) }) else { return false }
            waiting.remove(at: index)
            return true
        }
    }

    /// Returns whether a connection that was just taken from a server's queue is abandoned, and if so, removes it from
    /// this list. A connection that is still open is not abandoned, even if it has the same two endpoints, because it
    /// was opened later.
    mutating func takes(_ connection: WaitingConnection) -> Bool {
        guard connection.hasEnded,
            let index = left.firstIndex(where: { connection.isBetween($0.client, $0.server) })
        else { return false }
        left.remove(at: index)
        return true
    }

    /// Returns whether an abandoned connection may be waiting at a listener. A TCP listener is identified by its port
    /// alone, regardless of its address; a Unix listener is identified by its path.
    func mayWait(at listener: SocketAddress) -> Bool {
        left.contains { listener.isUnix ? $0.server == listener : $0.server.port == listener.port }
    }
}

/// A connection that was taken from a listener's queue and that no step has accepted yet.
final class WaitingConnection {
    private var socket: AcceptedSocket?
    /// The connection if it uses TLS; otherwise `nil`. A TLS handshake starts before a step accepts the connection.
    private(set) var connection: Connection?
    private let peer: SocketAddress?
    private let local: SocketAddress?

    init(_ socket: consuming AcceptedSocket) {
        peer = socket.peer
        local = socket.local
        self.socket = consume socket
    }

    init(_ connection: Connection) {
        peer = connection.peer
        local = connection.local
        self.connection = connection
    }

    /// Whether either end has closed or reset the connection.
    var hasEnded: Bool {
        if let connection { return connection.readEnd != nil }
        return socket?.hasEnded ?? true
    }

    func isBetween(_ client: SocketAddress, _ server: SocketAddress) -> Bool { peer == client && local == server }

    /// Returns the connection with `options` set; `nil` if the connection has already been taken.
    func take(on reactor: Reactor, options: [RawSocketOption]) throws(SystemError) -> Connection? {
        if let connection {
            // Apply the options that steps have set since the connection arrived.
            for option in options { try connection.set(option) }
            return connection
        }
        guard let socket = socket.take() else { return nil }
        return try Connection(accepted: socket, reactor: reactor, options: options)
    }
}
