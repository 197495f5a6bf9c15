package import ProbeBase
package import ProbeEvents
package import ProbeScenario
package import ProbeSystem
package import ProbeWire

/// A running case, which executes its phases in order and isolates its state.
///
/// The actor runs on its reactor's thread. Steps are plain `async` code on this thread, and events from sockets,
/// programs, the subject and the capture are delivered on it, so no state is shared between threads.
package actor CaseRun {
    package nonisolated let reactor: Reactor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    let subjects: SubjectExecutor
    let blocks: BlockInterpreter
    let context: CaseContext
    private let timeout: CaseTimeout
    /// Receives the subject's reports after the end of the case; `nil` if the subject can't report anything then.
    package private(set) var lateReports: LateReportCollector?
    /// The id of the case that the subject's process served before this one; `nil` if this case is its first.
    var servedBefore: String? { subjects.servedBefore }

    package init(_ job: RunJob, configuration: RunConfiguration, reactor: Reactor) {
        self.reactor = reactor
        context = CaseContext(job, settings: configuration, reactor: reactor, start: .now)
        timeout = CaseTimeout(context)
        subjects = SubjectExecutor(context)
        blocks = BlockInterpreter(context, subjects)
    }

    /// Runs the case. When this method returns, no socket, program or file of the case remains.
    package func run() async -> CaseResult {
        let machine = MachineFaults(context: context)
        if let finding = CaseRequirements(context: context).unmet() ?? machine.unusableLoopback() {
            return CaseReport(context: context).result([finding])
        }
        do throws(Finding) {
            try context.links.open(context.scenario, from: context.settings.links)
            try await subjects.prepare(for: self)
        } catch {
            context.faults.isTearingDown = true
            await end(isReusable: error.verdict == .unsupported)
            context.links.release(to: context.settings.links)
            return CaseReport(context: context).result([error])
        }
        var findings = await runSteps()
        let fromSteps = (count: findings.count, end: MonotonicTime.now)
        findings += await runFinallyBlocks()
        if findings.isEmpty {
            do throws(Finding) {
                try await WebSocketExecutor(context: context).finishOpenings()
                try await CaseEnd(context: context).awaitArrival()
                try await subjects.conclude()
            } catch { findings.append(context.withActors(error)) }
        }
        await CrowdEnd(context: context).report()
        let end = CaseEnd(context: context)
        await end.catchUp(hasFailed: !findings.isEmpty)
        if findings.isEmpty { findings += end.findings() }
        if findings.contains(where: { $0.verdict == .failed }) { await subjects.waitForRemainingReports() }
        findings = machine.excused(findings, subjects.machineFailure)
        findings = await StandstillFaults(context: context).excused(findings, fromSteps: fromSteps)
        findings += await tearDown(endedWell: findings.allSatisfy { $0.verdict == .unsupported })
        return CaseReport(context: context).result(findings + context.inconclusive)
    }

    /// Ends the case immediately, for example on Ctrl-C. `finally` blocks still run, and the results and the capture
    /// are kept.
    package func interrupt() {
        if context.faults.interrupt() { context.changes.notifyAll() }
    }

    // MARK: Steps

    private func runSteps() async -> [Finding] {
        timeout.begin("the case")
        defer { timeout.cancel() }
        do throws(Finding) {
            try context.sharedPaths.reserve(for: context.job)
            try CaseSetup(context: context).makeActors()
            blocks.caseRun = self
            context.startAnswering = { [weak self] name in self?.assumeIsolated { $0.startAnswering(name) } }
            blocks.collectFinallyBlocks(context.scenario.steps)
            _ = try await blocks.run(context.scenario.steps, from: .now)
            try await context.finishAnswers()
            if let fault = context.faults.fault { throw fault }
            return []
        } catch {
            var findings = [explained(error.actors.isEmpty ? context.withActors(error) : error)]
            // An error in a step doesn't hide a fault that occurred at the same time: the case reports the error and
            // the fault.
            if let fault = context.faults.fault, fault.summary != error.summary {
                findings.append(context.withActors(fault))
            }
            return findings
        }
    }

    /// Adds hints about programs that listen on an address that can't be reached over their link, because a program
    /// that can't be reached usually causes the failures that follow.
    private func explained(_ finding: Finding) -> Finding {
        guard !context.links.isEmpty, finding.verdict == .failed || finding.verdict == .error else { return finding }
        var finding = finding
        for name in context.actors.order {
            guard case .process(let process)? = context.actors[name] else { continue }
            for place in ProcessObserver.unreachablePlaces(process) {
                finding.hints.append(
                    "\(process.name) listens on \(place), which can't be reached over the link: bind to "
                        + "`${\(process.name).address}` or 0.0.0.0"
                )
            }
        }
        return finding
    }

    /// Runs the `finally` blocks in the order of the script. If a block fails, the next one still runs.
    private func runFinallyBlocks() async -> [Finding] {
        if blocks.finallyBlocks.isEmpty { return [] }
        context.faults.clear()
        var findings: [Finding] = []
        timeout.begin("`finally`")
        defer { timeout.cancel() }
        for block in blocks.finallyBlocks {
            do throws(Finding) {
                _ = try await blocks.run(block.steps, from: .now)
            } catch {
                findings.append(error)
                context.faults.clear()
            }
        }
        if let fault = context.faults.fault { findings.append(context.withActors(fault)) }
        context.faults.clear()
        return findings
    }

    // MARK: Separate tasks

    /// Runs the lines of a `together` block concurrently. The first failure cancels the other lines.
    func runLines(of block: Block, from time: MonotonicTime) async -> Finding? {
        let reactor = reactor
        return await withTaskGroup(of: Finding?.self) { group in
            for step in block.steps {
                group.addTask(executorPreference: reactor) { await self.attempt(step, from: time) }
            }
            var first: Finding?
            for await outcome in group {
                if let outcome, first == nil {
                    first = outcome
                    group.cancelAll()
                    self.context.changes.notifyAll()
                }
            }
            return first
        }
    }

    private func attempt(_ step: Step, from time: MonotonicTime) async -> Finding? {
        await blocks.attempt(step, from: time)
    }

    /// Starts running the answers of a connection's `whenever` block, concurrently with the steps.
    func startAnswering(_ connection: String) {
        // The answers of a `whenever` block don't belong to the `retry` block whose step is running when a line
        // arrives.
        StepContext.$attempt.withValue(nil) {
            StepContext.$isInDefinition.withValue(true) {
                _ = Task(executorPreference: reactor) { await self.runAnswers(of: connection) }
            }
        }
    }

    private func runAnswers(of connection: String) async { await blocks.runAnswers(of: connection) }

    // MARK: The end

    func tearDown(endedWell: Bool) async -> [Finding] {
        context.faults.isTearingDown = true
        context.starts.end(context.actors)
        context.changes.notifyAll()
        if endedWell { lateReports = LateReportCollector(of: context, driver: subjects.driver) }
        await end(isReusable: endedWell)
        let findings = await TearDown(context: context).run()
        context.links.release(to: context.settings.links)
        return findings
    }

    /// Releases the subject. By the time this method returns, no process of the subject remains in the case's private
    /// networks.
    private func end(isReusable: Bool) async {
        if context.links.isEmpty {
            subjects.close(isReusable: isReusable, late: lateReports)
            return
        }
        await withCheckedContinuation { continuation in
            subjects.close(isReusable: isReusable, late: lateReports) { continuation.resume() }
        }
    }
}

