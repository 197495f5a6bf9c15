import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The time that an expectation has, and the moment at which it is looked at. Pure: no clock is read here.
struct TimeWindow {
    /// When the step before ended; for the start of an `either`'s branch, when the step before the `either` ended.
    var start: MonotonicTime
    /// The deadline, or the end of a silence.
    var deadline: MonotonicTime
    var now: MonotonicTime
    /// Of the reactor's thread. They matter only from the deadline on, and for what ``PendingExpectation/measuresProgress``.
    var standstills = Standstills()

    /// What the step allows, as the findings say it.
    var allowed: String { DurationText.script(deadline - start) }

    /// Whether the deadline has passed, also for what stood still with the harness.
    var isOver: Bool { isOver(deadline, from: start) }

    /// The next look, where nothing comes.
    var limit: MonotonicTime { limit(of: deadline, from: start) }

    func isOver(_ end: MonotonicTime, from begun: MonotonicTime) -> Bool {
        standstills.isOver(end, from: begun, now: now)
    }

    func limit(of end: MonotonicTime, from begun: MonotonicTime) -> MonotonicTime {
        now < end ? end : standstills.extended(end, from: begun)
    }

    /// Pending until the deadline, and missed from there on.
    func wait<Value>(orMissed finding: @autoclosure () -> Finding) -> Outcome<Value> {
        isOver ? .impossible(finding(), .missed) : .pending(until: limit)
    }

    /// Silence lasts until the deadline.
    func silence<Value>(_ value: @autoclosure () -> Value) -> Outcome<Value> {
        isOver ? .satisfied(value(), at: deadline) : .pending(until: limit)
    }

    // MARK: Judging moments

    /// Judges when an event came by the step's `within` and `after`; see ``Standstills/judge(_:_:deadline:after:from:own:isExact:)``.
    ///
    /// - Throws: why it came at the wrong time, or why that can't be told.
    func judge(
        _ moment: MonotonicTime, _ what: @autoclosure () -> String, after: Duration?, own: Duration = .zero,
        isExact: Bool = false
    ) throws(Finding) {
        if moment <= deadline, after == nil { return }
        try standstills.judge(
            moment, what(), deadline: deadline, after: after, from: start, own: own, isExact: isExact)
    }

    /// How something that came bears on a silence until the deadline.
    enum Silence {
        case isBroken
        /// It came after the silence.
        case lasted
        case cannotBeTold(Finding)
    }

    func silence(_ what: @autoclosure () -> String, at moment: MonotonicTime) -> Silence {
        if moment <= deadline { return .isBroken }
        do throws(Finding) {
            return try standstills.breaksSilence(what(), at: moment, from: start, to: deadline) ? .isBroken : .lasted
        } catch {
            return .cannotBeTold(error)
        }
    }
}
