import ProbeBase
import ProbeScenario
import ProbeSystem
import ProbeWire

/// A `server`: its listener, and the connection that its name refers to after a plain `accept`.
final class ServerActor {
    let name: String
    let declared: AddressExpression?
    /// The listener; `nil` while the server is not listening.
    var listener: Listener?
    /// The last address that the server listened on.
    var address: SocketAddress?
    var backlog: Int32 = 128
    var options: [RawSocketOption] = []
    /// Options for the connections that the server accepts, as set by `set` steps before `accept`.
    var connectionOptions: [RawSocketOption] = []
    /// How the accepted connections are read, as set by steps before `accept`.
    var initialReading = InitialReading()
    var plain: ConnectionActor?
    /// The endpoints on which the server has listened. They identify the connections to the server.
    var endpoints: Set<EndpointPattern> = []
    /// Connections that were taken from the listener's queue during a search for abandoned connections, oldest first.
    /// They are accepted before the connections that are still in the queue.
    var waiting: [WaitingConnection] = []
    /// The sinks, which are processes that accept the connections of crowds in place of the server.
    var sinks = CrowdSinks.State()

    /// The place at which the server listens, for messages: `port 8080`, `/tmp/x/S`.
    var place: String {
        address.map { $0.isUnix ? "\($0)" : "port \($0.port)" } ?? "no port"
    }

    init(name: String, declared: AddressExpression?) {
        self.name = name
        self.declared = declared
    }

}
