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

/// Runs scripts in this process: real sockets on loopback, a reactor thread for each run, one capture for all where that is
/// permitted.
enum Stage {
    static let ports = PortAllocator(seed: getpid())
    static let bsd: any SubjectSource = InProcessSource(BSDTransportFactory(), names: SubjectNames())

    /// nil where capturing is not permitted: what needs it is not run then.
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

    /// A script that does not check.
    struct BadScript: Error, CustomStringConvertible {
        var description: String
    }

    static func plan(_ text: String) throws -> Plan {
        let result = ScenarioCompiler.compile(path: "test.scn", bytes: Array(text.utf8), loader: FileAccess.load)
        guard let plan = result.plan else {
            throw BadScript(
                description: text + "\n" + DiagnosticRenderer(sources: result.sources).render(result.diagnostics))
        }
        return plan
    }

    /// All cases of a script, one after the other.
    static func run(
        _ text: String, subject: (any SubjectSource)? = bsd, usesCapture: Bool = true, timeScale: Double = 1,
        interruptAfter: Duration? = nil
    ) async throws -> [CaseResult] {
        let plan = try plan(text)
        let reactor = try #require(Reactor.onThread())
        defer { reactor.stop() }
        let index = StepIndex(plan.scenario)
        var configuration = RunConfiguration(ports: ports, version: "test")
        configuration.capture = usesCapture ? capture : nil
        configuration.captureProblem = configuration.capture == nil ? "no capture here" : nil
        configuration.timeScale = timeScale
        var results: [CaseResult] = []
        for casePlan in plan.cases {
            var job = RunJob(
                plan: plan, casePlan: casePlan, index: index, id: "test" + casePlan.label, path: "test.scn",
                folder: "/tmp")
            job.subject = subject
            let run = CaseRun(job, configuration: configuration, reactor: reactor)
            if let interruptAfter {
                // On the reactor's own thread: a busy pool of tasks delays nothing.
                reactor.post {
                    reactor.schedule(at: .now + interruptAfter) { run.assumeIsolated { $0.interrupt() } }
                }
            }
            results.append(await Task(executorPreference: reactor) { await run.run() }.value)
        }
        return results
    }
}
