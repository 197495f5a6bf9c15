import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Raises a fault when a case takes longer than its `case-timeout`.
final class CaseTimeout {
    private let context: CaseContext
    private var timer: TimerQueue.ID?

    init(_ context: CaseContext) { self.context = context }

    /// Starts the timeout.
    ///
    /// - Parameter what: what is limited, as a noun, such as `the case`.
    func begin(_ what: String) { schedule(from: .now, what) }

    func cancel() {
        if let timer { context.reactor.cancel(timer) }
        timer = nil
    }

    private func schedule(from start: MonotonicTime, _ what: String) {
        let limit = context.scaled(context.scenario.caseTimeout)
        let end = context.reactor.extended(start + limit, from: start)
        timer = context.reactor.schedule(at: end) { [weak self] in
            self?.expire(from: start, limit, what)
        }
    }

    private func expire(from start: MonotonicTime, _ limit: Duration, _ what: String) {
        // Time in which the harness stood still does not count.
        if !context.isOver(start + limit, from: start) {
            schedule(from: start, what)
            return
        }
        context.raise(
            Finding(
                .failed, "\(what) took longer than the case-timeout of \(DurationText.script(limit))",
                hints: ["raise it with `case-timeout` in the header"]))
    }
}
