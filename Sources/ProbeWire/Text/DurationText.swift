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
    static func difference(from a: UInt64, to b: UInt64) -> Int64 {
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
}
