import ProbeBase
import ProbeEvents
import ProbeSystem

/// The connections that wait at the servers of the script. Connections that a `retry` abandoned are skipped: they were
/// reset, and no step refers to them.
extension CaseContext {
    /// Resets the connections that a failed attempt opened, and removes them from the servers' queues, which they would
    /// fill up.
    func abandon(_ attempt: RetryAttempt) {
        conditions.drop(of: attempt)
        connections.discard(attempt.opened)
        for connection in attempt.opened { connection.abort() }
        for case .server(let server) in actors.values { collect(server) }
    }

    /// Returns the next connection, or `nil` if none is waiting.
    func nextConnection(_ server: ServerActor, _ listener: Listener) throws(SystemError) -> Connection? {
        let options = server.connectionOptions
        if !server.waiting.isEmpty { return try server.waiting.removeFirst().take(on: reactor, options: options) }
        // A server with TLS accepts its connections where the handshakes start.
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

    /// Stops watching a server once no step waits for a connection. A server with TLS keeps accepting them.
    func stopWatching(_ server: ServerActor) {
        if tls.actors[server.name] == nil { server.listener?.stopWatching(on: reactor) }
    }

    /// Returns whether a connection is waiting that a step could accept.
    func hasWaiting(_ server: ServerActor) -> Bool {
        collect(server)
        if !server.waiting.isEmpty { return true }
        if tls.actors[server.name] == nil { return server.listener?.hasPending == true }
        // This includes connections that the reactor has not reported yet.
        TLSAcceptor(context: self).take(server)
        return !server.waiting.isEmpty
    }

    /// Returns whether a connection is waiting. If not, the waiting steps are notified when one arrives.
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

    /// Empties the listener's queue and drops the abandoned connections, if there may be one in it.
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
            // Out of descriptors: the connections stay in the queue, and the step that accepts one reports the error.
            return
        }
        connections.abandoned.remove(from: &server.waiting)
    }
}
