import ProbeBase
package import ProbeSystem

/// Takes connections and makes one onwards for each.
///
/// Confined to its reactor's thread.
package final class ConnectionProxy {
    /// What is to be known before the connection onwards is made: its own address, and where it goes.
    package typealias WillConnect = (_ local: SocketAddress, _ target: SocketAddress) -> Void

    private let reactor: Reactor
    private let target: () throws(SystemError) -> SocketAddress
    private var listener: Listener?
    package let address: SocketAddress
    /// Whether what passes is kept for expectations.
    private let watches: Bool
    /// In the order in which they came; none where they are forgotten.
    package private(set) var connections: [ProxiedConnection] = []
    /// Those that are not over, where others are forgotten.
    private var open: [Int: ProxiedConnection] = [:]
    private let forgets: Bool
    private var accepted = 0
    /// The most connections that are open at a time, where others are forgotten.
    private var capacity = Int.max
    /// As many are open as may be, and somebody else takes further ones.
    private var isFull = false

    package var willConnect: WillConnect = { _, _ in }
    /// Of a new connection, before a byte of it is read.
    package var onConnection: (ProxiedConnection) -> Void = { _ in }
    /// A connection could not be taken or made.
    package var onFailure: (SystemError) -> Void = { _ in }
    /// Of a connection that is over.
    package var onOver: (ProxiedConnection) -> Void = { _ in }
    /// As many are open as may be: returns whether somebody else takes further ones until one of them is over.
    private var onFull: () -> Bool = { false }

    /// - Parameters:
    ///   - listener: on which nobody waits yet.
    ///   - forgets: whether connections that are over are kept no longer.
    ///   - target: where a connection that comes now goes to.
    package init(
        _ listener: consuming Listener, reactor: Reactor, watches: Bool, forgets: Bool = false,
        to target: @escaping () throws(SystemError) -> SocketAddress
    ) throws(SystemError) {
        (self.reactor, self.watches, self.forgets, self.target) = (reactor, watches, forgets, target)
        address = listener.address
        self.listener = listener
        try self.listener?.watch(on: reactor) { [weak self] in self?.acceptAll() }
    }

    /// How many connections there have been.
    package var count: Int { accepted }

    /// How many of those that are forgotten when they are over are not over.
    package var openCount: Int { open.count }

    /// Keeps no more than so many open, where somebody else takes what comes then.
    package func limit(to capacity: Int, onFull: @escaping () -> Bool) {
        (self.capacity, self.onFull) = (capacity, onFull)
    }

    /// Nobody else takes connections any more.
    package func takeAgain() {
        guard isFull else { return }
        isFull = false
        watchAgain()
    }

    /// The socket, for another process that takes its connections, too.
    package func duplicateListener() throws(SystemError) -> OwnedDescriptor? { try listener?.duplicate() }

    /// Whether bytes or ends are on their way through one of its connections.
    package var isForwarding: Bool { connections.contains(where: \.isForwarding) }

    /// Accepts the connections that are waiting now, without waiting for the reactor to announce them.
    package func acceptWaiting() { acceptAll() }

    /// Takes no more.
    package func stopListening() {
        listener?.stopWatching(on: reactor)
        listener = nil
    }

    /// Takes no more, and ends all that there are.
    package func end() {
        stopListening()
        for connection in connections { connection.abort() }
        for connection in open.values.sorted(by: { $0.number < $1.number }) { connection.abort() }
        (connections, open) = ([], [:])
    }

    private func acceptAll() {
        // Others are served between: at most so many at a time.
        for _ in 0..<64 {
            if open.count >= capacity, !isFull, onFull() {
                isFull = true
                listener?.stopWatching(on: reactor)
            }
            if isFull { return }
            do throws(SystemError) {
                guard let listener, let socket = try listener.accept() else { return }
                try take(socket)
            } catch {
                onFailure(error)
                pause()
                return
            }
        }
    }

    /// What can't be taken now waits: the reactor would say at once again that it is there.
    private func pause() {
        listener?.stopWatching(on: reactor)
        reactor.schedule(at: .now + Self.pauseBehindFailure) { [weak self] in self?.watchAgain() }
    }

    private func watchAgain() {
        guard let listener, !isFull else { return }
        do throws(SystemError) {
            try listener.watch(on: reactor) { [weak self] in self?.acceptAll() }
        } catch {
            onFailure(error)
            pause()
        }
    }

    private static let pauseBehindFailure = Duration.milliseconds(100)

    private func take(_ socket: consuming AcceptedSocket) throws(SystemError) {
        let client = try Connection(accepted: socket, reactor: reactor)
        let server: Connection
        do throws(SystemError) {
            let target = try target()
            server = try Connection(
                connectingTo: target, reactor: reactor, options: [],
                willConnect: { willConnect($0, target) })
        } catch {
            client.abort()
            throw error
        }
        accepted += 1
        let connection = ProxiedConnection(
            client: client, server: server, number: accepted, reactor: reactor, watches: watches)
        if forgets { open[connection.number] = connection } else { connections.append(connection) }
        connection.onOver = { [weak self, weak connection] in
            guard let self, let connection else { return }
            open[connection.number] = nil
            onOver(connection)
            if isFull, open.count < capacity {
                isFull = false
                watchAgain()
            }
        }
        onConnection(connection)
        connection.begin()
    }
}
