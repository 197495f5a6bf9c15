import ProbeBase
import ProbeEvents
import ProbeNetwork
import ProbeScenario
import ProbeSystem

extension BlockInterpreter {
    /// The first branch whose start fits is taken, for good.
    func runEither(_ blocks: [Block], _ step: Step, from time: MonotonicTime) async throws(Finding) {
        var starts = blocks.map { block in
            guard case .act(_, _, let timing)? = block.steps.first?.kind else { return BranchStart(deadline: time) }
            return BranchStart(deadline: context.deadline(timing, from: time))
        }
        let chosen: Int
        do throws(Finding) {
            chosen = try await choose(&starts, blocks, step, from: time)
        } catch {
            end(starts, of: blocks, chosen: nil)
            throw error
        }
        end(starts, of: blocks, chosen: chosen)
        context.record(.note("either: branch \(chosen + 1) of \(blocks.count) is taken"))
        if !StepContext.isInDefinition {
            context.progress.descend(from: step.id, to: blocks[chosen].steps.prefix(1))
        }
        _ = try await run(blocks[chosen].steps, from: time)
    }

    private func choose(
        _ starts: inout [BranchStart], _ blocks: [Block], _ step: Step, from time: MonotonicTime
    ) async throws(Finding) -> Int {
        while true {
            try context.checkFault()
            var next = MonotonicTime.distantFuture
            for index in blocks.indices {
                guard let first = blocks[index].steps.first else { continue }
                do throws(Finding) {
                    if case .absent = starts[index].expected { try begin(&starts[index], first, blocks, from: time) }
                    let window = context.window(
                        from: time, until: starts[index].deadline, measuresProgress: starts[index].measuresProgress)
                    switch try starts[index].look(window) {
                    case .fits: return index
                    case .waits(let until): next = min(next, until)
                    case .fitsNot: break
                    }
                } catch {
                    throw error.span == nil ? error.at(first.focus) : error
                }
            }
            if let failure = failure(of: starts, blocks, step, from: time) { throw failure }
            await context.pause(until: next)
        }
    }

    /// What the `either` says once no branch can fit any more; nil before.
    private func failure(
        of starts: [BranchStart], _ blocks: [Block], _ step: Step, from time: MonotonicTime
    ) -> Finding? {
        let fitsNone = starts.allSatisfy { $0.reason != nil }
        guard fitsNone || starts.allSatisfy(\.isOver) else { return nil }
        if let doubt = starts.lazy.compactMap(\.doubt).first { return doubt }
        let deadline = starts.map(\.deadline).max() ?? time
        return Finding(
            .failed,
            fitsNone
                ? "no branch of the either fits what came"
                : "no branch of the either began within \(DurationText.script(deadline - time))",
            details: blocks.indices.map { index in
                "branch \(index + 1): " + starts[index].progress + (blocks[index].steps.first.map(wanted) ?? "")
            })
    }

    /// `; chat.scn:12 wants T expect line name  (name = "anna")`
    private func wanted(_ step: Step) -> String {
        let location = context.sources.location(of: step.span)
        let file = location.path.split(separator: "/").last ?? ""
        let values = context.values(of: step)
        return "; \(Escaped.text(file.utf8)):\(location.line) wants \(context.text(of: step.span))"
            + (values.isEmpty ? "" : "  (\(values.sentence))")
    }

    // MARK: The branches' starts

