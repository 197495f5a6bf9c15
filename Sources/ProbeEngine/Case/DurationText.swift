import ProbeSystem

/// Durations as a script writes them: `1.5s`, `200ms`, `50us`.
package enum DurationText {
    package static func text(_ duration: Duration) -> String { text(nanoseconds: duration.nanoseconds) }

    package static func text(nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        let (divisor, unit): (Double, String) =
            magnitude >= 60_000_000_000 && magnitude % 60_000_000_000 == 0
            ? (60e9, "min")
            : magnitude >= 1_000_000_000 ? (1e9, "s") : magnitude >= 1_000_000 ? (1e6, "ms") : (1e3, "us")
        let value = Double(nanoseconds) / divisor
        let rounded = (value * 100).rounded() / 100
        if rounded == rounded.rounded() { return "\(Int64(rounded))\(unit)" }
        // Two digits at most; Double's own description of such a number is exact.
        return "\(rounded)\(unit)"
    }
}
