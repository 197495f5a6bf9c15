import Glibc
import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// Creates the sockets of proxies, and adds their connections to the case.
struct ProxySetup {
    let context: CaseContext

    /// Starts a proxy, which listens on a free port.
    func listen(_ actor: ProxyActor, at span: SourceSpan) throws(Finding) {
        if case .address(let address) = actor.target {
            try AddressResolver(context: context).checkAllowed(address, port: nil, for: .connecting)
        }
        for attempt in 0..<2000 {
            let address = SocketAddress.loopback(port: context.settings.ports.candidate())
            guard let ends = address.endpoint else { return }
            let endpoint = EndpointPattern(ends)
            do throws(SystemError) {
                context.capture.addListener(endpoint)
                let listener = try Listener(address: address, backlog: 1024, options: [])
                actor.proxy = try proxy(listener, actor, at: span)
                actor.endpoints.insert(endpoint)
                return
            } catch {
                context.capture.removeListener(endpoint)
                if error.code == EADDRINUSE, attempt < 1999 { continue }
                throw Finding(
                    .error, at: span, "\(actor.name) can't listen on \(address): \(error.reason)",
                    details: error.resourcesLeft, hints: error.advice)
            }
        }
    }

    private func proxy(
        _ listener: Listener, _ actor: ProxyActor, at span: SourceSpan
    ) throws(SystemError) -> ConnectionProxy {
        let proxy = try ConnectionProxy(
            listener, reactor: context.reactor, watches: context.scenario.watchesProxies,
            to: { [weak context, target = actor.target, name = actor.name] () throws(SystemError) in
                guard let context else { throw SystemError("connect", code: ECONNREFUSED) }
                do throws(Finding) {
                    return try AddressResolver(context: context).address(of: target, for: name)
                } catch {
                    context.raise(error.span == nil ? error.at(span) : error)
                    throw SystemError("connect", code: ECONNREFUSED)
                }
            })
        proxy.willConnect = { [weak context] local, target in context?.capture.addClient(local, to: target) }
        proxy.onConnection = { [weak context, weak actor] connection in
            guard let context, let actor else { return }
            adopt(connection, of: actor, in: context, at: span)
        }
        proxy.onFailure = { [weak context, name = actor.name] error in
            guard let context, context.faults.fault == nil else { return }
            context.raise(
                Finding(
                    .error, at: span, "\(name) can't accept a connection: \(error.reason)",
                    details: error.resourcesLeft, hints: error.advice))
        }
        return proxy
    }

    private func adopt(
        _ connection: ProxiedConnection, of actor: ProxyActor, in context: CaseContext, at span: SourceSpan
    ) {
        for side in ConversationSide.allCases {
            context.connections.add(connection[side], for: owner(side, of: actor))
        }
        let changes = context.changes
        connection.onChange = { changes.notifyAll() }
        connection.onFaultFailure = { [weak context, name = actor.name] error in
            context?.raise(Finding(.error, at: span, "\(name)'s connection can't vanish: \(error.reason)"))
        }
        connection.willCut = { [weak context] _, operation in context?.injected.addSend(operation, at: span) }
        if context.settings.observe != nil { connection.recorded = [.client: [], .server: []] }
        for step in actor.effectsOnNewConnections { step(connection) }
        changes.notifyAll()
    }

    /// Ends the proxies of a case, and releases the bytes that they have recorded.
    func end() {
        reportForwarded()
        for case .proxy(let actor) in context.actors.values {
            actor.proxy?.end()
            (actor.proxy, actor.plain, actor.effectsOnNewConnections) = (nil, nil, [])
        }
    }

    /// Notifies the observer of the bytes that plain `forward` steps have passed on to each side.
    private func reportForwarded() {
        guard let observe = context.settings.observe else { return }
        for case .proxy(let actor) in context.actors.values {
            for connection in actor.proxy?.connections ?? [] {
                for (side, step) in actor.plainForwards {
                    guard let bytes = connection.recorded?[side.opposite], !bytes.isEmpty else { continue }
                    observe(StepObservation(step: step, actor: actor.name, event: .sent([bytes])))
                }
            }
        }
    }

    /// Returns the owner of one end of a proxied connection. Unconsumed bytes and the end of the connection count as
    /// expected.
    private func owner(_ side: ConversationSide, of actor: ProxyActor) -> ConnectionActor {
        let owner = ConnectionActor(
            name: actor.name, role: side == .client ? .accepted(server: actor.name) : .client(actor.target),
            framing: context.scenario.framing)
        owner.ignoresRest = true
        owner.endIsConsumed = true
        return owner
    }
}
