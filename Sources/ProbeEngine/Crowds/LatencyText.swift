import Glibc
import ProbeBase
import ProbeCrowd
import ProbeScenario

/// The latencies of a crowd in human-readable form.
enum LatencyText {
    /// The time, in nanoseconds, up to which bars have the minimum length. The bars for longer times are longer.
    private static let shortest = 1_000.0
    /// The number of characters by which a bar grows for each power of ten on the logarithmic scale.
    private static let decade = 5.0

    static func time(_ duration: Duration) -> String {
        duration.nanoseconds == .max
            ? "infinite, because waits failed" : DurationText.text(nanoseconds: duration.nanoseconds)
    }

    /// Returns, for each kind of wait, a line that names the kind, followed by a line with a bar for each of several
    /// percentiles.
    static func plot(_ snapshot: CrowdSnapshot, of waits: [MemberWait] = MemberWait.allCases) -> [String] {
        waits.flatMap { wait in
            guard let record = snapshot.latencies[wait], record.count > 0 else { return [String]() }
            let title = "latency of \(wait.rawValue), \(ByteText.count(record.count, "wait"))"
            if record.failed == record.count { return ["\(title), all of which failed"] }
            let failed = record.failed > 0 ? ", of which \(record.failed) failed" : ""
            return ["\(title)\(failed):"]
                + record.percentiles().map { row(Percentile(value: $0.percentile), $0.time) }
        }
    }

    private static func row(_ percentile: Percentile, _ time: Duration) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.utf8.count)) + text
        }
        let isEndless = time.nanoseconds == .max
        let length = isEndless ? 40.0 : log10(max(1, Double(time.nanoseconds) / shortest)) * decade
        let bar = String(repeating: "=", count: min(40, max(1, Int(length.rounded()))))
        return padded(percentile.text, 7) + "  " + padded(isEndless ? "failed" : Self.time(time), 8) + "  " + bar
            + (isEndless ? ">" : "")
    }
}
