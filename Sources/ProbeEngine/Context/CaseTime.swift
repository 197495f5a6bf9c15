import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The times of a case: when it began, and how the script's durations become deadlines on this machine. This type has
/// no side effects.
struct CaseTime: Sendable {
    let start: MonotonicTime
    /// The factor given by `--time-scale`.
    var scale = 1.0
    /// How long a waiting step without a `within` waits.
    let timeout: Duration

    /// Returns a duration from which a deadline is computed, multiplied by the time scale.
    ///
    /// Only durations in the script that are deadlines are scaled, whether they apply to the harness or to the subject.
    /// Durations that the script itself imposes (`wait`, `for`, `every`, `at`) and lower bounds are not scaled. The
    /// harness's own limits, which scripts can't set, are not scaled either.
    func scaled(_ duration: Duration) -> Duration {
        if scale == 1 { return duration }
        // Clamp the result to the range from 1 ns to about a hundred years, because the scale has no upper bound.
        return .nanoseconds(Int64(max(1, min(Double(duration.nanoseconds) * scale, 3e18))))
    }

    /// How long a waiting step without a `within` waits, multiplied by the time scale.
    var scaledTimeout: Duration { scaled(timeout) }

    /// Returns the deadline of a waiting step that began at `time`.
    ///
    /// - Parameter limit: the deadline of the surrounding `retry`.
    func deadline(_ timing: Timing, from time: MonotonicTime, limit: MonotonicTime?) -> MonotonicTime {
        min(time + scaled(timing.within ?? timeout), limit ?? .distantFuture)
    }

    /// Returns the nanoseconds from the start of the case to `time`.
    func elapsed(_ time: MonotonicTime) -> Int64 { (time - start).nanoseconds }

    /// How long a failed step keeps waiting, to distinguish a late event from one that never happens.
    static let lateness: Duration = .milliseconds(100)
}

/// Judges `within`, `after` and silences by the time of the event, not by the time at which a step checked for it.
///
/// The time of an event is the time at which the harness noticed it. If the harness stalled just before that time
/// (because it was stopped, or because the machine was busy), the event may have happened earlier. If the verdict
/// depends on when exactly the event happened, the verdict is inconclusive.
extension Standstills {
    /// Judges an event that was expected by `deadline`.
    ///
    /// - Parameters:
    ///   - moment: the time at which the event was noticed.
    ///   - what: the event as a noun phrase, such as `the connection`.
    ///   - start: the time at which the previous step ended.
    ///   - own: the time for which the step itself kept the harness busy. If the step had not been busy, it would have
    ///     noticed an event during that time.
    ///   - isExact: whether the event can't have happened before it was noticed, whatever delayed the harness.
    func requireTiming(
        _ moment: MonotonicTime, _ what: String, deadline: MonotonicTime, after: Duration?, from start: MonotonicTime,
        own: Duration, isExact: Bool
    ) throws(Finding) {
        if moment > deadline {
            let late =
                "\(what) missed the deadline of \(DurationText.script(deadline - start)) by "
                + DurationText.script(moment - deadline)
            if moment + own <= extended(deadline, from: start) {
                throw standstillFinding(late, from: start, to: moment)
            }
            throw Finding(.failed, late)
        }
        guard let after else { return }
        if moment < start + after {
            let when =
                moment <= start
                ? "before the step began" : "\(DurationText.script(moment - start)) after the previous step"
            let early = "\(what) was too early: \(when), expected \(DurationText.script(after)) or more"
            let earliest = earliest(of: start)
            if earliest < start, moment >= earliest + after {
                throw standstillFinding(early, from: earliest, to: moment)
            }
            throw Finding(.failed, early)
        }
        if !isExact, hides(start + after, from: moment) {
            throw standstillFinding(
                "\(what) was noticed \(DurationText.script(moment - start)) after the previous step", from: start,
                to: moment)
        }
    }

    /// Judges an event that was noticed at `moment` and must not happen before `end`.
    ///
    /// - Returns: `false` if the event happened after `end`.
    func breaksSilence(
        _ what: String, at moment: MonotonicTime, from start: MonotonicTime, to end: MonotonicTime
    ) throws(Finding) -> Bool {
        if moment <= end { return true }
        if moment > extended(end, from: start) { return false }
        throw standstillFinding(
            "\(what) \(DurationText.script(moment - end)) after the expected silence of "
                + DurationText.script(end - start),
            from: start, to: moment)
    }

    /// Returns whether a period that began at `start` has ended. The period is extended by the time for which the
    /// harness was stalled.
    func isOver(_ end: MonotonicTime, from start: MonotonicTime, now: MonotonicTime) -> Bool {
        now >= end && now >= extended(end, from: start)
    }

    private func standstillFinding(_ what: String, from start: MonotonicTime, to moment: MonotonicTime) -> Finding {
        Finding(
            .inconclusive,
            "\(what), but the harness itself stood still for \(DurationText.script(total(from: start, to: moment))) "
                + "in the meantime: the time of the event is unknown",
            hints: ["run the case again: the process was stopped, or the machine was busy or suspended"])
    }
}
