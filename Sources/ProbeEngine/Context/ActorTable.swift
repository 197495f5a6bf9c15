import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The actors of a case by name, and what each of them waits for.
struct ActorTable {
    private var actors: [String: RuntimeActor] = [:]
    /// The subjects whose name now refers to another subject. The reports of these earlier subjects are still judged.
    private var earlier: [SubjectActor] = []
    /// The actors' names in the order of the script, for reports.
    private(set) var order: [String] = []
    /// The event that each actor waits for, in words. The key for a `wire` step, which waits for the capture, is
    /// `wire`.
    var waits: [String: String] = [:]

    var values: Dictionary<String, RuntimeActor>.Values { actors.values }

    /// The actor with the given name; `nil` if no such actor exists yet.
    subscript(name: String) -> RuntimeActor? { actors[name] }

    /// Makes a name refer to an actor from now on. In a loop, a name may have referred to another actor before.
    mutating func enter(_ name: String, _ actor: RuntimeActor) {
        switch actors.updateValue(actor, forKey: name) {
        case .subject(let subject)?: earlier.append(subject)
        case .server?, .connection?, .process?, .proxy?, .proxied?, .crowd?: break
        case nil: order.append(name)
        }
    }

    /// All subjects that have existed so far.
    var subjects: [SubjectActor] {
        earlier + order.compactMap { if case .subject(let subject)? = actors[$0] { subject } else { nil } }
    }

    /// Returns the connection that a name in the script refers to. After a plain `accept`, a server's name refers to
    /// the accepted connection.
    func connection(_ name: String) -> ConnectionActor? {
        switch actors[name] {
        case .connection(let actor): actor
        case .server(let server): server.plain
        case .subject, .process, .proxy, .proxied, .crowd, nil: nil
        }
    }

    /// Returns the proxied connection that a name in the script refers to.
    func proxied(_ name: String) -> ProxiedActor? {
        switch actors[name] {
        case .proxied(let actor): actor
        case .proxy(let proxy): proxy.plain
        case .server, .connection, .subject, .process, .crowd, nil: nil
        }
    }

    /// Returns the subject to which the driver refers by the given number.
    func subject(number: Int) -> SubjectActor? {
        for case .subject(let subject) in actors.values where subject.number == number { return subject }
        return earlier.last { $0.number == number }
    }

    /// Creates the actor for a new connection of a subject that has stopped.
    mutating func renew(_ subject: SubjectActor) -> SubjectActor {
        // Subject numbers of one million or more are assigned by the driver.
        let numbers = subjects.lazy.map(\.number).filter { $0 < 1_000_000 }
        let next = subject.successor(number: (numbers.max() ?? 0) + 1)
        enter(subject.name, .subject(next))
        return next
    }

    /// The names of the subjects, by the numbers that the driver uses for them.
    var subjectNames: [Int: String] {
        Dictionary(subjects.map { ($0.number, $0.name) }) { _, last in last }
    }

    /// Returns the value of a property such as `${S.port}`; `nil` if the value is not known yet.
    func property(_ property: String, of name: String) -> Value? {
        func port(_ address: SocketAddress?) -> Value? { address?.endpoint.map { .integer(Int($0.port)) } }
        func host(_ address: SocketAddress?) -> Value? { address?.endpoint.map { .bytes(Array("\($0.address)".utf8)) } }
        func path(_ address: SocketAddress?) -> Value? { address?.path.map { .bytes(Array($0.utf8)) } }
        switch (actors[name], property) {
        case (.server(let server), "port"): return port(server.address)
        case (.server(let server), "address"): return host(server.address)
        case (.server(let server), "path"): return path(server.address)
        case (.subject(let subject), "path"): return path(subject.listeningSocket)
        case (.server(let server), "peer.port"): return port(server.plain?.connection?.peer)
        case (.server(let server), "peer.address"): return host(server.plain?.connection?.peer)
        case (.connection(let connection), "port"): return port(connection.connection?.local)
        case (.connection(let connection), "address"): return host(connection.connection?.local)
        case (.connection(let connection), "peer.port"): return port(connection.connection?.peer)
        case (.connection(let connection), "peer.address"): return host(connection.connection?.peer)
        case (.server(let server), _) where property.hasPrefix("tls."):
            return server.plain?.connection?.tls?.property(property)
        case (.connection(let connection), _) where property.hasPrefix("tls."):
            return connection.connection?.tls?.property(property)
        case (.proxy(let proxy), "port"): return port(proxy.proxy?.address)
        case (.proxy(let proxy), "address"): return host(proxy.proxy?.address)
        case (.crowd(let crowd), "port"): return port(crowd.address)
        case (.crowd(let crowd), "address"): return host(crowd.address)
        case (.subject(let subject), "port"): return subject.port.map { .integer(Int($0)) }
        case (.subject(let subject), "address"): return .bytes(Array(subject.listeningHost.utf8))
        case (.process(let process), "address"): return host(process.host)
        case (.process(let process), _) where property == "port": return .integer(Int(process.ports[0]))
        case (.process(let process), _) where property.hasPrefix("port."):
            guard let number = Int(property.dropFirst(5)), number >= 1, number <= process.ports.count else {
                return nil
            }
            return .integer(Int(process.ports[number - 1]))
        default: return nil
        }
    }

