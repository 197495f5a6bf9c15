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
    /// Steps since the reactor's loop last went round.
    var stepsInARow = 0
    var finallyBlocks: [Block] = []
    var collectedDefinitions: Set<String> = []

    var driver: (any SubjectDriver)?
    /// Hears what the subject says when the case has ended well; nil where nothing can come then.
    package internal(set) var aftermath: Aftermath?
    /// Why there is none.
    var driverFailure: SubjectFailure?
    var subjectOutputLines = 0
    var subjectReplies: [Int: SubjectReply] = [:]
    var nextReply = 0
    /// Reports for connections that no step has named yet (`expect accept as`).
    var strayReports: [Int: [SubjectReport]] = [:]

    package init(_ job: RunJob, configuration: RunConfiguration, reactor: Reactor) {
        self.reactor = reactor
        context = CaseContext(job, settings: configuration, reactor: reactor, start: .now)
        timeout = CaseTimeout(context)
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
            try await prepareSubject()
        } catch {
            context.faults.isTearingDown = true
            driver?.close(isReusable: error.verdict == .unsupported, late: nil)
            return context.result([error])
        }
        var findings: [Finding] = []
        timeout.begin("the case")
        do throws(Finding) {
            try CaseSetup(context: context).makeActors()
            collectFinallyBlocks(scenario.steps)
            _ = try await run(scenario.steps, from: .now)
            try await finishAnswers()
            if let fault { throw fault }
        } catch {
            findings.append(error.actors.isEmpty ? withActors(error) : error)
            // Both count: an error of a step does not hide what went wrong beside it.
            if let fault, fault.summary != error.summary { findings.append(withActors(fault)) }
        }
        timeout.cancel()
        findings += await runFinallyBlocks()
        if findings.isEmpty {
            do throws(Finding) { try await concludeSubjects() } catch { findings.append(withActors(error)) }
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
