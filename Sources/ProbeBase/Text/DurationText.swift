/// Durations as a person reads them.
package enum DurationText {
    /// Three digits at least where there are any: `870 ns`, `12.1 us`, `30.2 ms`, `1.25 s`; a minus where it is negative.
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

    /// `a` to `b`, right where `b` is earlier, held inside Int64.
    package static func difference(from a: UInt64, to b: UInt64) -> Int64 {
        b >= a ? Int64(clamping: b - a) : -Int64(clamping: a - b)
    }

    /// Cut, not rounded: a gap of 24.99 ms must not read as 25.0 ms beside `>= 25ms`.
    private static func scaled(_ value: UInt64, by unit: UInt64) -> String {
        let whole = value / unit
        let decimals: UInt64 = whole >= 100 ? 1 : whole >= 10 ? 2 : 3
        let power: UInt64 = decimals == 1 ? 10 : decimals == 2 ? 100 : 1_000
        var fraction = String(value % unit * power / unit)
        fraction = String(repeating: "0", count: Int(decimals) - fraction.count) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }

    /// As a script writes it: `1.5s`, `200ms`, `50us`, `2min`.
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
        // Two digits at most; Double's own description of such a number is exact.
        return "\(rounded)\(unit)"
    }

    /// Whole milliseconds, from a second on with two digits: `12 ms`, `1.25 s`. A negative one is 0.
    package static func rounded(nanoseconds: Int64) -> String {
        nanoseconds < 1_000_000_000
            ? "\(max(0, nanoseconds) / 1_000_000) ms" : "\(fixed(Double(nanoseconds) / 1e9, digits: 2)) s"
    }

    /// Milliseconds with three digits, right-aligned in `width`.
    package static func milliseconds(_ nanoseconds: Int64, width: Int) -> String {
        let text = fixed(Double(nanoseconds) / 1e6, digits: 3)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Seconds with six decimals, as other tools print times: `0.000123`, `-0.000004`.
    package static func seconds(_ nanoseconds: Int64) -> String {
        let micro = (nanoseconds.magnitude + 500) / 1_000
        let fraction = String(micro % 1_000_000)
        let sign = nanoseconds < 0 && micro > 0 ? "-" : ""
        return "\(sign)\(micro / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// A number with so many digits behind the point.
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
