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
            if let finding = unexpectedExit(of: process) { return [withActors(finding)] }
        }
        if let finding = unreadBytes() ?? unacceptedConnection() { return [withActors(finding)] }
        var findings: [Finding] = []
        for (owner, connection) in connections {
            findings += connection.cutTransmissions.compactMap { coalesced($0, connection, owner) }
            // A client that connected again stands here more than once.
            if owner.connection !== connection { continue }
            for rule in owner.whenevers where rule.uses == 0 {
                findings.append(
                    Finding(.inconclusive, at: rule.span, "this whenever was never used: no line came that it answers"))
            }
        }
        findings += unshutWindows()
        return findings
    }

    /// The last fence, where something is judged from it, shown or kept.
    func catchUpForReports(hasFailed: Bool) async {
        guard settings.capture != nil else { return }
        let judges = stops.count > 0 || connections.contains { !$0.connection.cutTransmissions.isEmpty }
        if hasFailed || judges || settings.keep == .all { _ = await catchUp(nil) }
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
            guard case .server(let server)? = actors[name], hasWaiting(server) else { continue }
            return Finding(
                .failed, "a connection waits at \(name) (port \(server.address?.port ?? 0)) that no step accepted",
                hints: ["`\(name) accept as B` takes a second one"])
        }
        return nil
    }

    // MARK: Faults that must be seen

    /// nil when the pieces of a send left as segments of their own.
    private func coalesced(
        _ transmission: Transmission, _ connection: Connection, _ owner: ConnectionActor
    ) -> Finding? {
        let span = sendSpans[ObjectIdentifier(transmission)]
        guard settings.capture != nil else {
            return Finding(
                .inconclusive, at: span,
                "whether the pieces left as segments of their own could not be seen: \(settings.captureProblem ?? "no capture")"
            )
        }
        if let peer = connection.peer, !peer.isLoopback {
            return Finding(.inconclusive, at: span, "the connection is not on loopback: its segments can't be seen")
        }
        // What was cut off by the end of the connection never left; a send that failed has failed its step.
        let lengths = transmission.lengths
        guard case .done = transmission.state else { return nil }
        guard let end = wireEnd(of: connection) else {
            return Finding(
                .inconclusive, at: span, wire.lossReason ?? "\(owner.name)'s connection was not seen on the wire")
        }
        switch wire.table.conversations[end.index].verifyPieces(
            from: end.side, streamOffset: transmission.streamOffset, lengths: lengths)
        {
        // Each piece was seen as a segment: packets that the capture lost meanwhile were others.
        case .exact: return nil
        case .coalesced(let details):
            if let reason = wire.lossReason { return Finding(.inconclusive, at: span, reason) }
            return Finding(
                .inconclusive, at: span, "\(owner.name)'s pieces did not leave as segments of their own",
                details: details)
        case .notSeen(let what), .inconclusive(let what):
            if connection.wasAborted { return nil }
            if let reason = wire.lossReason { return Finding(.inconclusive, at: span, reason) }
            return Finding(.inconclusive, at: span, "\(owner.name)'s pieces were not all seen on the wire: \(what)")
        }
    }

    /// `stop reading` while the peer had a `start sending` under way, and the window never shut.
    private func unshutWindows() -> [Finding] {
        stops.compactMap { stop in
            guard isSentTo(stop) else { return nil }
            guard settings.capture != nil else {
                return Finding(
                    .inconclusive, at: stop.span,
                    "whether the window shut could not be seen: \(settings.captureProblem ?? "no capture")")
            }
            guard let end = wireEnd(of: stop.connection) else {
                return Finding(.inconclusive, at: stop.span, "\(stop.owner.name)'s connection was not seen on the wire")
            }
            let conversation = wire.table.conversations[end.index]
            if conversation.shutWindow(of: end.side, since: wire.captureTime(of: stop.time)) != nil { return nil }
            return Finding(
                .inconclusive, at: stop.span,
                "\(stop.owner.name) stopped reading, but its window never shut while it was sent to",
                hints: ["loopback absorbs over 4 MB: `with receive-buffer 4KiB` bounds the window"])
        }
    }

    private func isSentTo(_ stop: StoppedReading) -> Bool {
        connections.contains { owner, connection in
            guard let background = owner.background, isPeer(connection, of: stop.connection) else { return false }
            if case .done(let time) = background.state { return time > stop.time }
            return true
        }
    }

    /// Whether two connections of the harness are the two ends of one.
    private func isPeer(_ connection: Connection, of other: Connection) -> Bool {
        if let end = wireEnd(of: connection), let otherEnd = wireEnd(of: other) {
            return end.index == otherEnd.index && end.side != otherEnd.side
        }
        return connection.local == other.peer && connection.peer == other.local
    }

    func stoppedReading(_ connection: Connection, _ step: Step) {
        guard let owner = connections.last(where: { $0.connection === connection })?.owner else { return }
        stops.append(StoppedReading(connection: connection, owner: owner, time: .now, span: step.span))
    }

    // MARK: Tear-down

    /// Ends everything that the case started; nothing of it is judged.
    ///
    /// - Returns: what could not be ended, and what could not be removed.
    func tearDown(endedWell: Bool) async -> [Finding] {
        context.faults.isTearingDown = true
        endStarts()
        changes.notifyAll()
        if let driver {
            if endedWell && (driver.afterglow > .zero || settings.hearsLateReports), let trouble = settings.trouble {
                aftermath = Aftermath(id: settings.id, names: subjectNames, driver: driver, trouble: trouble)
            }
            driver.close(isReusable: endedWell, late: aftermath)
        }
        driver = nil
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
                await end(child)
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
            if Leftovers.kill(markedWith: environmentMarker) == 0 { return }
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

/// A `stop reading` of the script, for the look at the window.
struct StoppedReading {
    var connection: Connection
    var owner: ConnectionActor
    var time: MonotonicTime
    var span: SourceSpan
}