/// A case whose steps are not known when it begins. The caller adds steps one by one, after examining the responses to
/// earlier steps.
///
/// The case has the actors from its script's header, but no subject and no `case-timeout`. A failed step does not end
/// the case.
extension CaseRun {
    /// Makes the actors and begins the case.
    ///
    /// - Parameter notifyObserver: receives the events on the case's connections, on the case's thread.
    /// - Returns: the finding that prevents the case from beginning; `nil` on success. After such a finding, only
    ///   ``finish()`` may be called.
    package func begin(reporting notifyObserver: @escaping @Sendable (CaseNotification) -> Void) -> Finding? {
        context.notifyObserver = notifyObserver
        do throws(Finding) {
            try CaseSetup(context: context).makeActors()
        } catch {
            return error
        }
        blocks.caseRun = self
        context.startAnswering = { [weak self] name in self?.assumeIsolated { $0.startAnswering(name) } }
        return nil
    }

    /// Runs the steps that were added to the script.
    ///
    /// - Parameters:
    ///   - plan: the plan of the script so far, with the new steps after those that have run.
    ///   - first: the index of the first new step in the scenario's steps.
    /// - Returns: the finding of the first step that failed; `nil` if all steps passed. No steps are run after a step
    ///   that failed.
    package func run(_ plan: Plan, from first: Int) async -> Finding? {
        // Faults that occurred while no step was running have already been reported and don't belong to the new steps.
        context.faults.clear()
        // The indices of the earlier steps are the same in the new plan.
        (context.scenario, context.sources, context.index) = (plan.scenario, plan.sources, StepIndex(plan.scenario))
        context.tls.extend(to: plan.scenario)
        defer { context.faults.clear() }
        do throws(Finding) {
            if plan.scenario.namesAuthority, context.variables.values["ca"] == nil {
                context.set("ca", .bytes(Array(try context.authorityFile(at: nil).utf8)))
            }
            for step in plan.scenario.steps[first...] { _ = try await blocks.run(step, from: .now) }
            return context.faults.fault
        } catch {
            return error
        }
    }

