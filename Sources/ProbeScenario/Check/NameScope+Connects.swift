/// Who connects to a server, and has not done so yet.
extension NameScope {
    /// What is wrong with an accept to which no connection can have come: fewer were opened than have been accepted before it. Nil where one
    /// may have come, or may come by itself: subjects and programs that run connect when they like, and whoever knows a port may.
    func missingConnection(to server: String, _ known: ScriptState.Actor) -> Diagnostic.Message? {
        guard let accepted = known.leastAccepts, !isDoubtful(server) else { return nil }
        var opened = 0
        var late: [String] = []
        for actor in context.scenario.actors {
            let name = actor.name.value
            switch actor.kind {
            case .server(let address, _, _):
                // Whoever knows the port may connect.
                if name == server, address?.port != nil { return nil }
            case .process:
                // A program may have been told the port.
                if isDoubtful(name) || state.actors[name]?.life != .idle { return nil }
            case .proxy(let target):
                // It connects when somebody connects to it.
                if reaches(target, server) { return nil }
            case .client(let target, _):
                guard reaches(target, server) else { continue }
                guard let count = openedConnections(of: name) else { return nil }
                opened += count
                if count == 0, target != nil { late.append("\(name) connect") }
            case .subject(let target?, _):
                guard reaches(target, server) else { continue }
                guard let count = openedConnections(of: name) else { return nil }
                opened += count
                if count == 0 { late.append("\(name) start") }
            // The connections of a crowd reach no accept.
            case .subject(nil, _), .crowd: continue
            }
        }
        guard opened <= accepted else { return nil }
        late = Array(late.prefix(3))
        if opened > 0 { return .acceptsTooOften(server, opened, late) }
        return late.isEmpty ? nil : .acceptsTooEarly(server, late)
    }

    /// Whether the target may be the server: an address may be the server's own.
    private func reaches(_ target: Target?, _ server: String) -> Bool {
        guard case .actor(let name) = target else { return true }
        return name.value == server
    }

    /// How many connections the actor can have opened so far; nil where that is not known.
    private func openedConnections(of name: String) -> Int? {
        isDoubtful(name) ? nil : state.actors[name]?.mostConnections
    }
}

extension Diagnostic.Message {
    /// A server accepts, and those that could connect have not done so.
    static func acceptsTooEarly(_ server: String, _ peers: [String]) -> Self {
        Self(
            .acceptTooEarly, "nobody has connected to `\(server)` at this step: it would wait until its deadline",
            hint: "steps run in order: put \(peers.joined(separator: " or ")) before it, "
                + "or both into together { … }")
    }

    /// A server accepts more often than anybody has connected to it: how often that was, and who connects later.
    static func acceptsTooOften(_ server: String, _ count: Int, _ peers: [String]) -> Self {
        Self(
            .acceptTooEarly,
            (count == 1 ? "the one connection" : "each of the \(count) connections")
                + " to `\(server)` has been accepted before this step: it would wait until its deadline",
            hint: peers.isEmpty
                ? "remove it, or let another client connect to \(server) before it"
                : "steps run in order: put \(peers.joined(separator: " or ")) before it, "
                    + "or both into together { … }")
    }
}
