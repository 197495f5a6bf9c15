import ProbeBase
import ProbeSystem

/// Connections that a `retry`'s failed attempts opened to servers of the script, and that no step had accepted: they may wait in the
/// servers' queues, and no step means them.
struct AbandonedConnections {
    private struct Ends: Equatable {
        var client: SocketAddress
        var server: SocketAddress
    }

    private var left: [Ends] = []

    var isEmpty: Bool { left.isEmpty }

    /// - Parameter others: the case's connections, to tell which of the attempt's were accepted.
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

    /// Takes them out of what waits at a server. Of several with the same two ends the last is the youngest.
    mutating func remove(from waiting: inout [WaitingConnection]) {
        left.removeAll { ends in
            guard let index = waiting.lastIndex(where: { $0.isBetween(ends.client, ends.server) }) else { return false }
            waiting.remove(at: index)
            return true
        }
    }

    /// Whether a connection that was just taken from a queue is one of them. A live one with the same two ends is a later one.
    mutating func takes(_ connection: WaitingConnection) -> Bool {
        guard connection.hasEnded,
            let index = left.firstIndex(where: { connection.isBetween($0.client, $0.server) })
        else { return false }
        left.remove(at: index)
        return true
    }

    /// Whether one of them may wait at a listener: on its port, whatever the address, or at its path.
    func mayWait(at listener: SocketAddress) -> Bool {
        left.contains { listener.isUnix ? $0.server == listener : $0.server.port == listener.port }
    }
}

/// A connection that was taken from a listener's queue, and that no step has accepted yet.
final class WaitingConnection {
    private var socket: AcceptedSocket?
    /// Of one with TLS, which does not wait for the step.
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

    /// Neither end has closed or reset it yet: false.
    var hasEnded: Bool {
        if let connection { return connection.readEnd != nil }
        return socket?.hasEnded ?? true
    }

    func isBetween(_ client: SocketAddress, _ server: SocketAddress) -> Bool { peer == client && local == server }

    /// Gives it up.
    func take(on reactor: Reactor, options: [RawSocketOption]) throws(SystemError) -> Connection? {
        if let connection {
            // What was set since it came.
            for option in options { try connection.set(option) }
            return connection
        }
        guard let socket = socket.take() else { return nil }
        return try Connection(accepted: socket, reactor: reactor, options: options)
    }
}
