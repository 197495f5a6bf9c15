import ProbeBase
import ProbeEvents

/// The last line on the terminal during a run: the number of finished cases, the cases per second, the estimated
/// remaining time, and the cases that are running.
struct ProgressLine: Sendable {
    private let total: Int
    private var results = ResultCounts()
    /// The cases that are running, in the order in which they began.
    private var running: [String] = []

    init(total: Int) { self.total = total }

    mutating func began(_ id: String) { running.append(id) }

    mutating func ended(_ result: CaseResult, _ disposition: Disposition) {
        results.count(result.verdict, disposition)
        if let index = running.firstIndex(of: result.id) { running.remove(at: index) }
    }

    /// Returns a line such as `12/340  1 not passed  40/s  8 s left  crlf, refused`, cut to the width of the terminal.
    ///
    /// - Parameters:
    ///   - time: the nanoseconds since the run began.
    ///   - width: the width of the terminal, in columns.
    func text(at time: Int64, width: Int, paint: Paint) -> String {
        let (done, bad) = (results.total, results.unexpectedFailures)
        // The total of a run with `--until-fail` is unknown.
        var parts = [total == .max ? "\(done) done" : "\(done)/\(total)"]
        if bad > 0 { parts.append("\(bad) not passed") }
        if done > 0, time > 0 {
            let seconds = Double(time) / 1e9
            let rate = Double(done) / seconds
            parts.append("\(DurationText.fixed(rate, digits: rate < 10 ? 1 : 0))/s")
            let left = Double(max(0, total - done)) / rate
            if total != .max, seconds >= 1, left >= 1 { parts.append("\(ProgressLine.clock(left)) left") }
        }
        if !running.isEmpty { parts.append(running.map { Escaped.text($0) }.joined(separator: ", ")) }
        let text = parts.joined(separator: "  ")
        // A line that reaches the last column would wrap, so it could not be erased.
        return paint(bad > 0 ? .verdict(.failed) : .faint, Columns.cut(text, to: width - 1))
    }

    /// Returns a duration such as `8 s`, `3:05` or `1:02:03`.
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds.rounded(.up), 1e9))
        if whole < 60 { return "\(whole) s" }
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
    }
}
