import ProbeBase
import ProbeNetwork
import ProbeScenario
import ProbeSystem

/// A `proxy`: where it listens, and what is said of the connections to come.
final class ProxyActor {
    let name: String
    let target: Target
    var proxy: ConnectionProxy?
    var endpoints: Set<EndpointPattern> = []
    /// What steps before the first `accept` say, in their order: done to each new connection.
    var forConnectionsToCome: [(ProxiedConnection) -> Void] = []
    /// After a plain `accept` the proxy's name is that connection's.
    var plain: ProxiedActor?
    /// The steps that say how bytes go on to a side of the connections to come, as they come: for who observes.
    var plainForwards: [ConversationSide: Int] = [:]
    /// How many connections steps have accepted.
    var accepted = 0

    init(name: String, target: Target) {
        (self.name, self.target) = (name, target)
    }

    /// Where it listens, for messages.
    var place: String { proxy.map { "port \($0.address.port)" } ?? "no port" }
}

/// A name for a proxied connection, and up to where steps have looked at what passes.
final class ProxiedActor {
    let name: String
    let connection: ProxiedConnection
    /// The two ends that are the harness's own, as the connection table knows them.
    let owners: [ConversationSide: ConnectionActor]
    /// Sides whose end a step has expected.
    var takenEnds: Set<ConversationSide> = []

    init(name: String, _ connection: ProxiedConnection, owners: [ConversationSide: ConnectionActor]) {
        (self.name, self.connection, self.owners) = (name, connection, owners)
    }
}
