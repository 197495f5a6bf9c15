import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The time that an expectation has, and the moment at which it is evaluated. Pure: it reads no clock.
struct TimeWindow {
    /// When the previous step ended; for the start of an `either`'s branch, when the step before the `either` ended.
    var start: MonotonicTime
    /// The deadline, or the end of a silence.
    var deadline: MonotonicTime
    var now: MonotonicTime
    /// The standstills of the reactor's thread. They matter only from the deadline on, and for expectations with
    /// ``PendingExpectation/measuresProgress``.
    var standstills = Standstills()
    /// The time without progress after which a send has failed.
    var scaledTimeout = Duration.zero

    /// The time that the step allows, as findings show it.
    var allowed: String { DurationText.script(deadline - start) }

    /// Whether the deadline has passed, extended by the time in which the harness stood still.
    var isOver: Bool { isOver(deadline, from: start) }

    /// The moment of the next look if nothing arrives.
    var limit: MonotonicTime { limit(of: deadline, from: start) }

    func isOver(_ end: MonotonicTime, from begun: MonotonicTime) -> Bool {
        standstills.isOver(end, from: begun, now: now)
    }

    func limit(of end: MonotonicTime, from begun: MonotonicTime) -> MonotonicTime {
        now < end ? end : standstills.extended(end, from: begun)
    }

    /// Returns pending until the deadline, and missed from then on.
    func wait<Value>(orMissed finding: @autoclosure () -> Finding) -> Outcome<Value> {
        isOver ? .impossible(finding(), .missed) : .pending(until: limit)
    }

    /// Returns pending until the deadline, and satisfied from then on.
    func silence<Value>(_ value: @autoclosure () -> Value) -> Outcome<Value> {
        isOver ? .satisfied(value(), at: deadline) : .pending(until: limit)
    }

    // MARK: Judging moments

    /// Judges the time of an event by the step's `within` and `after`; see
    /// ``Standstills/requireTiming(_:_:deadline:after:from:own:isExact:)``.
    ///
    /// - Throws: why the time is wrong, or why that can't be determined.
    func requireTiming(
        _ moment: MonotonicTime, _ what: @autoclosure () -> String, after: Duration?, own: Duration = .zero,
        isExact: Bool = false
    ) throws(Finding) {
        if moment <= deadline, after == nil { return }
        try standstills.requireTiming(
            moment, what(), deadline: deadline, after: after, from: start, own: own, isExact: isExact)
    }

    /// How something that arrived affects a silence until the deadline.
    enum Silence {
        case isBroken
        /// It arrived after the silence.
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
