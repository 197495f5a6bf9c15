import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem

/// Starts and ends the workers of crowds.
struct CrowdLaunch {
    let context: CaseContext

    /// How long workers may take to reach the state that a command requires, such as being ready.
    static let startTimeout = Duration.seconds(20)
    /// How long a worker may take to reset its members' connections before the worker is killed.
    private static let lastPatience = Duration.seconds(5)

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - owner: the actor in whose network the worker runs, which is the crowd or the server that a crowd connects
    ///     to.
    ///   - span: the location in the script to which problems of the worker are attributed.
    func launch(
        _ order: CrowdOrder, for owner: String, of what: String, at span: SourceSpan?
    ) throws(Finding) -> CrowdWorkerProcess {
        guard let program = context.settings.crowdProgram, let path = program.first else {
            throw CrowdSetup.noProgram(at: span)
        }
        let child: ChildProcess
        do throws(SystemError) {
            child = try ChildProcess(
                path: path, words: program,
                environment: ProcessEnvironment.words(marker: context.environmentMarker, keyLog: nil),
                directory: "/", in: context.links.programPlace(of: owner), reactor: context.reactor)
        } catch {
            throw Finding(
                .error, at: span, "a worker of \(what) can't be started: \(error.reason)",
                details: error.resourcesLeft, hints: error.advice)
        }
        let worker = CrowdWorkerProcess(child, order)
        child.onChange = { [weak context, weak worker] in
            guard let context, let worker else { return }
            worker.look()
            if let problem = worker.problem {
                context.raise(Finding(.error, at: span, "a worker of \(what) \(problem)"))
            }
            context.changes.notifyAll()
        }
        return worker
    }

    /// Waits until a condition holds for all workers.
    ///
    /// - Parameter done: the expected state in words, for a message.
    func wait(
        for workers: [CrowdWorkerProcess], of what: String, toBe done: String,
        _ condition: (CrowdWorkerProcess) -> Bool
    ) async throws(Finding) {
        let start = MonotonicTime.now
        let deadline = start + Self.startTimeout
        let isDone = try await context.wait(until: deadline, from: start) { () throws(Finding) -> Bool? in
            if let problem = workers.lazy.compactMap(\.problem).first {
                throw Finding(.error, "a worker of \(what) \(problem)")
            }
            return workers.allSatisfy(condition) ? true : nil
        }
        guard isDone == nil else { return }
        throw Finding(
            .error, "the workers of \(what) were not \(done) within \(DurationText.script(Self.startTimeout))",
            hints: ["reduce the number of members, or run fewer cases at a time: the machine is too busy"])
    }

    /// Ends workers, which reset the connections of their members.
    func end(_ workers: [CrowdWorkerProcess]) async {
        for worker in workers { worker.dismiss() }
        let deadline = MonotonicTime.now + Self.lastPatience
        while workers.contains(where: { $0.child.exit == nil }), MonotonicTime.now < deadline {
            await context.pause(until: deadline)
        }
        for worker in workers where worker.child.exit == nil { await ProgramEnd(context: context).end(worker.child) }
        for worker in workers { worker.child.endDescendants() }
    }

    /// Ends all workers of the case.
    ///
    /// - Returns: findings about processes that could not be ended.
    func endAll() async -> [Finding] {
        var all: [(worker: CrowdWorkerProcess, name: String)] = []
        for actor in context.actors.values {
            switch actor {
            case .crowd(let crowd):
                all += (crowd.workers + crowd.earlier).map { ($0, crowd.name) }
                (crowd.workers, crowd.earlier, crowd.reservation) = ([], [], nil)
            case .server(let server):
                all += (server.sinks.workers + server.sinks.earlier).map { ($0, server.name) }
                (server.sinks.workers, server.sinks.earlier) = ([], [])
            case .connection, .subject, .process, .proxy, .proxied: continue
            }
        }
        guard !all.isEmpty else { return [] }
        await end(all.map(\.worker))
        var findings: [Finding] = []
        for (worker, name) in all {
            if let finding = await ProgramEnd(context: context).waitForDescendants(of: worker.child, name) {
                findings.append(finding)
            }
            worker.child.onChange = {}
        }
        return findings
    }
}
