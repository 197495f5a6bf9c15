import ProbeBase
package import ProbeEvents
import ProbeScenario
package import ProbeSystem

/// One case while it runs: the order of its parts, and the isolation of all of them.
///
/// It lives on its reactor's thread: steps are plain `async` code there, and what sockets, programs, the subject and the
/// capture have to say arrives on the same thread, so nothing here is shared.
package actor CaseRun {
    package nonisolated let reactor: Reactor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    let subjects: SubjectExecutor
    let blocks: BlockInterpreter
    let context: CaseContext
    private let timeout: CaseTimeout
    /// Hears what the subject reports after the case; nil where it can't report anything then.
    package private(set) var aftermath: Aftermath?
    /// The case that the process of the subject served before this one; nil if it served none.
    var servedBefore: String? { subjects.servedBefore }

    package init(_ job: RunJob, configuration: RunConfiguration, reactor: Reactor) {
        self.reactor = reactor
        context = CaseContext(job, settings: configuration, reactor: reactor, start: .now)
        timeout = CaseTimeout(context)
        subjects = SubjectExecutor(context)
        blocks = BlockInterpreter(context, subjects)
    }

    /// Runs the case to its end. When this returns, no socket, program or file of the case is left.
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
        let ofSteps = (count: findings.count, end: MonotonicTime.now)
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
        if findings.contains(where: { $0.verdict == .failed }) { await subjects.hearRest() }
        findings = machine.excused(findings, subjects.machineFailure)
        findings = await StandstillFaults(context: context).excused(findings, ofSteps: ofSteps)
        findings += await tearDown(endedWell: findings.allSatisfy { $0.verdict == .unsupported })
        return CaseReport(context: context).result(findings + context.inconclusive)
    }

    /// Ends the case where it is (Ctrl-C): `finally` blocks still run, results and capture are kept.
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
            // Both count: the error of a step does not hide a fault beside it.
            if let fault = context.faults.fault, fault.summary != error.summary {
                findings.append(context.withActors(fault))
            }
            return findings
        }
    }

    /// A server that no packet of its link can reach is the cause of most failures after it.
    private func explained(_ finding: Finding) -> Finding {
        guard !context.links.isEmpty, finding.verdict == .failed || finding.verdict == .error else { return finding }
        var finding = finding
        for name in context.actors.order {
            guard case .process(let process)? = context.actors[name] else { continue }
            for place in ProcessObserver.unreachablePlaces(process) {
                finding.hints.append(
                    "\(process.name) listens on \(place), which the link can't reach; bind to ${\(process.name).address} or 0.0.0.0"
                )
            }
        }
        return finding
    }

    /// Runs the `finally` blocks in the order of the script. A failure in one block does not keep the next block from running.
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

    // MARK: Tasks of their own

    /// Runs the lines of a `together` at once; the first failure ends the others.
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

    /// Begins the answers of a connection's `whenever`, beside the steps.
    func startAnswering(_ connection: String) {
        // The answer does not belong to the `retry` of the step that ran when the line came.
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
        if endedWell { aftermath = Aftermath(of: context, driver: subjects.driver) }
        await end(isReusable: endedWell)
        let findings = await TearDown(context: context).run()
        context.links.release(to: context.settings.links)
        return findings
    }

    /// Lets go of the subject. What was in a network of the case's own has ended when this returns.
    private func end(isReusable: Bool) async {
        if context.links.isEmpty {
            subjects.close(isReusable: isReusable, late: aftermath)
            return
        }
        await withCheckedContinuation { continuation in
            subjects.close(isReusable: isReusable, late: aftermath) { continuation.resume() }
        }
    }
}
