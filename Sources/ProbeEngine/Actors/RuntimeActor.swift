import ProbeScenario

/// An actor of the script while its case runs.
enum RuntimeActor {
    case server(ServerActor)
    case connection(ConnectionActor)
    case subject(SubjectActor)
    case process(ProcessActor)
    case proxy(ProxyActor)
    /// A connection of a proxy.
    case proxied(ProxiedActor)
    case crowd(CrowdActor)

    var kindName: String {
        switch self {
        case .server: "server"
        case .connection: "connection"
        case .subject: "subject"
        case .process: "process"
        case .proxy, .proxied: "proxy"
        case .crowd: "crowd"
        }
    }
}
