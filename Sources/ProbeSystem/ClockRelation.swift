package import ProbeBase
import CShims

/// The clock that timestamps captured packets: CLOCK_REALTIME.
package enum WallClock {
    /// The current time in nanoseconds since 1970-01-01 UTC.
    package static var now: UInt64 { UInt64(clamping: probe_realtime_ns()) }
}

/// The measured difference between the wall clock and the monotonic clock. It remains valid until the system's clock is
/// set.
package struct ClockRelation: Sendable, Hashable {
    /// The wall-clock time minus the monotonic time, in nanoseconds.
    package let offset: Int64
    /// The largest possible error of the offset, in nanoseconds: the time between the two readings of the monotonic
    /// clock.
    package let uncertainty: Int64

    package init(offset: Int64, uncertainty: Int64 = 0) {
        self.offset = offset
        self.uncertainty = uncertainty
    }

    /// Returns the most accurate of several measurements, because the thread may be suspended during a measurement.
    package static func measured() -> ClockRelation {
        var best = ClockRelation(offset: 0, uncertainty: .max)
        for _ in 0..<4 {
            let before = probe_monotonic_ns()
            let wall = probe_realtime_ns()
            let after = probe_monotonic_ns()
            if after - before < best.uncertainty {
                best = ClockRelation(offset: wall - (before + (after - before) / 2), uncertainty: after - before)
            }
            if best.uncertainty < 1000 { break }
        }
        return best
    }

    package func wall(_ time: MonotonicTime) -> UInt64 { UInt64(clamping: time.nanoseconds &+ offset) }

    package func monotonic(_ wall: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(clamping: wall) - offset)
    }
}
