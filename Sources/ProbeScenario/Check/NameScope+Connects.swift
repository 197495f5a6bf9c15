/// Who connects to a server, and has not done so yet.
extension NameScope {
    /// The steps by which a connection to the server would come, such as `C connect`; empty where one may have come before this step, or may
    /// come by itself.
    func lateConnects(to server: String) -> [String] {
        guard !isDoubtful(server) else { return [] }
        var steps: [String] = []
        for actor in context.scenario.actors {
            let name = actor.name.value
            switch actor.kind {
            case .server(let address, _, _):
                // Whoever knows the port may connect.
                if name == server, address?.port != nil { return [] }
            case .process:
                // A program may have been told the port.
                if isDoubtful(name) || state.actors[name]?.life != .idle { return [] }
            case .client(let target, _):
                guard reaches(target, server) else { continue }
                guard isUntouched(name) else { return [] }
                if target != nil { steps.append("\(name) connect") }
            case .subject(let target?, _):
                guard reaches(target, server) else { continue }
                guard isUntouched(name) else { return [] }
                steps.append("\(name) start")
            case .subject(nil, _): continue
            }
        }
        return Array(steps.prefix(3))
    }

    /// Whether the target may be the server: an address may be the server's own.
    private func reaches(_ target: Target?, _ server: String) -> Bool {
        guard case .actor(let name) = target else { return true }
        return name.value == server
    }

    /// Nothing that the actor did so far can have made a connection.
    private func isUntouched(_ name: String) -> Bool {
        guard let known = state.actors[name], !isDoubtful(name) else { return false }
        return known.link == .none && known.connections == 0 && !known.mayHaveMore && known.life == .idle
    }
}
