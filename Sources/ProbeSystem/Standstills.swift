package import ProbeBase

/// When a reactor's thread did not run although it had something to do: the process was stopped, the machine was suspended or busy, or the
/// harness was.
///
/// What happened meanwhile was noticed afterwards, and what waits in this process was held up as well. Pure: time is passed in.
package struct Standstills: Sendable {
    private struct Interval: Sendable {
        var from: MonotonicTime
        var to: MonotonicTime

        var length: Duration { to - from }
        /// Until then what had come meanwhile is read and passed on.
        var settled: MonotonicTime { to + min(length, .milliseconds(20)) }
    }

    /// A thread that runs at most so much later than it should is on time.
    package static let tolerance: Duration = .milliseconds(2)
    /// A thread that waits wakes up this often, to know later until when it ran.
    package static let heartbeat: Duration = .milliseconds(20)
    /// More are not kept; the oldest go first.
    private static let kept = 1024

    private var intervals: [Interval] = []

    package init() {}

    /// Tells that the thread runs.
    ///
    /// - Parameters:
    ///   - now: when it does.
    ///   - due: when it should have run.
    ///   - last: when it ran before.
    package mutating func ran(at now: MonotonicTime, due: MonotonicTime, last: MonotonicTime) {
        guard now > due + Self.tolerance else { return }
        // A thread that runs a little late was held up when it was due. One that was held up for longer than it sleeps may have been so
        // from when it was last seen.
        let from = now - due > Self.heartbeat ? min(last, due) : due
        if let end = intervals.last?.to, end >= from {
            intervals[intervals.count - 1].to = max(end, now)
        } else {
            intervals.append(Interval(from: from, to: now))
        }
        if intervals.count > 2 * Self.kept { intervals.removeFirst(Self.kept) }
    }

    /// The deadline of something that was begun at `start`, put off by as long as the thread stood still before it.
    ///
    /// What comes later than the deadline, but not later than this, may have come in time; what has not come until then did not.
    package func extended(_ deadline: MonotonicTime, from start: MonotonicTime) -> MonotonicTime {
        var end = deadline
        for interval in after(start) {
            if interval.from >= end { break }
            end = max(end + max(.zero, interval.to - max(interval.from, start)), interval.settled)
        }
        return end
    }

    /// Whether what was noticed at `event` may have happened before `bound`, an earlier moment.
    package func hides(_ bound: MonotonicTime, from event: MonotonicTime) -> Bool {
        after(bound).contains { $0.from < bound && event > $0.from && event <= $0.settled }
    }

    /// How long the thread stood still in between.
    package func total(from start: MonotonicTime, to end: MonotonicTime) -> Duration {
        after(start).reduce(.zero) { sum, interval in
            sum + max(.zero, min(interval.to, end) - max(interval.from, start))
        }
    }

    /// Those that were not settled by then; the latest are at the end.
    private func after(_ time: MonotonicTime) -> ArraySlice<Interval> {
        var first = intervals.count
        while first > 0, intervals[first - 1].settled > time { first -= 1 }
        return intervals[first...]
    }
}
