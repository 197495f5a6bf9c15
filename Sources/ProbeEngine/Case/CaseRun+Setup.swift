import ProbeBase
import Glibc
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

extension CaseRun {
    /// The finding that keeps the case from being run here: a `require`, or something that the subject can't.
    func unmetRequirement() -> Finding? {
        for requirement in scenario.requirements {
            let reason: String? =
                switch requirement.kind {
                case .capture:
                    settings.capture == nil ? "require capture: \(settings.captureProblem ?? "no capture")" : nil
                case .ipv6: hasIPv6 ? nil : "require ipv6: [::1] can't be bound here"
                case .root: geteuid() == 0 ? nil : "require root: the run's user is not root"
                case .command(let name):
                    ExecutableSearch.find(name) == nil ? "require command \(name): not found in PATH" : nil
                case .link, .tls: "require \(requirement.kind): not built yet"
                case .subject: nil
                }
            if let reason { return Finding(.skipped, at: requirement.span, reason) }
        }
        return nil
    }

    private var hasIPv6: Bool {
        guard let address = SocketAddress(numeric: "::1", port: 0) else { return false }
        do {
            _ = try Listener(address: address, backlog: 1, options: [])
            return true
        } catch {
            return false
        }
    }

    /// Makes the actors of the header; servers listen from here on.
    func setUpActors() throws(Finding) {
        context.set("dir", .bytes(Array(settings.folder.utf8)))
        for declaration in scenario.actors { try setUp(declaration) }
        // Servers first, so that a process may be told the port of one that is declared below it.
        for declaration in scenario.actors {
            guard case .server = declaration.kind, case .server(let server) = actors[declaration.name.value] else {
                continue
            }
            do throws(Finding) {
                try listen(server)
            } catch {
                var finding = error
                finding.span = declaration.span
                throw finding
            }
        }
        try computeConstants()
        for declaration in scenario.actors {
            guard case .client(let target?, _) = declaration.kind else { continue }
            if case .address(let address) = target { try checkAllowed(address, at: address.span) }
        }
    }

    private func setUp(_ declaration: ActorDeclaration) throws(Finding) {
        let name = declaration.name.value
        switch declaration.kind {
        case .server(let address, let backlog, let options):
            let server = ServerActor(name: name, declared: address)
            server.options = try rawOptions(options)
            if let backlog { server.backlog = Int32(clamping: try integer(of: backlog)) }
            context.actors.enter(name, .server(server))
        case .client(let target, let options):
            let client = ConnectionActor(name: name, role: .client(target), framing: scenario.framing)
            client.options = try rawOptions(options)
            context.actors.enter(name, .connection(client))
        case .subject(let target, let options):
            let subject = SubjectActor(
                name: name, number: nextConnectionNumber, target: target, configuration: options,
                isListener: target == nil)
            nextConnectionNumber += 1
            context.actors.enter(name, .subject(subject))
            if case .address(let address) = target { try checkAllowed(address, at: address.span) }
        case .process(let command):
            guard settings.allowsProcesses else {
                throw Finding(
                    .error, at: declaration.span, "the script starts a program, and --no-process forbids it")
            }
            let process = ProcessActor(name: name, command: command)
            for _ in 0..<max(1, command.portCount) {
                do {
                    process.ports.append(try settings.ports.freePort(address: .loopback(port: 0)))
                } catch {
                    throw Finding(.error, at: declaration.span, "no free port for \(name): \(error)")
                }
            }
            for port in process.ports { wire.claimListener(EndpointPattern(anyAddressPort: port)) }
            context.actors.enter(name, .process(process))
        }
    }

    /// Makes a server listen, on its own address or on a free port.
    func listen(_ server: ServerActor) throws(Finding) {
        var host = SocketAddress.loopback(port: 0)
        var fixedPort: UInt16?
        if let declared = server.declared {
            host = try resolve(declared.host, port: 0, at: declared.span)
            guard host.isLoopback || isAllowed(host, name: declared.host) else { throw notLocal(declared, host) }
            if let port = declared.port {
                let number = try integer(of: port)
                guard let valid = UInt16(exactly: number) else {
                    throw Finding(.error, at: declared.span, "\(number) is no port: ports are 1 to 65535")
                }
                if valid != 0 { fixedPort = valid }
            }
        }
        // The same port again: others have been told it.
        if let earlier = server.address { fixedPort = earlier.port }
        for attempt in 0..<2000 {
            let address = host.with(port: fixedPort ?? settings.ports.candidate())
            let endpoint = EndpointPattern(SocketEndpoint(address))
            let isNew = !server.endpoints.contains(endpoint)
            do {
                wire.claimListener(endpoint)
                let listener = try Listener(address: address, backlog: server.backlog, options: server.options)
                server.listener = listener
                server.address = listener.address
                server.endpoints.insert(endpoint)
                return
            } catch {
                if isNew { wire.disclaimListener(endpoint) }
                if error.code == EADDRINUSE && fixedPort == nil && attempt < 1999 { continue }
                throw Finding(
                    .error, "\(server.name) can't listen on \(address): \(error.reason)",
                    hints: error.code == EADDRINUSE
                        ? ["another program has the port (`ss -ltnp` names it); a server without `on` takes a free one"]
                        : error.code == EACCES
                            ? ["ports below 1024 need root"] : Surroundings.advice(on: error.code).map { [$0] } ?? [])
            }
        }
    }

    /// Options of the header or of `set` with their values computed.
    func rawOptions(_ options: [SocketOption]) throws(Finding) -> [RawSocketOption] {
        var raw: [RawSocketOption] = []
        for option in options { raw.append(try rawOption(option)) }
        return raw
    }

    func rawOption(_ option: SocketOption) throws(Finding) -> RawSocketOption {
        switch option {
        case .receiveBuffer(let size): .receiveBuffer(Int32(clamping: try integer(of: size)))
        case .sendBuffer(let size): .sendBuffer(Int32(clamping: try integer(of: size)))
        case .noDelay(let on): .noDelay(on)
        case .keepAlive(let on): .keepAlive(on)
        case .keepAliveEvery(let interval):
            .keepAliveEvery(Int32(clamping: max(1, (interval.nanoseconds + 999_999_999) / 1_000_000_000)))
        }
    }
}
