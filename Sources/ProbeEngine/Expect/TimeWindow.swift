import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The period in which an expectation must be met, and the time at which it is evaluated. The type does not read the
/// clock itself.
struct TimeWindow {
    /// The time at which the previous step ended; for the first step of a branch of an `either`, the time at which the
    /// step before the `either` ended.
    var start: MonotonicTime
    /// The deadline of the expectation, or the end of an expected silence.
    var deadline: MonotonicTime
    var now: MonotonicTime
    /// The stalls of the reactor's thread. They are used only after the deadline, and by expectations with
    /// ``PendingExpectation/measuresProgress``.
    var standstills = Standstills()
    /// The maximum time without progress before a send fails.
    var scaledTimeout = Duration.zero

    /// The time that the step allows, formatted for findings.
    var allowed: String { DurationText.script(deadline - start) }

    /// Whether the deadline has passed. The deadline is extended by the time for which the harness was stalled.
    var isOver: Bool { isOver(deadline, from: start) }

    /// The time of the next evaluation if nothing arrives.
    var limit: MonotonicTime { limit(of: deadline, from: start) }

    func isOver(_ end: MonotonicTime, from begun: MonotonicTime) -> Bool {
        standstills.isOver(end, from: begun, now: now)
    }

    func limit(of end: MonotonicTime, from begun: MonotonicTime) -> MonotonicTime {
        now < end ? end : standstills.extended(end, from: begun)
    }

    /// Returns `pending` before the deadline, and a missed deadline from then on.
    func wait<Value>(orMissed finding: @autoclosure () -> Finding) -> Outcome<Value> {
        guard isOver else { return .pending(until: limit) }
        var finding = finding()
        finding.isMissedDeadline = true
        return .impossible(finding, .missed)
    }

    /// Returns `pending` before the deadline, and `satisfied` from then on.
    func silence<Value>(_ value: @autoclosure () -> Value) -> Outcome<Value> {
        isOver ? .satisfied(value(), at: deadline) : .pending(until: limit)
    }

    // MARK: Judging times

    /// Judges the time of an event by the step's `within` and `after`; see
    /// ``Standstills/requireTiming(_:_:deadline:after:from:own:isExact:)``.
    ///
    /// - Throws: the reason why the time is wrong, or why it can't be judged.
    func requireTiming(
        _ moment: MonotonicTime, _ what: @autoclosure () -> String, after: Duration?, own: Duration = .zero,
        isExact: Bool = false
    ) throws(Finding) {
        if moment <= deadline, after == nil { return }
        try standstills.requireTiming(
            moment, what(), deadline: deadline, after: after, from: start, own: own, isExact: isExact)
    }

    /// The effect of an event on a silence that lasts until the deadline.
    enum Silence {
        case isBroken
        /// The event arrived after the end of the silence.
        case lasted
        case isUndetermined(Finding)
    }

    func silence(_ what: @autoclosure () -> String, at moment: MonotonicTime) -> Silence {
        if moment <= deadline { return .isBroken }
        do throws(Finding) {
            return try standstills.breaksSilence(what(), at: moment, from: start, to: deadline) ? .isBroken : .lasted
        } catch {
            return .isUndetermined(error)
        }
    }
}
