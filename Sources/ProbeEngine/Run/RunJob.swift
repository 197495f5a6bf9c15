package import ProbeScenario
package import ProbeTransport
import Synchronization

/// One case to be run: a plan, which of its cases, and where it came from.
package struct RunJob: Sendable {
    package var plan: Plan
    package var casePlan: CasePlan
    package var index: StepIndex
    /// Path below the root with the label.
    package var id: String
    /// As the user gave it.
    package var path: String
    /// Of the script, absolute: `${dir}`, and what `file()` is relative to.
    package var folder: String
    /// The transport under test.
    package var subject: (any SubjectSource)?
    /// Which repetition of the run this is, from 1.
    package var round = 1
    /// Why the case can't be judged as it is run here: it is unsupported then.
    package var obstacle: (text: String, span: SourceSpan)?
    /// The process of the subject may not have served another case.
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

/// Hands out jobs in their order, from any thread.
final class JobQueue: Sendable {
    private let jobs: [RunJob]
    private let repetitions: Int
    private let position = Mutex((index: 0, round: 1))

    init(_ jobs: [RunJob], repetitions: Int) {
        self.jobs = jobs
        self.repetitions = jobs.isEmpty ? 0 : repetitions
    }

    /// How many there are in all rounds; `Int.max` where they are more.
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

    /// No further job is handed out.
    func close() {
        position.withLock { $0.round = .max }
    }
}
