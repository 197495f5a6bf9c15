package import ProbeScenario
package import ProbeTransport
import Synchronization

/// One case to run: a plan, the case in it, and where it came from.
package struct RunJob: Sendable {
    package var plan: Plan
    package var casePlan: CasePlan
    package var index: StepIndex
    /// The path below the root, with the label.
    package var id: String
    /// The path as the user gave it.
    package var path: String
    /// The absolute folder of the script: the value of `${dir}`, and the base of relative paths in `file()`.
    package var folder: String
    /// The transport under test.
    package var subject: (any SubjectSource)?
    /// The number of this repetition of the run, from 1.
    package var round = 1
    /// Why the case can't be judged as it is run here, and is therefore unsupported.
    package var obstacle: (text: String, span: SourceSpan)?
    /// Whether the process of the subject must not have served another case.
    var needsFreshSubject = false

    package init(plan: Plan, casePlan: CasePlan, index: StepIndex, id: String, path: String, folder: String) {
        self.plan = plan
        self.casePlan = casePlan
        self.index = index
        self.id = id
        self.path = path
        self.folder = folder
    }
}

/// Hands out jobs in order, from any thread.
final class JobQueue: Sendable {
    private let jobs: [RunJob]
    private let repetitions: Int
    private let position = Mutex((index: 0, round: 1))

    init(_ jobs: [RunJob], repetitions: Int) {
        self.jobs = jobs
        self.repetitions = jobs.isEmpty ? 0 : repetitions
    }

    /// The number of jobs in all rounds; `Int.max` if there are more.
    var total: Int {
        let (total, overflow) = jobs.count.multipliedReportingOverflow(by: repetitions)
        return overflow ? .max : total
    }

    func next() -> RunJob? {
        position.withLock { position in
            guard position.round <= repetitions, position.round < .max else { return nil }
            var next = jobs[position.index]
            next.round = position.round
            position.index += 1
            if position.index == jobs.count { position = (0, position.round + 1) }
            return next
        }
    }

    /// Stops handing out jobs.
    func close() {
        position.withLock { $0.round = .max }
    }
}
