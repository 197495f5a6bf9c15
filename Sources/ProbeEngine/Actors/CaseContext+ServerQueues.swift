import ProbeBase
import ProbeEvents
import ProbeSystem

/// Access to the connections that wait at the script's servers. Connections that a `retry` has abandoned are skipped,
/// because they were reset and no step refers to them.
extension CaseContext {
    /// Resets the connections that a failed attempt opened, and removes them from the servers' queues, which would
    /// otherwise fill up.
    func abandon(_ attempt: RetryAttempt) {
        conditions.drop(of: attempt)
        connections.discard(attempt.opened)
        for connection in attempt.opened { connection.abort() }
        for case .server(let server) in actors.values { collect(server) }
    }

    /// Returns the next connection that waits at a server, or `nil` if none is waiting.
    func nextConnection(_ server: ServerActor, _ listener: Listener) throws(SystemError) -> Connection? {
        let options = server.connectionOptions
        if !server.waiting.isEmpty { return try server.waiting.removeFirst().take(on: reactor, options: options) }
        // With TLS, `TLSAcceptor` accepts the connections, because it starts their handshakes.
        if tls.actors[server.name] != nil { return nil }
        while let socket = try listener.accept() {
            if connections.abandoned.isEmpty {
                return try Connection(accepted: socket, reactor: reactor, options: options)
            }
            let connection = WaitingConnection(socket)
            if !connections.abandoned.takes(connection) { return try connection.take(on: reactor, options: options) }
        }
        return nil
    }

    /// Stops watching a server's listener once no step waits for a connection. A listener with TLS remains watched,
    /// because its connections are accepted as soon as they arrive.
    func stopWatching(_ server: ServerActor) {
        if tls.actors[server.name] == nil { server.listener?.stopWatching(on: reactor) }
    }

    /// Returns whether a connection that a step could accept is waiting at the server.
    func hasWaiting(_ server: ServerActor) -> Bool {
        collect(server)
        if !server.waiting.isEmpty { return true }
        if tls.actors[server.name] == nil { return server.listener?.hasPending == true }
        // Also accept connections that the reactor has not reported yet.
        TLSAcceptor(context: self).take(server)
        return !server.waiting.isEmpty
    }

    /// Returns whether a connection is waiting at the server. If none is waiting, watches the listener, so that waiting
    /// steps are notified when a connection arrives.
    func hasWaitingOrWatches(_ server: ServerActor) throws(Finding) -> Bool {
        guard let listener = server.listener else { return false }
        if hasWaiting(server) { return true }
        if tls.actors[server.name] != nil { return false }
        do throws(SystemError) {
            try watch(listener)
        } catch {
            throw Finding(.error, "\(server.name) can't be watched: \(error)")
        }
        return false
    }

    private func watch(_ listener: Listener) throws(SystemError) {
        let changes = changes
        listener.stopWatching(on: reactor)
        try listener.watch(on: reactor) { [weak listener, reactor] in
            listener?.stopWatching(on: reactor)
            changes.notifyAll()
        }
    }

    /// If the listener's queue may contain abandoned connections, accepts all connections in the queue and drops the
    /// abandoned ones.
    private func collect(_ server: ServerActor) {
        guard let listener = server.listener, connections.abandoned.mayWait(at: listener.address) else {
            return
        }
        if tls.actors[server.name] != nil {
            TLSAcceptor(context: self).take(server)
            connections.abandoned.remove(from: &server.waiting)
            return
        }
        do throws(SystemError) {
            while let socket = try listener.accept() { server.waiting.append(WaitingConnection(socket)) }
        } catch {
            // If the process is out of descriptors, the connections stay in the queue, and the step that accepts one of
            // them reports the error.
            return
        }
        connections.abandoned.remove(from: &server.waiting)
    }
}
