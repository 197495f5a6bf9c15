package import ProbeEngine
package import ProbeEvents
import ProbeScenario
package import ProbeSystem
import Synchronization

/// Runs the candidates of one case by the engine, several at a time.
package struct EngineRunner: CandidateRunner {
    /// Of the case that is explored; its plan's scenario is what candidates change.
    package let job: RunJob
    package let configuration: RunConfiguration
    package let control: RunControl
    package let reactor: Reactor
    private let allows: (Candidate) -> Bool

    /// - Parameter allows: whether the text of a candidate is a right script.
    package init(
        job: RunJob, configuration: RunConfiguration, control: RunControl, reactor: Reactor,
        allows: @escaping (Candidate) -> Bool
    ) {
        self.job = job
        self.configuration = configuration
        self.control = control
        self.reactor = reactor
        self.allows = allows
    }

    /// The same with another configuration.
    func with(configuration: RunConfiguration) -> EngineRunner {
        EngineRunner(job: job, configuration: configuration, control: control, reactor: reactor, allows: allows)
    }

    /// The same for another case.
    func withJob(_ job: RunJob) -> EngineRunner {
        EngineRunner(job: job, configuration: configuration, control: control, reactor: reactor, allows: allows)
    }

    /// The result of a case under its own id; nil if the run was interrupted.
    func result(of job: RunJob) async -> CaseResult? {
        let collected = CollectedResults()
        await Runner(configuration: configuration, control: control) { event in
            if case .caseEnded(let result) = event { collected.add(result) }
        }.run([job], on: reactor)
        return collected.all[job.id]
    }

    package func isAllowed(_ candidate: Candidate) -> Bool { allows(candidate) }

    package func run(_ candidates: [Candidate]) async -> [Trial] {
        await results(of: candidates).map(Trial.init)
    }

    /// The results of the candidates, in their order; nil for those that were not run because the run was interrupted.
    package func results(of candidates: [Candidate]) async -> [CaseResult?] {
        let base = job.plan.scenario
        let jobs = candidates.enumerated().map { index, candidate in
            var job = job
            if candidate != Candidate() {
                job.plan.scenario = candidate.scenario(of: base)
                job.index = StepIndex(job.plan.scenario)
            }
            job.id = "\(index)"
            return job
        }
        return await results(of: jobs)
    }

    /// The results of cases, in their order, whatever their ids.
    func results(ofJobs jobs: [RunJob]) async -> [CaseResult?] {
        await results(
            of: jobs.enumerated().map { index, job in
                var job = job
                job.id = "\(index)"
                return job
            })
    }

    private func results(of jobs: [RunJob]) async -> [CaseResult?] {
        let collected = CollectedResults()
        await Runner(configuration: configuration, control: control) { event in
            if case .caseEnded(let result) = event { collected.add(result) }
        }.run(jobs, on: reactor)
        let found = collected.all
        return jobs.indices.map { found["\($0)"] }
    }

    /// Runs the case as the script says, and collects what its steps do with the stream.
    ///
    /// - Parameter count: how many times.
    package func observe(_ count: Int) async -> (results: [CaseResult?], observations: [StepObservation]) {
        let collected = CollectedObservations()
        var configuration = configuration
        configuration.observe = { collected.add($0) }
        let runner = EngineRunner(
            job: job, configuration: configuration, control: control, reactor: reactor, allows: allows)
        var jobs: [RunJob] = []
        for index in 0..<count {
            var job = job
            job.id = "\(index)"
            jobs.append(job)
        }
        let results = await runner.results(of: jobs)
        return (results, collected.all)
    }
}

/// Results by the ids of their jobs, from any thread.
private final class CollectedResults: Sendable {
    private let results = Mutex<[String: CaseResult]>([:])

    func add(_ result: CaseResult) { results.withLock { $0[result.id] = result } }

    var all: [String: CaseResult] { results.withLock { $0 } }
}

/// Observations of steps, from any thread.
private final class CollectedObservations: Sendable {
    private let observations = Mutex<[StepObservation]>([])

    func add(_ observation: StepObservation) { observations.withLock { $0.append(observation) } }

    var all: [StepObservation] { observations.withLock { $0 } }
}
