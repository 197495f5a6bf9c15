import Glibc
import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeLink
import ProbeScenario
import ProbeSystem

/// Creates the actors for the crowds in a case's header, without starting any processes.
struct CrowdSetup {
    let context: CaseContext

    static func noProgram(at span: SourceSpan?) -> Finding {
        Finding(
            .error, at: span,
            "crowds need the program `tcpprobe-crowd`, which was not found",
            hints: [
                "put `tcpprobe-crowd` in the same folder as `tcpprobe`: `make build` builds it, and `make install` "
                    + "installs both; "
                    + "the library TCPProbe does not support crowds"
            ])
    }

    /// Creates the actor of a declared crowd.
    ///
    /// - Throws: an error that states why this machine cannot run the crowd.
    func make(_ declaration: ActorDeclaration, _ crowd: CrowdDeclaration) throws(Finding) -> CrowdActor {
        let name = declaration.name.value
        guard context.settings.crowdProgram != nil else { throw Self.noProgram(at: declaration.span) }
        let whole = try context.integer(of: crowd.count)
        let share = try share(of: crowd, name, whole)
        let count = share?.part(of: whole) ?? whole
        var need = CrowdLimits.Need(members: count)
        need.hasOneAddress = context.links.end(of: name) != nil
        if case .clients(.address(let address)) = crowd.role {
            try AddressResolver(context: context).checkAllowed(address, port: nil, for: .connecting)
            need.isLocal = address.unix != nil || AllowedTargets.isLoopback(address.host)
        }
        let workers: Int
        do throws(CrowdLimits.Obstacle) {
            workers = try CrowdLimits.forThisMachine().workers(for: need)
        } catch {
            throw Finding(
                .error, at: declaration.span, "\(name) can't have \(count) members: \(error.text)",
                hints: [error.advice])
        }
        try checkWorkers(with: workers, at: declaration.span)
        let actor = CrowdActor(
            name: name, role: crowd.role, count: count, workerCount: workers, span: declaration.span)
        actor.share = share
        actor.sources = try sources(of: crowd, name, count)
        actor.receiveBuffer = try crowd.receiveBuffer.map { (size) throws(Finding) in try context.integer(of: size) }
        if let options = declaration.tls {
            actor.tls = try TLSSetup(context: context).memberTLS(options, isServer: actor.isServerCrowd)
        }
        if actor.isServerCrowd { try reserve(actor, of: declaration) }
        return actor
    }

    /// Returns the source addresses given by `from`; `nil` if the declaration has no `from`.
    ///
    /// - Throws: an error that states why the members can't connect from the given addresses.
    private func sources(of crowd: CrowdDeclaration, _ name: String, _ count: Int) throws(Finding) -> ClosedRange<
        UInt32
    >? {
        guard let (addresses, span) = crowd.sources else { return nil }
        if context.links.end(of: name) != nil {
            throw Finding(
                .error, at: span, "\(name) is on a link, where all members share the single address of their side",
                hints: ["remove `from`"])
        }
        let most = addresses.count * SourceAddresses.ports.count
        if count > most {
            throw Finding(
                .error, at: span, "these addresses provide \(most) ports for a crowd, but \(name) has \(count) members",
                hints: ["add addresses after `from`"])
        }
        return addresses
    }

    /// Throws if all crowds together have too many workers, because an untrusted script may declare any number of small
    /// crowds.
    private func checkWorkers(with workers: Int, at span: SourceSpan) throws(Finding) {
        let all = context.actors.values.reduce(workers) { sum, actor in
            if case .crowd(let crowd) = actor { sum + crowd.workerCount } else { sum }
        }
        guard all > CrowdLimits.maxWorkersPerCase else { return }
        throw Finding(
            .error, at: span,
            "the crowds of this case need more than \(CrowdLimits.maxWorkersPerCase) processes for their members",
            hints: ["declare fewer crowds with more members each"])
    }

    /// Returns this run's share of the crowd; `nil` if the run has all members. Crowds of servers are not divided,
    /// because their clients are part of the case.
    private func share(
        of crowd: CrowdDeclaration, _ name: String, _ whole: Int
    ) throws(Finding) -> CrowdShare? {
        guard let share = context.settings.crowdShare, case .clients = crowd.role else { return nil }
        if whole < share.share.total {
            throw Finding(
                .error, at: crowd.count.span,
                "\(name) has \(whole) members, too few for the \(share.share.total) shares of --crowd-share")
        }
        return share.share.isWhole ? nil : share
    }

