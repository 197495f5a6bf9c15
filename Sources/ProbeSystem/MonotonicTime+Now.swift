package import ProbeBase
import CShims

extension MonotonicTime {
    /// The current time of CLOCK_MONOTONIC.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: probe_monotonic_ns()) }
}
