import Glibc
import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem

/// Runs the actions of a crowd.
struct CrowdExecutor {
    let context: CaseContext

    /// The delay after which all workers begin at the same time, so that the command can reach all workers before any
    /// of them begins.
    private static let lead = Duration.milliseconds(2)

    func act(
        _ crowd: CrowdActor, _ action: CrowdAction, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .start(let rate, let script): try await start(crowd, rate: rate, script)
        case .stop: try await stop(crowd)
        case .expect(let expectation): try await expect(expectation, crowd, timing, from: time)
        }
    }

    // MARK: start and stop

    private func start(_ crowd: CrowdActor, rate: Int?, _ script: CrowdScript) async throws(Finding) {
        if crowd.phase == .running {
            throw Finding(
                .error, "\(crowd.name) has already been started", hints: ["add `\(crowd.name) stop` before this step"])
        }
        let compiled = try CrowdCompiler(context: context).compile(script)
        crowd.unhandledFinding = CrowdEnd(context: context).unhandledFinding(of: crowd)
        (crowd.script, crowd.toleratedFailures, crowd.isSilent) = (compiled, nil, false)
        crowd.hasFailureBound = false
        StepContext.attempt?.add(crowd)
        let role = try role(of: crowd)
        if let target = crowd.targetName, case .server(let server)? = context.actors[target] {
            try await CrowdSinks(context: context).begin(at: server)
        }
        crowd.earlier += crowd.workers
        for worker in crowd.workers { worker.dismiss() }
        (crowd.workers, crowd.last, crowd.isReported) = ([], nil, false)
        if case .clients(let endpoint) = role { crowd.ends = try ends(of: crowd, to: endpoint) }
        let launch = CrowdLaunch(context: context)
        let what = "the crowd \(crowd.name)"
        for index in 0..<crowd.workerCount {
            var order = order(of: crowd, role, index, rate: rate)
            if crowd.isServerCrowd, crowd.workerCount > 1 {
                order.countFile = try context.sockets.file(
                    "\(crowd.name).members-\(crowd.earlier.count)", at: crowd.span)
            }
            crowd.workers.append(try launch.launch(order, for: crowd.name, of: what, at: crowd.span))
        }
        context.actors.waits[crowd.name] = "its workers"
        defer { context.actors.waits[crowd.name] = nil }
        try await launch.wait(for: crowd.workers, of: what, toBe: "ready", \.isReady)
        crowd.phase = .running
        let start = MonotonicTime.now + Self.lead
        let delay = rate.flatMap { rate in crowd.share?.delay(atRate: rate) } ?? .zero
        for worker in crowd.workers { worker.begin(at: start + delay) }
        crowd.beginSampling(from: start, on: context.reactor)
        let processes = crowd.workerCount == 1 ? "a process" : "\(crowd.workerCount) processes"
        let from = crowd.sources.map { ", from \(SourceAddresses.text(of: $0))" } ?? ""
        let share = crowd.share.map { ", share \($0.share) of the crowd" } ?? ""
        context.record(.event(actor: crowd.name, "begins: \(crowd.count) members in \(processes)\(share)\(from)"))
    }

    private func role(of crowd: CrowdActor) throws(Finding) -> CrowdOrder.Role {
        switch crowd.role {
        case .servers:
            guard let endpoint = crowd.address?.endpoint else { throw Finding(.error, "\(crowd.name) has no port") }
            return .servers(at: endpoint)
        case .clients(let target):
            let address = try AddressResolver(context: context).address(of: target, for: crowd.name)
            guard let endpoint = address.endpoint else {
                throw Finding(.error, "a crowd connects over TCP, not over a Unix socket")
            }
            return .clients(to: endpoint)
        }
    }

    private func order(of crowd: CrowdActor, _ role: CrowdOrder.Role, _ index: Int, rate: Int?) -> CrowdOrder {
        var order = CrowdOrder(
            role: role, first: index, step: crowd.workerCount, count: crowd.count, program: crowd.script.program)
        // The kernel distributes connections among the workers of a server crowd, so members can't be assigned to
        // workers in advance. Instead, the workers share a count of the members that they have accepted.
        if crowd.isServerCrowd { (order.first, order.step) = (0, 1) }
        order.rate = rate.map { rate in crowd.share?.part(ofRate: rate) ?? Double(rate) }
        order.receiveBuffer = crowd.receiveBuffer
        order.tls = crowd.tls
        (order.sources, order.otherSources) = crowd.ends
        return order
    }

    /// Returns the source addresses of the members, and the addresses to use when none of these addresses has a free
    /// port; `nil` if the system chooses an address.
    private func ends(
        of crowd: CrowdActor, to target: SocketEndpoint
    ) throws(Finding) -> (SourceAddresses?, SourceAddresses?) {
        // If a server in the script identifies the crowd's connections by their source ports and there is no `from`,
        // the system chooses the source address.
        if let name = crowd.targetName, case .server(let server)? = context.actors[name],
            case .port? = server.sinks.steering
        {
            let chosen = crowd.sources ?? 0...0
            return (SourceAddresses(first: chosen.lowerBound, addresses: chosen.count, ports: crowd.ports), nil)
        }
        guard target.address.family == .v4, target.address.isLoopback else {
            guard let sources = crowd.sources else { return (nil, nil) }
            throw Finding(
                .error, at: crowd.span,
                "\(crowd.name) can't connect from \(SourceAddresses.text(of: sources)) to \(target.address), which is not in 127.0.0.0/8",
                hints: ["remove `from`"])
        }
        // Each start uses different addresses, because closed connections may occupy the addresses of an earlier start
        // for a minute.
        var seed = SplitMix64(seed: UInt64(bitPattern: Int64(getpid())) << 32 ^ UInt64(crowd.earlier.count))
        var value = seed.next() ^ UInt64(bitPattern: context.time.start.nanoseconds)
        for byte in crowd.name.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        seed = SplitMix64(seed: value)
        let all = SourceAddresses(members: crowd.count, seed: seed.next())
        if case .server? = crowd.targetName.flatMap({ context.actors[$0] }) { return (all, nil) }
        // If the ports are below the system's range for outgoing connections, only the crowd uses them as source ports,
        // so the capture can exclude the crowd's packets by port.
        if SourceAddresses.ports.upperBound <= Int(PortAllocator.firstOutgoingPort()) {
            let ports = UInt16(all.ports.lowerBound)...UInt16(all.ports.upperBound - 1)
            context.capture.leaveOut(CrowdTraffic(ports: ports, target: target.port))
        }
        let offset = Int(seed.next() % UInt64(SourceAddresses.ports.count))
        guard let chosen = crowd.sources else { return (.localhost(offset: offset), all) }
        var sources = SourceAddresses(first: chosen.lowerBound, addresses: chosen.count, ports: SourceAddresses.ports)
        sources.offset = offset
        return (sources, nil)
    }

    private func stop(_ crowd: CrowdActor) async throws(Finding) {
        guard crowd.phase == .running else {
            throw Finding(
                .error, "\(crowd.name) is not running", hints: ["add `\(crowd.name) start { … }` before this step"])
        }
        await CrowdEnd(context: context).report(crowd)
        context.actors.waits[crowd.name] = "its members to close"
        defer { context.actors.waits[crowd.name] = nil }
        for worker in crowd.workers { worker.stop() }
        try await CrowdLaunch(context: context).wait(
            for: crowd.workers, of: "the crowd \(crowd.name)", toBe: "stopped", \.hasStopped)
        crowd.phase = .stopped
    }

    /// Ends the crowds that a failed attempt of a `retry` started. These crowds are not judged.
    func abandon(_ attempt: RetryAttempt) async {
        for (crowd, unhandledFinding) in attempt.crowds {
            await CrowdEnd(context: context).report(crowd)
            let workers = crowd.workers
            crowd.earlier += workers
            (crowd.workers, crowd.phase, crowd.last) = ([], .notStarted, nil)
            crowd.unhandledFinding = unhandledFinding
            await CrowdLaunch(context: context).end(workers)
        }
    }

    // MARK: expect

    private func expect(
        _ expectation: CrowdExpectation, _ crowd: CrowdActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        var pending = try pending(expectation, crowd)
        let judges = pending.limitsFailures
        let deadline = context.deadline(timing, from: time)
        defer { context.actors.waits[crowd.name] = nil }
        switch try await context.conclude(&pending, of: crowd.name, from: time, until: deadline) {
        case .satisfied(let snapshot, _):
            // The crowd may have been started again during the wait; the snapshot belongs to the last start.
            let isBound = pending.expectation.countsFailures
            if judges, isBound || !crowd.hasFailureBound {
                crowd.hasFailureBound = isBound
                crowd.toleratedFailures = pending.expectation.toleratedFailures(
                    of: crowd.count, seen: snapshot.failed, before: crowd.toleratedFailures)
            }
            context.record(
                .event(actor: crowd.name, pending.expectation.found(in: snapshot, of: crowd.count)))
        case .impossible(let why): throw why.finding
        }
    }

    func pending(
        _ expectation: CrowdExpectation, _ crowd: CrowdActor
    ) throws(Finding) -> PendingCrowdExpectation {
        let resolved: ResolvedCrowdExpectation =
            switch expectation {
            case .count(let what, let comparison, let number):
                .count(what, comparison, try context.integer(of: number))
            case .latency(let percentile, let comparison, let time, let what):
                // The limit on a latency is not multiplied by the run's time scale, because it applies to the time that
                // the peer itself takes.
                .latency(percentile, comparison, time, of: what)
            }
        var pending = PendingCrowdExpectation(
            try part(of: resolved, in: crowd), crowd,
            failures: { [unowned context, unowned crowd] in CrowdEnd(context: context).failures(in: $0, of: crowd) },
            obstacle: { [unowned context, unowned crowd] in CrowdEnd(context: context).obstacle(in: $0, of: crowd) })
        // Whether failures are limited is determined for the whole crowd. The number that is required in a single share
        // may be 0, and the comparison is then always true.
        pending.limitsFailures = resolved.limitsFailures
        if let share = crowd.share, !resolved.isAboutLatencies {
            pending.note =
                "this is share \(share.share) of the crowd; for all shares together, the step expects "
                + "`\(resolved.description)`"
        }
        return pending
    }

    /// Returns the expectation for this run's share. Numbers in a script apply to the whole crowd, whereas a limit on a
    /// percentile must be met in each share.
    private func part(
        of resolved: ResolvedCrowdExpectation, in crowd: CrowdActor
    ) throws(Finding) -> ResolvedCrowdExpectation {
        guard let share = crowd.share, case .count(let what, let comparison, let number) = resolved else {
            return resolved
        }
        guard let part = share.part(of: comparison, number) else {
            throw Finding(
                .error,
                "`\(resolved.description)` can't be judged for one share of the crowd: it applies to all members "
                    + "together",
                hints: ["use `<`, `>` or `== \(number)`"])
        }
        return .count(what, part.comparison, part.number)
    }
}

