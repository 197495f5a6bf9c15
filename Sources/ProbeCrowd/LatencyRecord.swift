package import ProbeBase

/// The durations of waits of one kind, each measured from the time at which the wait was due.
///
/// The values are those of the HDR histogram buckets that the workers use, with three significant digits. Records of
/// several workers can be merged.
package struct LatencyRecord: Sendable, Equatable {
    /// The number of waits by duration in nanoseconds. Waits in progress in later rounds of a `repeat` are included
    /// with their duration so far.
    package private(set) var counts: [Int64: Int] = [:]
    /// The number of first-round waits in progress, by their duration so far in nanoseconds.
    package private(set) var running: [Int64: Int] = [:]
    /// The number of waits that failed. Their eventual duration is unknown, so they count as longer than all other
    /// waits.
    package var failed = 0
    /// The number of waits that members have not reached: the members have not begun, are at an earlier instruction, or
    /// failed at an earlier instruction.
    package var open = 0

    package init() {}

    package mutating func add(nanoseconds: Int64, count: Int) {
        counts[nanoseconds, default: 0] += count
    }

    package mutating func addRunning(nanoseconds: Int64, count: Int) {
        running[nanoseconds, default: 0] += count
    }

    /// The number of waits that have begun, including failed waits and waits in progress.
    package var count: Int { counts.values.reduce(0, +) + running.values.reduce(failed, +) }

    /// The number of first-round waits that are in progress or have not begun.
    package var unfinishedCount: Int { running.values.reduce(open, +) }

    package var isEmpty: Bool { count == 0 && open == 0 }

    package mutating func merge(_ other: LatencyRecord) {
        counts.merge(other.counts, uniquingKeysWith: +)
        running.merge(other.running, uniquingKeysWith: +)
        failed += other.failed
        open += other.open
    }

    /// How waits that have not ended are counted in a percentile.
    private enum UnfinishedWaits {
        /// Waits in progress are included, with their duration so far.
        case soFar
        /// Waits in progress count as if they ended now, and waits that have not begun count as if they took no time.
        case shortest
        /// Unfinished waits count as if they never ended.
        case endless
    }

    /// Returns the value at a percentile: the duration that this percentage of the waits did not exceed.
    ///
    /// - Returns: `Int64.max` nanoseconds if the wait at the percentile failed; `nil` if there are no waits.
    package func value(at percentile: Double) -> Duration? { value(at: percentile, .soFar) }

    /// Returns the range in which the final value at a percentile will lie, or `nil` if there are no waits. Waits that
    /// members have not reached yet are included.
    package func bounds(at percentile: Double) -> ClosedRange<Duration>? {
        guard let least = value(at: percentile, .shortest), let most = value(at: percentile, .endless) else {
            return nil
        }
        return min(least, most)...most
    }

    private func value(at percentile: Double, _ unfinishedCount: UnfinishedWaits) -> Duration? {
        var values = counts
        if unfinishedCount != .endless { values.merge(running, uniquingKeysWith: +) }
        if unfinishedCount == .shortest { values[0, default: 0] += open }
        let total = count + (unfinishedCount == .soFar ? 0 : open)
        guard total > 0 else { return nil }
        // A product such as 99.9 / 100 * 1000 may be slightly more than the exact value.
        let rank = max(1, Int((percentile / 100 * Double(total) - 1e-6).rounded(.up)))
        var seen = 0
        for (value, count) in values.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= rank { return .nanoseconds(value) }
        }
        return .nanoseconds(Int64.max)
    }

    /// The waits that did not fail, in ascending order of duration. Waits in progress are included with their duration
    /// so far.
    package var buckets: [(upTo: Int64, count: Int)] {
        counts.merging(running, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The percentiles that are included in reports.
    package static let shown: [Double] = [50, 90, 99, 99.9, 100]

    package func percentiles() -> [(percentile: Double, time: Duration)] {
        Self.shown.compactMap { percentile in value(at: percentile).map { (percentile, $0) } }
    }
}

extension LatencyRecord: JSONConvertible {
    package static let codec = JSONCodec.object(
        LatencyRecord(),
        [
            .required("counts", \.counts, histogram), .required("running", \.running, histogram),
            .required("failed", \.failed, .integer), .required("open", \.open, .integer),
        ])

    /// The JSON form of a histogram: pairs of a duration and a count, ordered by duration.
    private static let histogram = JSONCodec<[Int64: Int]>("an array") { counts in
        .array(counts.sorted { $0.key < $1.key }.map { .array([.integer(Int($0.key)), .integer($0.value)]) })
    } decode: { (value, _) throws(JSONContentError) in
        var counts: [Int64: Int] = [:]
        for pair in try JSONCodec<[[Int64]]>.list(of: .integers).decode(value) {
            guard pair.count == 2 else { return nil }
            counts[pair[0], default: 0] += Int(pair[1])
        }
        return counts
    }
}
