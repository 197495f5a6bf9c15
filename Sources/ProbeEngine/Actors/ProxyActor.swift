import ProbeBase
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// A `proxy`: where it listens, and the effects of steps on future connections.
final class ProxyActor {
    let name: String
    let target: Target
    var proxy: ConnectionProxy?
    var endpoints: Set<EndpointPattern> = []
    /// The effects of steps before the first `accept`, in the order of the steps. They apply to each new connection.
    var effectsOnNewConnections: [(ProxiedConnection) -> Void] = []
    /// The connection that the proxy's name refers to after a plain `accept`.
    var plain: ProxiedActor?
    /// For each side of future connections, the number of the step that makes the proxy forward bytes to that side as
    /// soon as the bytes arrive. Observers receive this number.
    var plainForwards: [ConversationSide: Int] = [:]
    /// The number of connections that steps have accepted.
    var accepted = 0

    init(name: String, target: Target) {
        (self.name, self.target) = (name, target)
    }

    /// The place at which the proxy listens, for messages.
    var place: String { proxy.map { "port \($0.address.port)" } ?? "no port" }
}

/// A name for a proxied connection, and how far steps have examined the forwarded bytes.
final class ProxiedActor {
    let name: String
    let connection: ProxiedConnection
    /// For each side of the proxy, the connection table's entry for the harness's end of the connection.
    let owners: [ConversationSide: ConnectionActor]
    /// The sides for which a step has expected the end of the connection.
    var consumedEnds: Set<ConversationSide> = []

    init(name: String, _ connection: ProxiedConnection, owners: [ConversationSide: ConnectionActor]) {
        (self.name, self.connection, self.owners) = (name, connection, owners)
    }
}
