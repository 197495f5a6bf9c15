package import ProbeBase

/// The stalls of a reactor's thread: the periods in which the thread had something to do but did not run, because the
/// process was stopped, the machine was suspended or busy, or the harness itself was busy.
///
/// Events that occurred during a stall were noticed later, and every wait in this process was also delayed. The value
/// has no clock: times are passed as arguments.
package struct Standstills: Sendable {
    private struct Interval: Sendable {
        var from: MonotonicTime
        var to: MonotonicTime

        var length: Duration { to - from }
        /// The time by which all threads of this process have read and processed the events of the stall. If the
        /// machine is busy, the threads resume one after another.
        var settled: MonotonicTime {
            to + min(length, max(.milliseconds(20), min(length / 8, .milliseconds(500))))
        }
    }

    /// The maximum delay at which a thread is considered on time.
    package static let tolerance: Duration = .milliseconds(2)
    /// The interval at which a waiting thread wakes up, so that the time at which it last ran is known after a stall.
    package static let heartbeat: Duration = .milliseconds(20)
    /// The maximum number of stalls that are kept; the oldest are dropped first.
    private static let kept = 1024

    private var intervals: [Interval] = []

    package init() {}

    /// Records that the thread is running.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - due: the time at which the thread should have run.
    ///   - last: the time at which it last ran.
    package mutating func ran(at now: MonotonicTime, due: MonotonicTime, last: MonotonicTime) {
        guard now > due + Self.tolerance else { return }
        // A thread that is a little late was stalled from the time at which it was due. If it is late by more than a
        // heartbeat, it may have been stalled since it last ran.
        add(from: now - due > Self.heartbeat ? min(last, due) : due, to: now)
    }

    /// Adds a stall that is already known. The stall must not begin before the stalls that were added earlier.
    package mutating func add(from: MonotonicTime, to: MonotonicTime) {
        if let end = intervals.last?.to, end >= from {
            intervals[intervals.count - 1].to = max(end, to)
        } else {
            intervals.append(Interval(from: from, to: to))
        }
        if intervals.count > 2 * Self.kept { intervals.removeFirst(Self.kept) }
    }

    /// Returns the deadline of an operation that began at `start`, extended by the time for which the thread was
    /// stalled before the deadline.
    ///
    /// An event that was noticed between the original and the extended deadline may have occurred in time. An event
    /// that was noticed later occurred too late.
    package func extended(_ deadline: MonotonicTime, from start: MonotonicTime) -> MonotonicTime {
        var end = deadline
        for interval in after(start) {
            if interval.from >= end { break }
            end = max(end + max(.zero, interval.to - max(interval.from, start)), interval.settled)
        }
        return end
    }

    /// Returns whether an event that was noticed at `event` may have occurred before the earlier time `bound`.
    package func hides(_ bound: MonotonicTime, from event: MonotonicTime) -> Bool {
        // A stall that begins while the events of the previous stall are still being read delays those events further.
        var reach: MonotonicTime?
        for interval in after(bound) where interval.from < bound || interval.from <= reach ?? bound {
            guard event > interval.from else { break }
            reach = max(reach ?? interval.settled, interval.settled)
            if let reach, event <= reach { return true }
        }
        return false
    }

    /// Returns the earliest time at which the thread could have done what it did at `time`, if it had not been stalled
    /// immediately before.
    ///
    /// A step that ended right after a stall ended late, so a period that is measured from the step's end may have
    /// begun earlier.
    package func earliest(of time: MonotonicTime) -> MonotonicTime {
        var earliest = time
        for interval in intervals.reversed() where interval.from < earliest {
            if interval.settled < earliest { break }
            earliest = interval.from
        }
        return earliest
    }

    /// Returns the total time for which the thread was stalled between two times.
    package func total(from start: MonotonicTime, to end: MonotonicTime) -> Duration {
        after(start).reduce(.zero) { sum, interval in
            sum + max(.zero, min(interval.to, end) - max(interval.from, start))
        }
    }

    /// Returns the parts of the stalls that are between two times, in chronological order.
    package func all(from start: MonotonicTime, to end: MonotonicTime = .distantFuture) -> [(
        from: MonotonicTime, to: MonotonicTime
    )] {
        after(start).compactMap { interval in
            let (from, to) = (max(interval.from, start), min(interval.to, end))
            return from < to ? (from, to) : nil
        }
    }

    /// Returns the longest part of a stall between two times; `nil` if there is none.
    package func longest(from start: MonotonicTime, to end: MonotonicTime) -> (from: MonotonicTime, to: MonotonicTime)?
    {
        all(from: start, to: end).max { $0.to - $0.from < $1.to - $1.from }
    }

    /// Returns the stalls whose events had not all been processed by the given time, in chronological order.
    private func after(_ time: MonotonicTime) -> ArraySlice<Interval> {
        var first = intervals.count
        while first > 0, intervals[first - 1].settled > time { first -= 1 }
        return intervals[first...]
    }
}
