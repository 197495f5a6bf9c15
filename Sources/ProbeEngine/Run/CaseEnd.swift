import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// Judges what remains after the last step: unconsumed input, unaccepted connections, faults without evidence on the
/// wire, and conditions that never took effect.
struct CaseEnd {
    let context: CaseContext

    /// The maximum time to wait for bytes in transit.
    private static let longestTransit = Duration.seconds(1)
    /// The time allowed for a link to carry the sent bytes and their acknowledgment.
    private static let linkTransit = Duration.milliseconds(500)
    /// The time allowed for a subject to send the data that it was asked to send.
    private static let sendTime = Duration.milliseconds(100)

    /// Waits until data sent by the last steps has arrived. A subject, a proxy or a link may take a few milliseconds to
    /// deliver the data to the connection on which its arrival is judged.
    func awaitArrival() async throws(Finding) {
        let end = MonotonicTime.now + context.scaled(Self.longestTransit)
        while isUnderWay, MonotonicTime.now < end {
            try context.checkFault()
            await context.pause(until: .now + .microseconds(500))
        }
    }

    private var isUnderWay: Bool {
        let proxies = context.actors.values.compactMap { actor in
            if case .proxy(let proxy) = actor { proxy.proxy } else { nil }
        }
        for proxy in proxies { proxy.acceptWaiting() }
        return proxies.contains(where: \.isForwarding) || isOnLink || context.actors.subjects.contains(where: isSending)
    }

    private var isOnLink: Bool {
        guard !context.links.isEmpty else { return false }
        let (now, waitLimit) = (MonotonicTime.now, context.scaled(Self.linkTransit))
        return context.connections.entries.contains { _, connection in
            let last = [connection.lastSent, connection.endedAt].compactMap { $0 }.max()
            return connection.isOpen && last.map { now < $0 + waitLimit } ?? false
                && Vanishing(of: connection).unacknowledged > 0
        }
    }

    /// Whether the subject has recently been asked to send, and nothing has arrived on any connection since then.
    private func isSending(_ subject: SubjectActor) -> Bool {
        guard let requestTime = subject.reports.lastSend,
            MonotonicTime.now < requestTime + context.scaled(Self.sendTime)
        else {
            return false
        }
        let open = context.connections.entries.map(\.connection).filter { $0.isOpen && $0.readEnd == nil }
        return !open.isEmpty && !open.contains { $0.hasUnread || $0.lastRead.map { $0 > requestTime } ?? false }
    }

    /// Waits until the last packets have been captured, if packets are judged, shown or kept.
    func catchUp(hasFailed: Bool) async {
        guard context.seesPackets else { return }
        let needsProof = context.settings.provesFaults && context.injected.needsProof(context.connections)
        if hasFailed || needsProof || !context.links.faults.isEmpty || context.settings.keep == .all {
            _ = await WireCatchUp(context: context).run(at: nil)
        }
    }

    func findings() -> [Finding] {
        if let fault = context.faults.fault { return [context.withActors(fault)] }
        let tlsEnd = TLSCaseEnd(context: context)
        if let finding = unexpectedExit() ?? unreadBytes() ?? tlsEnd.unexpected() ?? unacceptedConnection()
            ?? CrowdEnd(context: context).unhandledFinding()
        {
            return [context.withActors(finding)]
        }
        var findings: [Finding] = []
        for entry in context.connections.entries {
            if context.settings.provesFaults { findings += context.injected.unprovenCuts(of: entry, context) }
        }
        findings += tlsEnd.unprovenFaults() + context.conditions.findings()
        return context.settings.provesFaults ? findings + context.injected.unshutWindows(context) : findings
    }

    /// Returns a finding for the first program that exited without any step expecting the exit. Steps in branches that
    /// were not taken are ignored.
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
            // On a connection with TLS, only application data is read at the end of a case: session tickets are not
            // bytes that a step could consume.
            let isRead = connection.reading == .atOnce || connection.layer != nil
            if connection.isOpen && isRead { connection.receive() }
            if owner.ignoresRest || connection.wasAborted { continue }
            let inKernel = isRead ? 0 : connection.unreadInKernel
            let unread = connection.receiveBuffer.count + connection.urgent.count
            if unread == 0 && inKernel == 0 { continue }
            var shown = Array(connection.receiveBuffer.unread.prefix(4096))
            if shown.isEmpty { shown = Array(connection.urgent.unread.prefix(4096)) }
            let kind = connection.receiveBuffer.isEmpty && connection.urgent.count > 0 ? "urgent byte" : "byte"
            return Finding(
                .failed, "\(owner.name) received \(ByteText.count(unread + inKernel, kind)) that no step consumed",
                expected: unread > 0 ? [] : nil, actual: unread > 0 ? shown : nil,
                details: inKernel > 0
                    ? ["\(inKernel) of them unread in the kernel's buffer: reading is stopped or slow"] : [],
                hints: ["add an `expect` that consumes the input, or `\(owner.name) ignore rest` if it doesn't matter"])
        }
        return nil
    }

    private func unacceptedConnection() -> Finding? {
        for name in context.actors.order {
            guard case .server(let server)? = context.actors[name], context.hasWaiting(server) else { continue }
            return Finding(
                .failed, "\(name) (\(server.place)) received a connection that no step accepted",
                hints: ["add `\(name) accept as B` to accept a second connection"])
        }
        return nil
    }
}