    // MARK: States

    /// Returns the finding with the states of all actors added to it.
    func describe(_ finding: Finding) -> Finding {
        var finding = finding
        finding.actors = order.compactMap { name in
            actors[name].map { ActorState(name: name, state: waits[name].map { "waited for \($0)" } ?? $0.state) }
        }
        return finding
    }
}

extension RuntimeActor {
    /// The maximum number of unexpected reports that are shown for an actor.
    private static var maxShown: Int { 5 }

    /// The actor's state in words, for the case's report.
    fileprivate var state: String {
        switch self {
        case .server(let server):
            if let connection = server.plain { return connection.state }
            return server.listener == nil
                ? "not listening" : "listening on \(server.address?.description ?? "?"), no connection accepted"
        case .connection(let connection): return connection.state
        case .subject(let subject):
            if let stopped = subject.stopped { return "stopped (\(SubjectText.word(stopped.reason)))" }
            if !subject.pending.isEmpty {
                let shown = subject.pending.prefix(Self.maxShown).map { SubjectText.describe($0.event) }
                let more = subject.pending.count - shown.count
                return "has reported \(shown.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
            }
            return subject.hasStarted ? "started" : subject.wasStarted ? "starting" : "not started"
        case .proxy(let proxy):
            if let plain = proxy.plain { return plain.state }
            return "listening on \(proxy.place), received \(ByteText.count(proxy.proxy?.count ?? 0, "connection"))"
        case .proxied(let actor): return actor.state
        case .crowd(let crowd): return crowd.state
        case .process(let process):
            guard let child = process.child else { return "not started" }
            return child.exit.map { ExitText.describe($0, of: process) } ?? "running (pid \(child.pid))"
        }
    }
}

extension ProxiedActor {
    fileprivate var state: String {
        ConversationSide.allCases.map { side in
            let (name, leg) = (side == .client ? "client" : "server", connection[side])
            let state =
                switch leg.readEnd {
                case _ where leg.phase == .closed: "closed"
                case nil: leg.phase == .connecting ? "connecting" : "connected"
                case .eof?: "closed (FIN)"
                case .reset?: "reset (RST)"
                case .failed(let error, _)?: "failed: \(error.reason)"
                }
            let waiting = connection.waiting(to: side)
            let gate = connection.gate(to: side) == .held ? ", held" : ""
            return "its \(name) \(state)"
                + (waiting > 0 ? ", \(ByteText.count(waiting, "byte")) queued for it\(gate)" : "")
        }.joined(separator: "; ")
    }
}

extension ConnectionActor {
    fileprivate var state: String {
        guard let connection else { return "not connected" }
        switch connection.phase {
        case .connecting: return "connecting"
        case .connectFailed(let error): return "not connected: \(error.reason)"
        case .closed where connection.hasVanished: return "dropped by the script without a FIN or an RST"
        case .closed: return connection.wasAborted ? "reset by the script" : "closed by the script"
        case .open: break
        }
        let buffer = connection.receiveBuffer
        let unread = buffer.isEmpty ? "" : ", unread: \(Escaped.phrase(buffer.unread))"
        return switch connection.readEnd {
        case nil: "connected\(unread)"
        case .eof?: "closed by the peer (FIN)\(unread)"
        case .reset?: "reset by the peer (RST)\(unread)"
        case .failed(let error, _)?: "failed: \(error.reason)\(unread)"
        }
    }
}
