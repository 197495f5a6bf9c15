import ProbeBase
import ProbeEvents
import ProbeSystem

/// What waits at the servers of the script. Connections that a `retry` gave up are passed over: they were reset, and no step means them.
extension CaseContext {
    /// Resets what a failed attempt has opened, and takes it out of the servers' queues: it would fill them.
    func abandon(_ attempt: RetryAttempt) {
        conditions.drop(of: attempt)
        connections.discard(attempt.opened)
        for connection in attempt.opened { connection.abort() }
        for case .server(let server) in actors.values { collect(server) }
    }

    /// The next connection, or nil when none waits.
    func nextConnection(_ server: ServerActor, _ listener: Listener) throws(SystemError) -> Connection? {
        let options = server.connectionOptions
        if !server.waiting.isEmpty { return try server.waiting.removeFirst().take(on: reactor, options: options) }
        // Its connections are taken where they are greeted.
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

    /// No step waits for a connection any more. A server with TLS goes on taking them.
    func stopWatching(_ server: ServerActor) {
        if tls.actors[server.name] == nil { server.listener?.stopWatching(on: reactor) }
    }

    /// Whether a connection waits that a step could accept.
    func hasWaiting(_ server: ServerActor) -> Bool {
        collect(server)
        if !server.waiting.isEmpty { return true }
        if tls.actors[server.name] == nil { return server.listener?.hasPending == true }
        // What the reactor has not told yet is there, too.
        TLSGreeter(context: self).take(server)
        return !server.waiting.isEmpty
    }

    /// Whether one waits. If none does, the steps that wait are notified when one comes.
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

    /// Where an abandoned connection may be among those that wait, all of them are taken from the queue, and it is dropped.
    private func collect(_ server: ServerActor) {
        guard let listener = server.listener, connections.abandoned.mayWait(at: listener.address) else {
            return
        }
        if tls.actors[server.name] != nil {
            TLSGreeter(context: self).take(server)
            connections.abandoned.remove(from: &server.waiting)
            return
        }
        do throws(SystemError) {
            while let socket = try listener.accept() { server.waiting.append(WaitingConnection(socket)) }
        } catch {
            // Out of descriptors: what waits stays in the queue, and the step that wants it says so.
            return
        }
        connections.abandoned.remove(from: &server.waiting)
    }
}
