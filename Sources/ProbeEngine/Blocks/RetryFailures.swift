import ProbeBase
import ProbeEvents

/// The combined result of the failed attempts of a `retry`. This type has no side effects.
struct RetryFailures {
    private let limit: Duration
    private(set) var attempts = 0
    private var last: Finding?
    /// The first attempt for which it is unknown whether it succeeded in time.
    private var undecided: (finding: Finding, attempt: Int)?

    init(within limit: Duration) {
        self.limit = limit
    }

    mutating func begin() { attempts += 1 }

    /// Records the failure of the most recent attempt.
    mutating func note(_ failure: Finding) {
        last = failure
        if failure.verdict == .inconclusive, undecided == nil { undecided = (failure, attempts) }
    }

    /// The failure that the `retry` reports: the last attempt's failure or, if an earlier attempt may have succeeded in
    /// time, that attempt's inconclusive finding.
    var finding: Finding {
        var (finding, attempt) = (last ?? Finding(.error, "no attempt was made"), attempts)
        if finding.verdict == .failed, let undecided { (finding, attempt) = undecided }
        finding.details.insert(
            attempt == attempts
                ? "this was attempt \(attempts), the last within \(DurationText.script(limit))"
                : "this was attempt \(attempt) of \(attempts) within \(DurationText.script(limit))", at: 0)
        return finding
    }
}
