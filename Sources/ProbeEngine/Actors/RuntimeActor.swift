import ProbeScenario

/// An actor of the script while its case runs.
enum RuntimeActor {
    case server(ServerActor)
    case connection(ConnectionActor)
    case subject(SubjectActor)
    case process(ProcessActor)
    case proxy(ProxyActor)
    /// One of its connections.
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
