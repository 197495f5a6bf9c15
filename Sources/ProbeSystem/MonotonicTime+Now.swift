package import ProbeBase
import CShims

extension MonotonicTime {
    /// CLOCK_MONOTONIC.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: probe_monotonic_ns()) }
}
