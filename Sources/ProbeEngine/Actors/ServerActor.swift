import ProbeBase
import ProbeScenario
import ProbeSystem
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
    /// For them too, from steps before `accept`.
    var readingToCome = ReadingToCome()
    var plain: ConnectionActor?
    /// Where it has listened: the connections that came to it are told by that.
    var endpoints: Set<EndpointPattern> = []
    /// Connections that were taken from the listener's queue to look for abandoned ones, oldest first; they are accepted before it.
    var waiting: [WaitingConnection] = []
    /// What takes the connections of crowds.
    var sinks = CrowdSinks.State()

    /// Where it listens, for messages: `port 8080`, `/tmp/x/S`.
    var place: String {
        address.map { $0.isUnix ? "\($0)" : "port \($0.port)" } ?? "no port"
    }

    init(name: String, declared: AddressExpression?) {
        self.name = name
        self.declared = declared
    }

}
