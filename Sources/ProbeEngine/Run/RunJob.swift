package import ProbeScenario
package import ProbeTransport
import Synchronization

/// One case to run: its plan, the case within the plan, and the script from which the plan was compiled.
package struct RunJob: Sendable {
    package var plan: Plan
    package var casePlan: CasePlan
    package var index: StepIndex
    /// The script's id, followed by the case's label.
    package var id: String
    /// The path of the script as the user gave it.
    package var path: String
    /// The absolute path of the script's folder, which is the value of `${dir}` and the base of relative paths in
    /// `file()`.
    package var folder: String
    /// The transport under test.
    package var subject: (any SubjectSource)?
    /// The number (counted from 1) of the repetition to which the job belongs.
    package var round = 1
    /// The reason why the case can't be judged in this environment and is therefore unsupported; `nil` if it can be
    /// judged.
    package var obstacle: (text: String, span: SourceSpan)?
    /// Whether the case needs a process of the subject that has not served any other case.
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

/// Hands out jobs in order, to callers on any thread.
final class JobQueue: Sendable {
    private let jobs: [RunJob]
    private let repetitions: Int
    private let position = Mutex((index: 0, round: 1))

    init(_ jobs: [RunJob], repetitions: Int) {
        self.jobs = jobs
        self.repetitions = jobs.isEmpty ? 0 : repetitions
    }

    /// The total number of jobs in all repetitions, at most `Int.max`.
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
