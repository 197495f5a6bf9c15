package import ProbeBase

/// The times in which a reactor's thread had something to do and did not run: the process was stopped, the machine was
/// suspended or busy, or the harness itself was busy.
///
/// Events in such a period were noticed later, and every wait in this process was delayed as well. This is a value
/// without a clock: times are arguments.
package struct Standstills: Sendable {
    private struct Interval: Sendable {
        var from: MonotonicTime
        var to: MonotonicTime

        var length: Duration { to - from }
        /// The time by which events of the standstill have been read and processed, including by other threads of this
        /// process, which resume one after the other if the machine is busy.
        var settled: MonotonicTime {
            to + min(length, max(.milliseconds(20), min(length / 8, .milliseconds(500))))
        }
    }

    /// The maximum delay with which a thread is still on time.
    package static let tolerance: Duration = .milliseconds(2)
    /// How often a waiting thread wakes up, so that it later knows until when it ran.
    package static let heartbeat: Duration = .milliseconds(20)
    /// The maximum number of standstills that are kept; the oldest are dropped first.
    private static let kept = 1024

    private var intervals: [Interval] = []

    package init() {}

    /// Records that the thread runs.
    ///
    /// - Parameters:
    ///   - now: when it runs.
    ///   - due: when it should have run.
    ///   - last: when it ran before.
    package mutating func ran(at now: MonotonicTime, due: MonotonicTime, last: MonotonicTime) {
        guard now > due + Self.tolerance else { return }
        // A thread that is a little late stood still from the time at which it was due. If it is late by more than a
        // heartbeat, it may have stood still since it last ran.
        add(from: now - due > Self.heartbeat ? min(last, due) : due, to: now)
    }

    /// Adds a standstill that is already known. It must not begin before the previous ones.
    package mutating func add(from: MonotonicTime, to: MonotonicTime) {
        if let end = intervals.last?.to, end >= from {
            intervals[intervals.count - 1].to = max(end, to)
        } else {
            intervals.append(Interval(from: from, to: to))
        }
        if intervals.count > 2 * Self.kept { intervals.removeFirst(Self.kept) }
    }

    /// Returns the deadline of an operation that began at `start`, extended by the time for which the thread stood
    /// still before it.
    ///
    /// An event that was noticed between the deadline and the result may have occurred in time; a later one did not.
    package func extended(_ deadline: MonotonicTime, from start: MonotonicTime) -> MonotonicTime {
        var end = deadline
        for interval in after(start) {
            if interval.from >= end { break }
            end = max(end + max(.zero, interval.to - max(interval.from, start)), interval.settled)
        }
        return end
    }

    /// Returns whether an event that was noticed at `event` may have occurred before `bound`, an earlier time.
    package func hides(_ bound: MonotonicTime, from event: MonotonicTime) -> Bool {
        // A standstill that begins while the events of the previous one are still being read delays them further.
        var reach: MonotonicTime?
        for interval in after(bound) where interval.from < bound || interval.from <= reach ?? bound {
            guard event > interval.from else { break }
            reach = max(reach ?? interval.settled, interval.settled)
            if let reach, event <= reach { return true }
        }
        return false
    }

    /// Returns the earliest time at which the thread might have done what it did at `time`, had it not stood still just
    /// before.
    ///
    /// A step that ended right after a standstill ended late: a period measured from its end may have begun earlier.
    package func earliest(of time: MonotonicTime) -> MonotonicTime {
        var earliest = time
        for interval in intervals.reversed() where interval.from < earliest {
            if interval.settled < earliest { break }
            earliest = interval.from
        }
        return earliest
    }

    /// Returns how long the thread stood still between two times.
    package func total(from start: MonotonicTime, to end: MonotonicTime) -> Duration {
        after(start).reduce(.zero) { sum, interval in
            sum + max(.zero, min(interval.to, end) - max(interval.from, start))
        }
    }

    /// Returns the parts of the standstills between two times, in the order of time.
    package func all(from start: MonotonicTime, to end: MonotonicTime = .distantFuture) -> [(
        from: MonotonicTime, to: MonotonicTime
    )] {
        after(start).compactMap { interval in
            let (from, to) = (max(interval.from, start), min(interval.to, end))
            return from < to ? (from, to) : nil
        }
    }

    /// Returns the longest of those parts; `nil` if there is none.
    package func longest(from start: MonotonicTime, to end: MonotonicTime) -> (from: MonotonicTime, to: MonotonicTime)?
    {
        all(from: start, to: end).max { $0.to - $0.from < $1.to - $1.from }
    }

    /// Returns the standstills that were not settled by then, in the order of time.
    private func after(_ time: MonotonicTime) -> ArraySlice<Interval> {
        var first = intervals.count
        while first > 0, intervals[first - 1].settled > time { first -= 1 }
        return intervals[first...]
    }
}
