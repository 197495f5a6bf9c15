package import ProbeBase

/// How long waits of one kind took, from the moment at which each was due.
///
/// The values are those of the buckets of HDR histograms, which the workers record into: three digits of each are right. Records of
/// several workers add up.
package struct LatencyRecord: Sendable, Equatable {
    /// By nanoseconds: how often. With waits that still go on, by the time that they have taken so far.
    package private(set) var counts: [Int64: Int] = [:]
    /// Waits that failed: nobody knows how long they would have taken, so they count as longer than all others.
    package var failed = 0

    package init() {}

    package mutating func add(nanoseconds: Int64, count: Int) {
        counts[nanoseconds, default: 0] += count
    }

    /// All waits, those that failed or go on with them.
    package var count: Int { counts.values.reduce(failed, +) }

    package mutating func merge(_ other: LatencyRecord) {
        counts.merge(other.counts, uniquingKeysWith: +)
        failed += other.failed
    }

    /// The time that so many percent of the waits took at most. `Duration` of `Int64.max` nanoseconds: the wait failed; nil: there was none.
    package func value(at percentile: Double) -> Duration? {
        let total = count
        guard total > 0 else { return nil }
        // A product such as 99.9 / 100 * 1000 may be a little more than the number that is meant.
        let rank = max(1, Int((percentile / 100 * Double(total) - 1e-6).rounded(.up)))
        var seen = 0
        for (value, count) in counts.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= rank { return .nanoseconds(value) }
        }
        return .nanoseconds(Int64.max)
    }

    /// Those that a report shows.
    package static let shown: [Double] = [50, 90, 99, 99.9, 100]

    package func percentiles() -> [(percentile: Double, time: Duration)] {
        Self.shown.compactMap { percentile in value(at: percentile).map { (percentile, $0) } }
    }
}

extension LatencyRecord {
    package var json: JSONValue {
        .object([
            (
                "counts",
                .array(counts.sorted { $0.key < $1.key }.map { .array([.integer(Int($0.key)), .integer($0.value)]) })
            ),
            ("failed", .integer(failed)),
        ])
    }

    package init?(json: JSONValue) {
        guard case .array(let pairs)? = json["counts"], let failed = json["failed"]?.integer else { return nil }
        for pair in pairs {
            guard case .array(let numbers) = pair, numbers.count == 2, let value = numbers[0].integer,
                let count = numbers[1].integer
            else { return nil }
            add(nanoseconds: Int64(value), count: count)
        }
        self.failed = failed
    }
}
