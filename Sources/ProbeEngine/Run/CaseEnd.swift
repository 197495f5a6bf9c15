import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Judges what is left after the last step: input that no step took, connections that no step accepted, faults that
/// the wire does not show, conditions that never took effect.
struct CaseEnd {
    let context: CaseContext

    /// Waits for the last fence where packets are judged, shown or kept.
    func catchUp(hasFailed: Bool) async {
        guard context.seesPackets else { return }
        let needsProof = context.settings.provesFaults && context.injected.needsProof(context.connections)
        if hasFailed || needsProof || !context.links.faults.isEmpty || context.settings.keep == .all {
            _ = await WireCatchUp(context: context).run(at: nil)
        }
    }

    func findings() -> [Finding] {
        if let fault = context.faults.fault { return [context.withActors(fault)] }
        let ofTLS = TLSCaseEnd(context: context)
        if let finding = unexpectedExit() ?? unreadBytes() ?? ofTLS.unexpected() ?? unacceptedConnection()
            ?? CrowdEnd(context: context).unjudged()
        {
            return [context.withActors(finding)]
        }
        var findings: [Finding] = []
        for entry in context.connections.entries {
            if context.settings.provesFaults { findings += context.injected.unprovenCuts(of: entry, context) }
        }
        findings += ofTLS.unprovenFaults() + context.conditions.findings()
        return context.settings.provesFaults ? findings + context.injected.unshutWindows(context) : findings
    }

    /// The exit of a program that no step has expected, also where a branch that was not taken would have expected it.
    private func unexpectedExit() -> Finding? {
        let programs = ProcessExecutor(context: context)
        for name in context.actors.order {
            guard case .process(let process)? = context.actors[name] else { continue }
            process.child?.look()
            if let finding = programs.unexpectedExit(of: process) { return finding }
        }
        return nil
    }

    private func unreadBytes() -> Finding? {
        for (owner, connection) in context.connections.entries {
            // Of TLS only what it carries counts: tickets are no bytes that a step could take.
            let isRead = connection.reading == .atOnce || connection.layer != nil
            if connection.isOpen && isRead { connection.receive() }
            if owner.ignoresRest || connection.wasAborted { continue }
            let inKernel = isRead ? 0 : connection.unreadInKernel
            let unread = connection.receiveBuffer.count + connection.urgent.count
            if unread == 0 && inKernel == 0 { continue }
            var shown = Array(connection.receiveBuffer.unread.prefix(4096))
            if shown.isEmpty { shown = Array(connection.urgent.unread.prefix(4096)) }
            let kind = connection.receiveBuffer.isEmpty && connection.urgent.count > 0 ? "urgent bytes" : "bytes"
            return Finding(
                .failed, "\(owner.name) got \(unread + inKernel) \(kind) that no step took",
                expected: unread > 0 ? [] : nil, actual: unread > 0 ? shown : nil,
                details: inKernel > 0
                    ? ["\(inKernel) of them lie unread in the kernel: reading is stopped or slow"] : [],
                hints: ["an `expect` takes them; `\(owner.name) ignore rest` says that they do not matter"])
        }
        return nil
    }

    private func unacceptedConnection() -> Finding? {
        for name in context.actors.order {
            guard case .server(let server)? = context.actors[name], context.hasWaiting(server) else { continue }
            return Finding(
                .failed, "a connection waits at \(name) (\(server.place)) that no step accepted",
                hints: ["`\(name) accept as B` takes a second one"])
        }
        return nil
    }
}
