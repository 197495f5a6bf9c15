import ProbeBase
import Dispatch
import Glibc
import ProbeCapture
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Synchronization
import Testing

/// Runs scripts in this process, with real sockets on loopback, a reactor thread for each run and, if capturing is
/// permitted, one capture for all runs.
enum Stage {
    static let ports = PortAllocator(seed: getpid())
    static let bsd: any SubjectSource = InProcessSource(BSDTransportFactory(), names: SubjectNames())

    /// The shared capture; `nil` if capturing is not permitted. Tests that need a capture are then skipped.
    static let capture: Capture? = {
        signal(SIGPIPE, SIG_IGN)
        let opened: Capture
        do { opened = try Capture.open(ports: CapturePorts(range: ports.range), bufferSize: 128 << 20) } catch {
            return nil
        }
        let fenced = DispatchSemaphore(value: 0)
        opened.fence(timeout: .seconds(10)) { _ in fenced.signal() }
        fenced.wait()
        return opened
    }()

    /// The error for a script that the checker rejects.
    struct BadScript: Error, CustomStringConvertible {
        var description: String
    }

    static func plan(_ text: String) throws -> Plan {
        let result = ScenarioCompiler.compile(
            path: "test.scn", bytes: Array(text.utf8), allowing: nil, loader: FileAccess.load)
        guard let plan = result.plan else {
            throw BadScript(
                description: text + "\n" + DiagnosticRenderer(sources: result.sources).render(result.diagnostics))
        }
        return plan
    }

    /// Runs all cases of a script, one after the other, and repeats the run until no verdict depends on a stall of this
    /// process.
    ///
    /// A verdict that depends on a stall is inconclusive, which is correct, but reveals nothing about the code under
    /// test. The script is then run again, with a warning. After a few inconclusive runs, the test cancels itself.
    static func run(
        _ text: String, subject: (any SubjectSource)? = bsd, usesCapture: Bool = true, timeScale: Double = 1,
        interruptAfter: Duration? = nil, crowdProgram: [String]? = nil,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws -> [CaseResult] {
        for _ in 0..<5 {
            let results = try await runOnce(
                text, subject: subject, usesCapture: usesCapture, timeScale: timeScale, interruptAfter: interruptAfter,
                crowdProgram: crowdProgram)
            guard let doubt = results.lazy.compactMap(standstill).first else { return results }
            Issue.record("run again: \(doubt)", severity: .warning, sourceLocation: sourceLocation)
        }
        try Test.cancel(
            "this machine is too busy: the harness stood still in each of 5 runs", sourceLocation: sourceLocation)
    }

    private static func runOnce(
        _ text: String, subject: (any SubjectSource)?, usesCapture: Bool, timeScale: Double, interruptAfter: Duration?,
        crowdProgram: [String]?
    ) async throws -> [CaseResult] {
        let plan = try plan(text)
        let reactor = try #require(Reactor.onThread())
        defer { reactor.stop() }
        let index = StepIndex(plan.scenario)
        var configuration = RunConfiguration(ports: ports, version: "test")
        configuration.capture = usesCapture ? capture : nil
        configuration.captureProblem = configuration.capture == nil ? "no capture here" : nil
        configuration.timeScale = timeScale
        configuration.crowdProgram = crowdProgram
        var results: [CaseResult] = []
        for casePlan in plan.cases {
            var job = RunJob(
                plan: plan, casePlan: casePlan, index: index, id: "test" + casePlan.label, path: "test.scn",
                folder: "/tmp")
            job.subject = subject
            let run = CaseRun(job, configuration: configuration, reactor: reactor)
            if let interruptAfter {
                // The interruption is scheduled on the reactor's own thread, so that a busy thread pool doesn't delay
                // it.
                reactor.post {
                    reactor.schedule(at: .now + interruptAfter) { run.assumeIsolated { $0.interrupt() } }
                }
            }
            results.append(await Task(executorPreference: reactor) { await run.run() }.value)
        }
        return results
    }

    /// Runs a script in the same way as `run`, and returns the result of the first case.
    static func firstResult(
        _ text: String, subject: (any SubjectSource)? = bsd, usesCapture: Bool = true, timeScale: Double = 1,
        crowdProgram: [String]? = nil, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws -> CaseResult {
        let results = try await run(
            text, subject: subject, usesCapture: usesCapture, timeScale: timeScale, crowdProgram: crowdProgram,
            sourceLocation: sourceLocation)
        return try #require(results.first, sourceLocation: sourceLocation)
    }

    /// Returns the summary of a result that is inconclusive because of a stall; `nil` for any other result.
    private static func standstill(_ result: CaseResult) -> String? {
        guard result.verdict == .inconclusive, let finding = result.findings.first else { return nil }
        return finding.summary.contains("the harness itself stood still") ? finding.summary : nil
    }
}
