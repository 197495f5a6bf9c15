import ProbeScenario
import ProbeSockets
import ProbeWire

/// A `server`: its listener, and after a plain `accept` the connection that goes by its name.
final class ServerActor {
    let name: String
    let declared: AddressExpression?
    /// nil while it does not listen.
    var listener: Listener?
    /// The last address it listened on.
    var address: SocketAddress?
    var backlog: Int32 = 128
    var options: [RawSocketOption] = []
    /// For the connections it accepts, from `set` before `accept`.
    var connectionOptions: [RawSocketOption] = []
    var plain: ConnectionActor?
    /// Where it has listened: the connections that came to it are told by that.
    var endpoints: Set<EndpointPattern> = []

    init(name: String, declared: AddressExpression?) {
        self.name = name
        self.declared = declared
    }

    /// Whether a connection waits; the bell rings when the next one does.
    func isPending(on reactor: Reactor, _ bell: Bell) -> Bool {
        guard let listener else { return false }
        if listener.hasPending { return true }
        listener.stopWatching(on: reactor)
        do {
            try listener.watch(on: reactor) { [weak listener] in
                listener?.stopWatching(on: reactor)
                bell.ring()
            }
        } catch {
            // Without a watch (out of descriptors) the deadline of the step still ends the wait.
            return false
        }
        return false
    }
}