    /// Reserves the port of a crowd of servers from the start of the case, because other actors may refer to the port
    /// before `V start`.
    private func reserve(_ actor: CrowdActor, of declaration: ActorDeclaration) throws(Finding) {
        let host = context.links.end(of: actor.name)?.ipv4 ?? .loopback(port: 0)
        do throws(SystemError) {
            actor.reservation = try context.links.inNetwork(of: actor.name) { () throws(SystemError) in
                try PortReservation(on: host)
            }
            actor.address = actor.reservation?.address
        } catch {
            throw Finding(
                .error, at: declaration.span, "no port is available for \(actor.name): \(error.reason)",
                details: error.resourcesLeft, hints: error.advice)
        }
        // Connections from programs are not captured, because programs may flood the crowd. The capture's filter
        // rejects the crowd's port. Connections from a subject are captured.
        guard let endpoint = actor.address?.endpoint, isTargetOfSubject(actor.name) else { return }
        let pattern = EndpointPattern(endpoint)
        context.capture.addListener(pattern)
        actor.endpoints.insert(pattern)
    }

    private func isTargetOfSubject(_ name: String) -> Bool {
        context.scenario.actors.contains { actor in
            guard case .subject(.actor(let target)?, _) = actor.kind else { return false }
            return target.value == name
        }
    }

    /// Prepares the servers that crowds connect to. Must be called before the servers listen.
    func prepareServers() throws(Finding) {
        var ports = SourceAddresses.ports.lowerBound
        for declaration in context.scenario.actors {
            guard case .crowd(let crowd)? = context.actors[declaration.name.value], let target = crowd.targetName,
                case .server(let server)? = context.actors[target]
            else { continue }
            if let reason = reasonUnsuitable(server) {
                throw Finding(
                    .error, at: declaration.span, "\(crowd.name) can't connect to \(target): \(reason)",
                    hints: ["connect to a process or a subject instead"])
            }
            server.sinks.places += crowd.workerCount
            server.sinks.members += crowd.count
            server.sinks.steering = steering(of: server, isByPort: isDistinguishedByPort(target))
            guard case .port? = server.sinks.steering else { continue }
            // Crowds that connect from a single address use different ports, so that no two connections have the same
            // endpoints.
            guard ports + crowd.count <= SourceAddresses.ports.upperBound else {
                throw Finding(
                    .error, at: declaration.span,
                    "the crowds that connect to \(target), and other crowds with a single address each, have more than "
                        + "\(SourceAddresses.ports.count) members in total, so there are not enough ports",
                    hints: [
                        "reduce the number of members; on IPv4 without a link, members can use many source "
                            + "addresses"
                    ])
            }
            if let sources = crowd.sources, isIPv6(server) {
                throw Finding(
                    .error, at: declaration.span,
                    "\(crowd.name) can't connect to \(target) from \(SourceAddresses.text(of: sources)): \(target) has an IPv6 address",
                    hints: ["remove `from`"])
            }
            crowd.ports = ports..<(ports + crowd.count)
            ports += crowd.count
        }
    }

    /// Returns why no crowd can connect to a server in the script; `nil` if a crowd can connect to the server.
    private func reasonUnsuitable(_ server: ServerActor) -> String? {
        if server.declared?.unix != nil { return "a crowd connects over TCP, not over a Unix socket" }
        return context.tls.actors[server.name] == nil
            ? nil : "the workers that accept a crowd's connections on behalf of the server don't support TLS"
    }

    /// Returns whether a crowd connects to the server from addresses that other clients may also use.
    private func isDistinguishedByPort(_ server: String) -> Bool {
        context.actors.values.contains { actor in
            guard case .crowd(let crowd) = actor, crowd.targetName == server else { return false }
            return crowd.sources != nil
        }
    }

    private func isIPv6(_ server: ServerActor) -> Bool {
        guard let declared = server.declared else { return false }
        return declared.link == .ipv6 || SocketAddress(numeric: declared.host, port: 0)?.isIPv6 == true
    }

    /// Returns how a server distinguishes the connections of crowds from other connections: by port if other clients
    /// may use the same addresses, otherwise by address.
    private func steering(of server: ServerActor, isByPort: Bool) -> Listener.Steering {
        let isIPv6 = isIPv6(server)
        if isByPort || isIPv6 || context.links.end(of: server.name) != nil {
            return .port(SourceAddresses.ports, isIPv6: isIPv6)
        }
        return .address(network: SourceAddresses.network.address, mask: SourceAddresses.network.mask)
    }
}
