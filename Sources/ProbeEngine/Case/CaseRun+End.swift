import ProbeBase
import Glibc
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import ProbeWire

extension CaseRun {
    /// After the last step: what came and nobody took, who connected and nobody accepted, faults that never reached the wire.
    func lookAtTheEnd() -> [Finding] {
        if let fault { return [withActors(fault)] }
        for name in actorOrder {
            guard case .process(let process)? = actors[name] else { continue }
            process.child?.look()
            // Also an exit that only a branch not taken would have expected.
            if let finding = ProcessExecutor(context: context).unexpectedExit(of: process) {
                return [withActors(finding)]
            }
        }
        if let finding = unreadBytes() ?? unacceptedConnection() { return [withActors(finding)] }
        var findings: [Finding] = []
        for (owner, connection) in connections {
            findings += context.injected.unprovenCuts(of: (owner, connection), context)
            // A client that connected again stands here more than once.
            if owner.connection !== connection { continue }
            for rule in owner.whenevers where rule.uses == 0 {
                findings.append(
                    Finding(.inconclusive, at: rule.span, "this whenever was never used: no line came that it answers"))
            }
        }
        findings += context.injected.unshutWindows(context)
        return findings
    }

    /// The last fence, where something is judged from it, shown or kept.
    func catchUpForReports(hasFailed: Bool) async {
        guard settings.capture != nil else { return }
        if hasFailed || context.injected.needsProof(context.connections) || settings.keep == .all {
            _ = await context.catchUp(at: nil)
        }
    }

    // MARK: Unread, unaccepted

    private func unreadBytes() -> Finding? {
        for (owner, connection) in connections {
            if connection.isOpen && connection.reading == .atOnce { connection.receive() }
            if owner.ignoresRest || connection.wasAborted { continue }
            let inKernel = connection.reading == .atOnce ? 0 : connection.unreadInKernel
            let unread = connection.inbox.count + connection.urgent.count
            if unread == 0 && inKernel == 0 { continue }
            var shown = Array(connection.inbox.unread.prefix(4096))
            if shown.isEmpty { shown = Array(connection.urgent.unread.prefix(4096)) }
            let kind = connection.inbox.isEmpty && connection.urgent.count > 0 ? "urgent bytes" : "bytes"
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
        for name in actorOrder {
            guard case .server(let server)? = actors[name], context.hasWaiting(server) else { continue }
            return Finding(
                .failed, "a connection waits at \(name) (port \(server.address?.port ?? 0)) that no step accepted",
                hints: ["`\(name) accept as B` takes a second one"])
        }
        return nil
    }

    // MARK: Tear-down

    /// Ends everything that the case started; nothing of it is judged.
    ///
    /// - Returns: what could not be ended, and what could not be removed.
    func tearDown(endedWell: Bool) async -> [Finding] {
        context.faults.isTearingDown = true
        context.starts.end(actors)
        changes.notifyAll()
        if let driver = subjects.driver {
            if endedWell && (driver.afterglow > .zero || settings.hearsLateReports),
                let report = settings.reportRunError
            {
                aftermath = Aftermath(
                    id: context.job.id, names: subjectNames, driver: driver, reportRunError: report)
            }
        }
        subjects.close(isReusable: endedWell, late: aftermath)
        for (_, connection) in connections {
            connection.onChange = {}
            if connection.close() > 0 { connection.abort() }
        }
        for actor in actors.values {
            if case .server(let server) = actor {
                server.listener?.stopWatching(on: reactor)
                server.listener = nil
                server.waiting = []
            }
        }
        var processes: [ProcessActor] = []
        for case .process(let process)? in actorOrder.map({ actors[$0] }) {
            processes.append(process)
            for child in process.children {
                child.onChange = { [changes] in changes.notifyAll() }
                child.closeInput()
                await ProcessExecutor(context: context).end(child)
                child.endDescendants()
            }
        }
        var findings: [Finding] = []
        for process in processes {
            for child in process.children {
                if let finding = await waitForDescendants(of: child, process) { findings.append(finding) }
                child.onChange = {}
            }
            // Their descriptors go now, on the thread that they belong to.
            if let child = process.child { process.lives[process.lives.count - 1].ended = child.exitedAt }
            (process.child, process.earlier) = (nil, [])
            if let folder = process.folder, let reason = Leftovers.remove(folder: folder) {
                findings.append(
                    Finding(
                        .error, "\(process.name)'s temporary folder \(folder) can't be removed: \(reason)",
                        hints: ["look at what is left there, and remove it by hand"]))
            }
        }
        return findings
    }

    /// Returns when nothing is left of what a program has started.
    private func waitForDescendants(of child: ChildProcess, _ process: ProcessActor) async -> Finding? {
        let deadline = MonotonicTime.now + GuardedProgram.patience
        while child.left == nil && MonotonicTime.now < deadline { await pause(until: deadline) }
        if child.left == nil { child.giveUp() }
        if child.left == nil || child.isUnguarded { await endStrays() }
        guard let left = child.left, left > 0 else { return nil }
        return Finding(
            .error, "\(left) of the processes that \(process.name) has started can't be ended",
            hints: ["they belong to another user, or wait in the kernel: `ps -ef` names them"])
    }

    /// Without its guard a process is found by the case's mark. Killing takes effect a moment later, and what was started meanwhile
    /// carries the mark, too: again, until there is none.
    private func endStrays() async {
        for _ in 0..<1000 {
            if Leftovers.kill(markedWith: ProcessExecutor(context: context).environmentMarker) == 0 { return }
            await pause(until: .now + .milliseconds(1))
        }
    }

    /// By the numbers by which the driver knows them.
    private var subjectNames: [Int: String] {
        var names: [Int: String] = [:]
        for case .subject(let subject) in actors.values { names[subject.number] = subject.name }
        return names
    }
}