extension ResolvedCrowdExpectation {
    /// Whether the expectation limits the number of failed members. An expectation that is always met sets no limit.
    fileprivate var limitsFailures: Bool {
        guard case .count(let what, let comparison, let number) = self else { return false }
        return what != .connected && !comparison.holdsForAnyCount(number)
    }

    fileprivate var countsFailures: Bool { if case .count(.failed, _, _) = self { true } else { false } }

    /// Returns the number of members that may have failed when the crowd ends, given that this step was satisfied.
    ///
    /// `failed 0` and any other upper bound on failures apply until the crowd ends. `alive` and `done` require a number
    /// of members; all other members may have failed, unless an earlier `failed` step set another limit. Failures that
    /// had occurred when a step was satisfied are accepted.
    ///
    /// - Parameters:
    ///   - count: the number of members of the crowd.
    ///   - seen: the number of failed members when the step was satisfied.
    ///   - before: the number of failures that earlier steps allow; `nil` if no earlier step limits them.
    func toleratedFailures(of count: Int, seen: Int, before: Int?) -> Int? {
        guard case .count(let what, let comparison, let number) = self, what != .connected else { return before }
        let bound: Int =
            switch (what, comparison) {
            case (.failed, .equal), (.failed, .lessOrEqual): number
            case (.failed, .less): number - 1
            case (.failed, _): count
            case (.alive, .equal), (.alive, .greaterOrEqual), (.done, .equal), (.done, .greaterOrEqual):
                before ?? count - number
            case (.alive, .greater), (.done, .greater): before ?? count - number - 1
            case (.alive, _), (.done, _), (.connected, _): before ?? count
            }
        return max(seen, bound)
    }
}
