import ProbeBase
package import ProbeSystem

/// Accepts connections and opens an onward connection for each of them.
///
/// Confined to its reactor's thread.
package final class ConnectionProxy {
    /// A callback that receives the local address and the target of an onward connection before it is opened.
    package typealias WillConnect = (_ local: SocketAddress, _ target: SocketAddress) -> Void

    private let reactor: Reactor
    private let target: () throws(SystemError) -> SocketAddress
    private var listener: Listener?
    package let address: SocketAddress
    /// Whether forwarded bytes are kept so that expectations can examine them.
    private let watches: Bool
    /// The connections in order of arrival; empty if finished connections are discarded.
    package private(set) var connections: [ProxiedConnection] = []
    /// The unfinished connections by number, if finished connections are discarded.
    private var open: [Int: ProxiedConnection] = [:]
    private let forgets: Bool
    private var accepted = 0
    /// The maximum number of simultaneously open connections, if finished connections are discarded.
    private var capacity = Int.max
    /// Whether the limit on open connections has been reached and another process accepts further connections.
    private var isFull = false

    package var willConnect: WillConnect = { _, _ in }
    /// Called with each new connection before any bytes are read from it.
    package var onConnection: (ProxiedConnection) -> Void = { _ in }
    /// Called when a connection could not be accepted or opened.
    package var onFailure: (SystemError) -> Void = { _ in }
    /// Called with each connection that has ended.
    package var onClosed: (ProxiedConnection) -> Void = { _ in }
    /// Called when the limit on open connections has been reached. Returns whether another process accepts further
    /// connections until one of this process's connections has ended.
    private var onFull: () -> Bool = { false }

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - listener: a listener that is not being watched yet.
    ///   - forgets: whether connections are discarded once they have ended.
    ///   - target: a function that returns the current target for a new connection.
    package init(
        _ listener: consuming Listener, reactor: Reactor, watches: Bool, forgets: Bool = false,
        to target: @escaping () throws(SystemError) -> SocketAddress
    ) throws(SystemError) {
        (self.reactor, self.watches, self.forgets, self.target) = (reactor, watches, forgets, target)
        address = listener.address
        self.listener = listener
        try self.listener?.watch(on: reactor) { [weak self] in self?.acceptAll() }
    }

    /// The number of connections accepted so far.
    package var count: Int { accepted }

    /// The number of unfinished connections, if finished connections are discarded.
    package var openCount: Int { open.count }

    /// Limits the number of open connections while another process accepts the connections beyond the limit.
    package func limit(to capacity: Int, onFull: @escaping () -> Bool) {
        (self.capacity, self.onFull) = (capacity, onFull)
    }

    /// Resumes accepting connections, because no other process accepts the connections beyond the limit any longer.
    package func resumeAccepting() {
        guard isFull else { return }
        isFull = false
        watchAgain()
    }

    /// Duplicates the listening socket for another process that also accepts connections on the socket.
    package func duplicateListener() throws(SystemError) -> OwnedDescriptor? { try listener?.duplicate() }

    /// Whether bytes, FINs or RSTs are in flight through one of the proxy's connections.
    package var isForwarding: Bool { connections.contains(where: \.isForwarding) }

    /// Accepts the connections that are currently waiting, before the reactor reports them.
    package func acceptWaiting() { acceptAll() }

    /// Stops accepting connections.
    package func stopListening() {
        listener?.stopWatching(on: reactor)
        listener = nil
    }

    /// Stops accepting connections and aborts all open connections.
    package func end() {
        stopListening()
        for connection in connections { connection.abort() }
        for connection in open.values.sorted(by: { $0.number < $1.number }) { connection.abort() }
        (connections, open) = ([], [:])
    }

    private func acceptAll() {
        // At most 64 connections are accepted per call, so that the reactor can also serve other descriptors.
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

    /// Pauses accepting after a failure; otherwise the reactor would immediately report the waiting connection again.
    private func pause() {
        listener?.stopWatching(on: reactor)
        reactor.schedule(at: .now + Self.pauseAfterFailure) { [weak self] in self?.watchAgain() }
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

    private static let pauseAfterFailure = Duration.milliseconds(100)

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
        connection.onClosed = { [weak self, weak connection] in
            guard let self, let connection else { return }
            open[connection.number] = nil
            onClosed(connection)
            if isFull, open.count < capacity {
                isFull = false
                watchAgain()
            }
        }
        onConnection(connection)
        connection.begin()
    }
}
