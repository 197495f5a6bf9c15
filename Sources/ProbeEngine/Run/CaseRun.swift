import ProbeBase
package import ProbeEvents
import ProbeScenario
package import ProbeSystem
import ProbeTransport

/// One case while it runs: its actors, its variables, what happened so far.
///
/// It lives on its reactor's thread: steps are plain `async` code there, and what sockets, programs, the subject and the
/// capture have to say arrives on the same thread, so nothing here is shared.
package actor CaseRun {
    package nonisolated let reactor: Reactor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    let context: CaseContext
    let timeout: CaseTimeout
    let subjects: SubjectExecutor
    let blocks: BlockInterpreter
    /// Hears what the subject says when the case has ended well; nil where nothing can come then.
    package internal(set) var aftermath: Aftermath?

    package init(_ job: RunJob, configuration: RunConfiguration, reactor: Reactor) {
        self.reactor = reactor
        context = CaseContext(job, settings: configuration, reactor: reactor, start: .now)
        timeout = CaseTimeout(context)
        subjects = SubjectExecutor(context)
        blocks = BlockInterpreter(context, subjects)
    }

    // MARK: The whole case

    /// Runs it to its end; nothing of it is left when this returns.
    package func run() async -> CaseResult {
        if let finding = CaseRequirements(context: context).unmet()
            ?? MachineFaults(context: context).unusableLoopback()
        {
            return context.result([finding])
        }
        do throws(Finding) {
            try await subjects.prepare(for: self)
        } catch {
            context.faults.isTearingDown = true
            subjects.close(isReusable: error.verdict == .unsupported, late: nil)
            return context.result([error])
        }
        var findings: [Finding] = []
        timeout.begin("the case")
        do throws(Finding) {
            try CaseSetup(context: context).makeActors()
            blocks.caseRun = self
            context.startAnswering = { [weak self] name in self?.assumeIsolated { $0.startAnswering(name) } }
            blocks.collectFinallyBlocks(scenario.steps)
            _ = try await blocks.run(scenario.steps, from: .now)
            try await context.finishAnswers()
            if let fault { throw fault }
        } catch {
            findings.append(error.actors.isEmpty ? withActors(error) : error)
            // Both count: an error of a step does not hide what went wrong beside it.
            if let fault, fault.summary != error.summary { findings.append(withActors(fault)) }
        }
        timeout.cancel()
        findings += await runFinallyBlocks()
        if findings.isEmpty {
            do throws(Finding) { try await subjects.conclude() } catch { findings.append(withActors(error)) }
        }
        await catchUpForReports(hasFailed: !findings.isEmpty)
        if findings.isEmpty { findings += lookAtTheEnd() }
        findings = MachineFaults(context: context).excused(findings)
        findings += await tearDown(endedWell: findings.allSatisfy { $0.verdict == .unsupported })
        return context.result(findings + inconclusive)
    }

    /// Ends the case where it is (Ctrl-C): `finally` blocks still run, results and capture are kept.
    package func interrupt() {
        if context.faults.interrupt() { changes.notifyAll() }
    }
}
