import ProbeBase
import Glibc
import ProbeEvents
import ProbeLink
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

/// Makes the actors declared in a case's header.
struct CaseSetup {
    let context: CaseContext

    /// Makes the actors declared in the header. By the time this method returns, the servers are listening.
    func makeActors() throws(Finding) {
        try NameExecutor(context: context).begin()
        context.set("dir", .bytes(Array(context.job.folder.utf8)))
        var subjectCount = 0
        for declaration in context.scenario.actors {
            if case .subject = declaration.kind { subjectCount += 1 }
            try make(declaration, subjectNumber: subjectCount)
        }
        if context.scenario.namesAuthority { context.set("ca", .bytes(Array(try context.authorityFile(at: nil).utf8))) }
        try TLSSetup(context: context).prepare()
        try CrowdSetup(context: context).prepareServers()
        // Servers begin to listen before other actors are made, because a process may be given the port of a server
        // that is declared after the process.
        for declaration in context.scenario.actors {
            guard case .server = declaration.kind, case .server(let server) = context.actors[declaration.name.value]
            else {
                continue
            }
            do throws(Finding) {
                try ServerSetup(context: context).listen(server)
            } catch {
                var finding = error
                finding.span = declaration.span
                throw finding
            }
        }
        for declaration in context.scenario.actors {
            guard case .proxy(let proxy)? = context.actors[declaration.name.value] else { continue }
            try ProxySetup(context: context).listen(proxy, at: declaration.span)
        }
        try context.computeConstants()
        for declaration in context.scenario.actors {
            guard case .client(let target?, _) = declaration.kind else { continue }
            if case .address(let address) = target {
                try AddressResolver(context: context).checkAllowed(address, port: nil, for: .connecting)
            }
        }
    }

    private func make(_ declaration: ActorDeclaration, subjectNumber: Int) throws(Finding) {
        let name = declaration.name.value
        switch declaration.kind {
        case .server(let address, let backlog, let options):
            let server = ServerActor(name: name, declared: address)
            server.options = try context.rawOptions(options)
            if let backlog { server.backlog = Int32(clamping: try context.integer(of: backlog)) }
            context.actors.enter(name, .server(server))
        case .client(let target, let options):
            let client = ConnectionActor(name: name, role: .client(target), framing: context.scenario.framing)
            client.options = try context.rawOptions(options)
            context.actors.enter(name, .connection(client))
        case .subject(let target, let options):
            let subject = SubjectActor(
                name: name, number: subjectNumber, target: target, configuration: options,
                isListener: target == nil, tls: declaration.tls)
            context.actors.enter(name, .subject(subject))
            if case .address(let address) = target {
                try AddressResolver(context: context).checkAllowed(address, port: nil, for: .connecting)
            }
        case .proxy(let target): context.actors.enter(name, .proxy(ProxyActor(name: name, target: target)))
        case .crowd(let crowd):
            context.actors.enter(name, .crowd(try CrowdSetup(context: context).make(declaration, crowd)))
        case .process(let command):
            guard context.settings.allowsProcesses else {
                throw Finding(
                    .error, at: declaration.span, "the script starts a program, which --no-process forbids")
            }
            let process = ProcessActor(name: name, command: command)
            if let end = context.links.end(of: name) { (process.host, process.network) = (end.ipv4, end.namespace) }
            for _ in 0..<max(1, command.portCount) {
                do {
                    process.ports.append(try context.settings.ports.freePort(address: .loopback(port: 0)))
                } catch {
                    throw Finding(.error, at: declaration.span, "no free port for \(name): \(error)")
                }
            }
            for port in process.ports { context.capture.addListener(EndpointPattern(anyAddressPort: port)) }
            context.actors.enter(name, .process(process))
        }
    }
}
