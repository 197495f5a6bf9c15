import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    func retry(
        _ block: Block, every interval: Duration, within limit: Duration, from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = time + scaled(limit)
        var attempts = 0
        while true {
            attempts += 1
            let begun = MonotonicTime.now
            let attempt = RetryAttempt(
                outer: StepContext.attempt, deadline: reactor.extended(deadline, from: time))
            do throws(Finding) {
                try await inContext(StepContext.$attempt, attempt) { () async throws(Finding) in
                    _ = try await run(block.steps, from: begun)
                }
                try judgeTime(.now, "the attempt's success", deadline, Timing(), time)
                record(.note("retry: attempt \(attempts) succeeded"))
                return
            } catch {
                try checkFault()
                var failure = error
                context.abandon(attempt)
                // Also where the machine was late: an attempt that can't begin in time is none.
                let next = max(begun + interval, .now)
                let latest = reactor.extended(deadline, from: time)
                if next < latest {
                    record(.note("retry: attempt \(attempts) failed: \(failure.summary)"))
                    let _: Void? = try await wait(until: next) { () throws(Finding) -> Void? in nil }
                }
                if next >= latest || isOver(deadline, from: time) {
                    failure.details.insert(
                        "this was attempt \(attempts), the last within \(DurationText.script(scaled(limit)))", at: 0)
                    throw failure
                }
            }
        }
    }
}
