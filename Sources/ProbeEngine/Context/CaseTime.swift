import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The times of a case: when it began, and what a deadline of the script is on this machine. Pure.
struct CaseTime: Sendable {
    let start: MonotonicTime
    /// `--time-scale`
    var scale = 1.0
    /// How long a waiting step waits that has no `within`.
    let timeout: Duration

    /// A deadline of the script on this machine: the scale multiplies every duration by which something has to have happened, on the
    /// harness's side and on the subject's, and no other. What the script makes last (`wait`, `for`, `every`, `at`) and lower bounds
    /// stay as they are, and so do the harness's own limits, which no script sets.
    func scaled(_ duration: Duration) -> Duration {
        if scale == 1 { return duration }
        // Clamped to a hundred years, since a scale has no upper bound; and never zero.
        return .nanoseconds(Int64(max(1, min(Double(duration.nanoseconds) * scale, 3e18))))
    }

    /// How long a step waits for its peer.
    var patience: Duration { scaled(timeout) }

    /// The deadline of a waiting step that began at `time`.
    ///
    /// - Parameter limit: of the `retry` around the step.
    func deadline(_ timing: Timing, from time: MonotonicTime, limit: MonotonicTime?) -> MonotonicTime {
        min(time + scaled(timing.within ?? timeout), limit ?? .distantFuture)
    }

    /// Nanoseconds since the case began.
    func elapsed(_ time: MonotonicTime) -> Int64 { (time - start).nanoseconds }

    /// How long a step that has failed listens on, to tell late from never.
    static let lateness: Duration = .milliseconds(100)
}

/// `within`, `after` and silence are judged by when an event came, not by when a step looked.
///
/// An event has the time at which the harness noticed it. Where the harness stood still meanwhile (it was stopped, or the machine was
/// busy), the event may have come earlier: a verdict that depends on that is inconclusive.
extension Standstills {
    /// Judges an event that was wanted by `deadline`.
    ///
    /// - Parameters:
    ///   - moment: when the event came.
    ///   - what: the event, as a noun: `the connection`.
    ///   - start: when the step before ended.
    ///   - own: how long the step itself kept the harness busy: what it looked for meanwhile it would have found.
    ///   - isExact: the event can't have come earlier than it was noticed, whatever held up the harness.
    func judge(
        _ moment: MonotonicTime, _ what: String, deadline: MonotonicTime, after: Duration?, from start: MonotonicTime,
        own: Duration, isExact: Bool
    ) throws(Finding) {
        if moment > deadline {
            let late =
                "\(what) came \(DurationText.script(moment - deadline)) after the deadline of "
                + DurationText.script(deadline - start)
            if moment + own <= extended(deadline, from: start) { throw stoodStill(late, from: start, to: moment) }
            throw Finding(.failed, late)
        }
        guard let after else { return }
        if moment < start + after {
            let when =
                moment <= start
                ? "before the step began" : "\(DurationText.script(moment - start)) after the step before"
            let earliest = earliest(of: start)
            if earliest < start, moment >= earliest + after {
                throw stoodStill(
                    "\(what) came \(when), earlier than \(DurationText.script(after))", from: earliest, to: moment)
            }
            throw Finding(.failed, "\(what) came \(when), earlier than \(DurationText.script(after))")
        }
        if !isExact, hides(start + after, from: moment) {
            throw stoodStill(
                "\(what) was seen \(DurationText.script(moment - start)) after the step before", from: start, to: moment
            )
        }
    }

    /// Judges an event that was to stay away until `end` and came at `moment`.
    ///
    /// - Returns: false when it came after that.
    func breaksSilence(
        _ what: String, at moment: MonotonicTime, from start: MonotonicTime, to end: MonotonicTime
    ) throws(Finding) -> Bool {
        if moment <= end { return true }
        if moment > extended(end, from: start) { return false }
        throw stoodStill(
            "\(what) \(DurationText.script(moment - end)) after the silence of \(DurationText.script(end - start))",
            from: start, to: moment)
    }

    /// Whether a duration that began at `start` is over, also for what stood still with the harness.
    func isOver(_ end: MonotonicTime, from start: MonotonicTime, now: MonotonicTime) -> Bool {
        now >= end && now >= extended(end, from: start)
    }

    private func stoodStill(_ what: String, from start: MonotonicTime, to moment: MonotonicTime) -> Finding {
        Finding(
            .inconclusive,
            "\(what), but the harness itself stood still for \(DurationText.script(total(from: start, to: moment))) "
                + "meanwhile: when it came can't be told",
            hints: ["the process was stopped, or the machine was busy or suspended: run the case again"])
    }
}