    /// Interrupts the running step.
    package func cancelStep() {
        context.raise(Finding(.error, "the step was interrupted"))
    }

    /// Returns the bytes of a connection that no step has consumed; `nil` if the connection has no plain byte stream.
    package func unread(of name: String) -> [UInt8]? {
        guard let actor = context.actors.connection(name), actor.framing != .websocket, actor.opening == nil else {
            return nil
        }
        return actor.connection.map { Array($0.receiveBuffer.unread) }
    }

    /// Returns how the peer ended a connection; `nil` if the peer has not ended it, or if a step has expected the end.
    package func unconsumedEnd(of name: String) -> Connection.ReadEnd? {
        guard let actor = context.actors.connection(name), actor.hasUnconsumedEnd else { return nil }
        return actor.connection?.readEnd
    }

    /// Returns whether the connection of an actor receives WebSocket frames.
    package func speaksFrames(_ name: String) -> Bool {
        guard let actor = context.actors.connection(name) else { return false }
        return actor.connection != nil && (actor.framing == .websocket || actor.opening != nil)
    }

    /// Returns whether an actor has a connection that the harness has not ended.
    package func isOpen(_ name: String) -> Bool { context.actors.connection(name)?.hasNoConnection == false }

    /// Returns whether a server has a waiting connection that no step has accepted.
    package func hasWaiting(_ server: String) -> Bool {
        guard case .server(let server)? = context.actors[server] else { return false }
        return context.hasWaiting(server)
    }

    /// Waits, without a time limit, until a server has a waiting connection.
    ///
    /// - Returns: `false` if the wait was ended by ``cancelStep()``.
    package func waitForConnection(at server: String) async -> Bool {
        guard case .server(let actor)? = context.actors[server] else { return false }
        defer {
            context.stopWatching(actor)
            context.faults.clear()
        }
        let forever = MonotonicTime.now + .seconds(365 * 86400)
        do throws(Finding) {
            return try await context.wait(until: forever) { () throws(Finding) in
                try context.hasWaitingOrWatches(actor) ? true : nil
            } ?? false
        } catch {
            return false
        }
    }

    /// Returns the address on which a server listens.
    package func address(of server: String) -> SocketAddress? {
        guard case .server(let server)? = context.actors[server] else { return nil }
        return server.address
    }

    /// The segments with a payload that arrived on a connection. Retransmissions are excluded.
    package struct ArrivedSegments: Sendable {
        package struct Segment: Sendable {
            package var count: Int
            package var time: MonotonicTime
        }

        package fileprivate(set) var list: [Segment] = []
        /// The stream position of the first segment.
        package fileprivate(set) var start = 0
        /// The number of packets of the case that have been examined.
        fileprivate var next = 0

        package init() {}

        /// Drops the segments that end at or before a position in the stream.
        package mutating func drop(before place: Int) {
            var count = 0
            while count < list.count, start + list[count].count <= place {
                start += list[count].count
                count += 1
            }
            list.removeFirst(count)
        }
    }

    /// Finds the segments that carried the bytes received on an actor's current connection.
    ///
    /// - Parameter known: the segments found by an earlier call for the same connection.
    /// - Returns: `nil` if the segments were not captured, or if the connection uses TLS, because segments with TLS
    ///   don't show the plaintext.
    package func segments(to name: String, after known: ArrivedSegments) async -> ArrivedSegments? {
        guard let connection = context.actors.connection(name)?.connection, connection.layer == nil,
            await WireCatchUp(context: context).run(at: nil)
        else { return nil }
        let names = context.wireNames()
        guard let end = names.end(of: connection) else { return nil }
        let peer = WireEnd(index: end.index, side: end.side.opposite)
        var found = known
        for entry in names.traffic.entries[known.next...] {
            guard entry.sender == peer, let summary = entry.summary, !entry.payload.isEmpty,
                summary.kind == .new || summary.kind == .outOfOrder
            else { continue }
            found.list.append(.init(count: entry.payload.count, time: context.capture.time(of: entry.packet)))
        }
        found.next = names.traffic.entries.count
        return found
    }

    /// Returns the packets captured so far on the case's own connections; `nil` without a capture.
    package func packets() async -> (link: LinkType, packets: [CapturedPacket])? {
        guard let capture = context.capture.capture, await WireCatchUp(context: context).run(at: nil) else {
            return nil
        }
        let names = context.wireNames()
        return (capture.packetLinkType, names.ownPackets.map { names.traffic.entries[$0].packet })
    }

    /// The reason why no packets are captured.
    package var captureProblem: String { context.captureProblem }

    /// Ends everything that the case has started, without judging anything.
    ///
    /// - Returns: findings about what could not be ended.
    package func finish() async -> [Finding] {
        context.notifyObserver = nil
        context.faults.clear()
        let findings = await tearDown(endedWell: false)
        context.capture.release()
        return findings
    }
}