    /// Computes what a branch waits for, as soon as its actor is there.
    private func begin(
        _ start: inout BranchStart, _ step: Step, _ blocks: [Block], from time: MonotonicTime
    ) throws(Finding) {
        guard case .act(let name, let action, let timing) = step.kind else { return }
        switch (context.actors[name.value], action) {
        case (.server(let server), .server(.accept(_, let mode, _))):
            start.expected = .server(PendingServerExpectation(try wanted(mode, server), server, context))
        case (.server(let server), .server(.expect(.noConnection(let duration)))):
            start.expected = .server(PendingServerExpectation(.noConnection(for: duration), server, context))
            start.deadline = time + duration
        case (.server, .connection(.expect(let expectation))), (.connection, .connection(.expect(let expectation))):
            guard let actor = context.actors.connection(name.value), let connection = actor.connection else { return }
            // An opening handshake is no part of what is expected.
            guard try WebSocketExecutor(context: context).finishOpeningIfAnswered(actor, connection) else { return }
            let connections = ConnectionExecutor(context: context)
            let wanted = try connections.resolve(expectation, actor)
            start.expected = .connection(PendingConnectionExpectation(wanted, actor, connection))
            // Without a `within` a send has no deadline of its own: the branch has.
            start.deadline = min(
                connections.deadline(of: wanted, timing, from: time),
                wanted.isSent ? context.deadline(timing, from: time) : .distantFuture)
            actor.begin(wanted, alone: Self.isAlone(name.value, blocks))
        case (.subject(let subject), .subject(.expect(let expectation))):
            let wanted = try subjects.resolve(expectation, subject)
            // Of a subject that can't be measured another branch has to fit.
            guard subjects.canMeasure(wanted) else { return }
            start.expected = .subject(
                PendingSubjectExpectation(
                    wanted, subject, framing: subjects.framing(of: subject), meter: subjects.meter(for: wanted)))
            start.deadline = subjects.deadline(of: wanted, timing, from: time)
        case (.process(let process), .process(.expect(let expectation))):
            guard let child = process.child else { return }
            let processes = ProcessExecutor(context: context)
            let wanted = try processes.resolve(expectation, process)
            start.expected = .process(
                PendingProcessExpectation(
                    wanted, process, child, after: timing.after, watch: processes.watch(of: process)))
            start.deadline = processes.deadline(of: wanted, timing, from: time)
        case (.proxy(let proxy), .proxy(.accept)): start.expected = .proxy(PendingProxyAccept(proxy))
        case (.proxy, .proxy(.expect(let expectation, let side))),
            (.proxied, .proxy(.expect(let expectation, let side))):
            guard let actor = context.actors.proxied(name.value) else { return }
            let proxies = ProxyExecutor(context: context)
            let pending = try proxies.watch(expectation, from: side, of: actor)
            start.expected = .watch(pending)
            start.deadline = proxies.deadline(of: pending, timing, from: time)
        case (.crowd(let crowd), .crowd(.expect(let expectation))):
            start.expected = .crowd(try CrowdExecutor(context: context).pending(expectation, crowd))
        case (_, .server), (_, .client), (_, .connection), (_, .subject), (_, .process), (_, .proxy), (_, .crowd):
            return
        }
    }

    /// What an `accept` waits for: how a handshake ended tells the branches of a server with TLS apart.
    private func wanted(
        _ mode: ServerAction.AcceptMode, _ server: ServerActor
    ) throws(Finding) -> ResolvedServerExpectation {
        guard context.tls.actors[server.name] != nil else { return .connection }
        switch mode {
        case .asDeclared: return .handshake(fails: false, alert: nil)
        case .withoutTLS: return .connection
        case .tlsFails(let alert):
            let code = try alert.map { (alert) throws(Finding) in try context.integer(of: alert, as: UInt8.self) }
            return .handshake(fails: true, alert: code)
        }
    }

    /// Nothing is waited for any more. What a `whenever` did not look at meanwhile it looks at now, unless the branch's step comes first.
    private func end(_ starts: [BranchStart], of blocks: [Block], chosen: Int?) {
        for (index, start) in starts.enumerated() {
            guard case .connection(let pending) = start.expected else { continue }
            pending.actor.end(pending.wanted, alone: Self.isAlone(pending.actor.name, blocks))
            if index != chosen, pending.actor !== chosen.flatMap({ starts[$0].connectionActor }) {
                context.serveWhenevers(of: pending.actor)
            }
        }
    }

    /// Whether the branches wait for nothing but the end of this connection: after `ignore rest` what comes before it is dropped.
    private static func isAlone(_ name: String, _ blocks: [Block]) -> Bool {
        blocks.allSatisfy { block in
            guard case .act(let other, let action, _)? = block.steps.first?.kind, other.value == name else {
                return true
            }
            switch action {
            case .connection(.expect(.eof)), .connection(.expect(.reset)), .connection(.expect(.closed)): return true
            case .server, .client, .connection, .subject, .process, .proxy, .crowd: return false
            }
        }
    }
}

extension Finding {
    func at(_ span: SourceSpan) -> Finding {
        var finding = self
        finding.span = span
        return finding
    }
}
