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
    /// The effects of steps before the first `accept`, in their order. They apply to each new connection.
    var effectsOnNewConnections: [(ProxiedConnection) -> Void] = []
    /// The connection that the proxy's name refers to after a plain `accept`.
    var plain: ProxiedActor?
    /// The steps that forward bytes to a side of future connections as they arrive, for observers.
    var plainForwards: [ConversationSide: Int] = [:]
    /// The number of connections that steps have accepted.
    var accepted = 0

    init(name: String, target: Target) {
        (self.name, self.target) = (name, target)
    }

    /// Where the proxy listens, for messages.
    var place: String { proxy.map { "port \($0.address.port)" } ?? "no port" }
}

/// A name for a proxied connection, and how far steps have examined the forwarded bytes.
final class ProxiedActor {
    let name: String
    let connection: ProxiedConnection
    /// The harness's two ends, as the connection table knows them.
    let owners: [ConversationSide: ConnectionActor]
    /// The sides whose end a step has expected.
    var consumedEnds: Set<ConversationSide> = []

    init(name: String, _ connection: ProxiedConnection, owners: [ConversationSide: ConnectionActor]) {
        (self.name, self.connection, self.owners) = (name, connection, owners)
    }
}
