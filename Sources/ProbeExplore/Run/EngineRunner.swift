package import ProbeEngine
package import ProbeEvents
import ProbeScenario
package import ProbeSystem
import Synchronization

/// Runs the candidates of one case with the engine, several of them in parallel.
package struct EngineRunner: CandidateRunner {
    /// The job of the explored case. A candidate changes the scenario in the job's plan.
    package let job: RunJob
    package let configuration: RunConfiguration
    package let control: RunControl
    package let reactor: Reactor
    /// The deadlines of the steps; `nil` for the script's own deadlines.
    package let patience: StepPatience?
    private let allows: @Sendable (Candidate) -> Bool
    /// Called with the number of candidates after they have been run.
    var finished: (@Sendable (Int) -> Void)?

    /// Creates a runner.
    ///
    /// - Parameter allows: a function that returns whether the text of a candidate is a valid script.
    package init(
        job: RunJob, configuration: RunConfiguration, control: RunControl, reactor: Reactor,
        patience: StepPatience? = nil, allows: @escaping @Sendable (Candidate) -> Bool
    ) {
        self.job = job
        self.configuration = configuration
        self.control = control
        self.reactor = reactor
        self.patience = patience
        self.allows = allows
    }

    /// Returns a copy of this runner with another configuration.
    func with(configuration: RunConfiguration) -> EngineRunner { copy(configuration: configuration) }

    /// Returns a copy of this runner for another case.
    func withJob(_ job: RunJob) -> EngineRunner { copy(job: job) }

    /// Returns a copy of this runner whose runs `control` ends.
    func with(control: RunControl) -> EngineRunner { copy(control: control) }

    /// Returns a copy of this runner with other deadlines.
    func with(patience: StepPatience?) -> EngineRunner { copy(patience: .some(patience)) }

    private func copy(
        job: RunJob? = nil, configuration: RunConfiguration? = nil, control: RunControl? = nil,
        patience: StepPatience?? = nil
    ) -> EngineRunner {
        var result = EngineRunner(
            job: job ?? self.job, configuration: configuration ?? self.configuration, control: control ?? self.control,
            reactor: reactor, patience: patience ?? self.patience, allows: allows)
        result.finished = finished
        return result
    }

    package var isOver: Bool { control.interruptedBy != nil }

    /// Runs a case under its own id and returns the result; `nil` if the run was interrupted.
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

    /// Returns the results for candidates, in the same order; `nil` for each candidate that was not run because of an
    /// interruption.
    package func results(of candidates: [Candidate]) async -> [CaseResult?] {
        defer { finished?(candidates.count) }
        let base = job.plan.scenario
        let jobs = candidates.enumerated().map { index, candidate in
            var job = job
            if candidate != Candidate() { job.plan.scenario = candidate.scenario(of: base) }
            if let patience, let delay = candidate.variation.delay {
                job.plan.scenario = patience.applied(to: job.plan.scenario, pauses: delay)
            }
            if candidate != Candidate() || patience != nil { job.index = StepIndex(job.plan.scenario) }
            job.id = "\(index)"
            return job
        }
        return await results(of: jobs)
    }

    /// Returns the results for cases, in the same order. Several of the cases may have the same id.
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

    /// Runs the case without variations, and collects observations of what its steps send and consume.
    ///
    /// - Parameter count: the number of runs.
    package func observe(_ count: Int) async -> (results: [CaseResult?], observations: [StepObservation]) {
        let collected = CollectedObservations()
        var configuration = configuration
        configuration.observe = { collected.add($0) }
        let runner = with(configuration: configuration)
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

/// A collection of results, keyed by job id, to which any thread can add.
private final class CollectedResults: Sendable {
    private let results = Mutex<[String: CaseResult]>([:])

    func add(_ result: CaseResult) { results.withLock { $0[result.id] = result } }

    var all: [String: CaseResult] { results.withLock { $0 } }
}

/// A collection of step observations to which any thread can add.
private final class CollectedObservations: Sendable {
    private let observations = Mutex<[StepObservation]>([])

    func add(_ observation: StepObservation) { observations.withLock { $0.append(observation) } }

    var all: [StepObservation] { observations.withLock { $0 } }
}
