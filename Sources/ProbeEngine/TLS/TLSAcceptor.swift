import ProbeBase
import ProbeEvents
import ProbeSystem

/// Accepts the connections of a server with `tls` from the kernel as soon as they arrive, so that their handshakes
/// don't have to wait for an `accept` step.
struct TLSAcceptor {
    let context: CaseContext

    /// Watches the server's listener until the listener is closed.
    func watchListener(_ server: ServerActor) throws(Finding) {
        guard context.tls.actors[server.name] != nil, let listener = server.listener else { return }
        let context = context
        do throws(SystemError) {
            try listener.watch(on: context.reactor) { [weak server, weak context] in
                guard let server, let context else { return }
                TLSAcceptor(context: context).take(server)
                context.changes.notifyAll()
            }
        } catch {
            throw Finding(.error, "\(server.name)'s listener can't be watched: \(error)")
        }
    }

    /// Accepts all waiting connections, and begins the handshakes of those whose `accept` step does not specify
    /// `without tls`.
    func take(_ server: ServerActor) {
        guard let listener = server.listener, let tls = context.tls.actors[server.name] else { return }
        do throws(SystemError) {
            while let socket = try listener.accept() {
                let number = context.tls.greeted[server.name, default: 0]
                context.tls.greeted[server.name] = number + 1
                let beginning = context.tls.index?.beginning(of: number, at: server.name)
                if beginning == .plain {
                    server.waiting.append(WaitingConnection(socket))
                    continue
                }
                let connection = try Connection(
                    accepted: socket, reactor: context.reactor, options: server.connectionOptions)
                connection.onChange = { [weak context] in context?.changes.notifyAll() }
                if beginning == .secured {
                    begin(tls, on: connection, of: server)
                } else {
                    sniff(tls, connection, server)
                }
                server.waiting.append(WaitingConnection(connection))
            }
        } catch {
            // If the process is out of descriptors, for example, the connections stay in the queue. If the listener
            // were still watched, it would be reported as ready again and again.
            listener.stopWatching(on: context.reactor)
            context.raise(Finding(.error, "\(server.name) can't accept connections: \(error)"))
        }
    }

    /// Begins TLS if the peer's first bytes show that the connection uses it. Only the `accept` step specifies whether
    /// the connection uses TLS, but a TLS peer may need the handshake before that step runs.
    private func sniff(_ tls: CaseTLS.Actor, _ connection: Connection, _ server: ServerActor) {
        connection.layer = TLSSniffer(
            begin: { [weak connection, weak context, weak server] in
                guard let connection, let context, let server else { return nil }
                TLSAcceptor(context: context).begin(tls, on: connection, of: server)
                return connection.tls
            },
            giveUp: { [weak connection] in connection?.layer = nil })
    }

    private func begin(_ tls: CaseTLS.Actor, on connection: Connection, of server: ServerActor) {
        do throws(Finding) {
            _ = try TLSSetup(context: context).begin(tls, on: connection, of: server.name, isServer: true)
        } catch {
            context.raise(error)
        }
    }
}
