/// Formats durations for people.
package enum DurationText {
    /// Returns the duration in the largest unit, up to seconds, in which the number is at least 1, with at most three
    /// decimals: `870 ns`, `12.1 us`, `30.2 ms`, `1.25 s`. A negative duration begins with a minus sign.
    package static func text(nanoseconds: Int64) -> String {
        let sign = nanoseconds < 0 ? "-" : ""
        let value = nanoseconds.magnitude
        switch value {
        case 0..<1_000: return "\(sign)\(value) ns"
        case 1_000..<1_000_000: return sign + scaled(value, by: 1_000) + " us"
        case 1_000_000..<1_000_000_000: return sign + scaled(value, by: 1_000_000) + " ms"
        default: return sign + scaled(value, by: 1_000_000_000) + " s"
        }
    }

    /// Returns the nanoseconds from `a` to `b`, clamped to `Int64`; negative if `b` is earlier than `a`.
    package static func difference(from a: UInt64, to b: UInt64) -> Int64 {
        b >= a ? Int64(clamping: b - a) : -Int64(clamping: a - b)
    }

    /// Returns the value in a larger unit. Decimals are truncated rather than rounded: a gap of 24.99 ms must not be
    /// shown as 25.0 ms next to `>= 25ms`.
    private static func scaled(_ value: UInt64, by unit: UInt64) -> String {
        let whole = value / unit
        let decimals: UInt64 = whole >= 100 ? 1 : whole >= 10 ? 2 : 3
        let power: UInt64 = decimals == 1 ? 10 : decimals == 2 ? 100 : 1_000
        var fraction = String(value % unit * power / unit)
        fraction = String(repeating: "0", count: Int(decimals) - fraction.count) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }

    /// Returns the duration in a script's notation: `1.5s`, `200ms`, `50us`, `2min`.
    package static func script(_ duration: Duration) -> String { script(nanoseconds: duration.nanoseconds) }

    package static func script(nanoseconds: Int64) -> String {
        let magnitude = nanoseconds.magnitude
        let (divisor, unit): (Double, String) =
            magnitude >= 60_000_000_000 && magnitude % 60_000_000_000 == 0
            ? (60e9, "min")
            : magnitude >= 1_000_000_000 ? (1e9, "s") : magnitude >= 1_000_000 ? (1e6, "ms") : (1e3, "us")
        let value = Double(nanoseconds) / divisor
        let rounded = (value * 100).rounded() / 100
        if rounded == rounded.rounded() { return "\(Int64(rounded))\(unit)" }
        // The number has at most two decimals, and the description of such a `Double` is exact.
        return "\(rounded)\(unit)"
    }

    /// Returns the duration in milliseconds, or in seconds with two decimals if it is at least one second: `12 ms`,
    /// `1.25 s`. A negative duration is shown as 0.
    package static func rounded(nanoseconds: Int64) -> String {
        nanoseconds < 1_000_000_000
            ? "\(max(0, nanoseconds) / 1_000_000) ms" : "\(fixed(Double(nanoseconds) / 1e9, digits: 2)) s"
    }

    /// Returns the duration in milliseconds with three decimals, right-aligned to `width` characters.
    package static func milliseconds(_ nanoseconds: Int64, width: Int) -> String {
        let text = fixed(Double(nanoseconds) / 1e6, digits: 3)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Returns the duration in seconds with six decimals, as other tools show it: `0.000123`, `-0.000004`.
    package static func seconds(_ nanoseconds: Int64) -> String {
        let micro = (nanoseconds.magnitude + 500) / 1_000
        let fraction = String(micro % 1_000_000)
        let sign = nanoseconds < 0 && micro > 0 ? "-" : ""
        return "\(sign)\(micro / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// Returns a number with a fixed number of decimals.
    package static func fixed(_ value: Double, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        guard value.magnitude < 1e15 / Double(scale) else { return "\(value)" }
        let scaled = Int64((value * Double(scale)).rounded())
        let sign = scaled < 0 ? "-" : ""
        let magnitude = Int(scaled.magnitude)
        if digits == 0 { return "\(sign)\(magnitude)" }
        let fraction = String(magnitude % scale)
        return "\(sign)\(magnitude / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
