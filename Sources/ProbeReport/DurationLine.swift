/// Durations in reports.
enum DurationLine {
    /// `12 ms`, `1.25 s`
    static func text(_ nanoseconds: Int64) -> String {
        nanoseconds < 1_000_000_000
            ? "\(max(0, nanoseconds) / 1_000_000) ms" : "\(fixed(Double(nanoseconds) / 1e9, digits: 2)) s"
    }

    /// Milliseconds with three digits, right-aligned in `width`.
    static func milliseconds(_ nanoseconds: Int64, width: Int) -> String {
        let text = fixed(Double(nanoseconds) / 1e6, digits: 3)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// Seconds with six digits, as JUnit's `time` wants them: `0.035120`.
    static func seconds(_ nanoseconds: Int64) -> String { fixed(Double(max(0, nanoseconds)) / 1e9, digits: 6) }

    /// A number with so many digits behind the point.
    static func fixed(_ value: Double, digits: Int) -> String {
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
