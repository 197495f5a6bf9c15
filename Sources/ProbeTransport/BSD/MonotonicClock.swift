import CShims

/// CLOCK_MONOTONIC in nanoseconds.
enum MonotonicClock {
    static var now: Int64 { probe_monotonic_ns() }
}

extension Duration {
    /// Nanoseconds, cut to what 64 bits hold.
    var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowToo) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowToo ? (seconds < 0 ? .min : .max) : sum
    }
}
