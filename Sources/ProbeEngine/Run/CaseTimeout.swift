import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Raises a fault if a case runs for longer than its `case-timeout`.
final class CaseTimeout {
    private let context: CaseContext
    private var timer: TimerQueue.ID?

    init(_ context: CaseContext) { self.context = context }

    /// Starts the timeout.
    ///
    /// - Parameter what: a noun phrase for what is limited, such as `the case`.
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
        // The time for which the harness was stalled is not counted.
        if !context.isOver(start + limit, from: start) {
            schedule(from: start, what)
            return
        }
        context.raise(
            Finding(
                .failed, "\(what) took longer than the case-timeout of \(DurationText.script(limit))",
                hints: ["raise the limit with `case-timeout` in the header"]))
    }
}
