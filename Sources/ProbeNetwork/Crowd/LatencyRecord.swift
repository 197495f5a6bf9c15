package import ProbeBase

/// How long waits of one kind took, from the moment at which each was due.
///
/// The values are those of the buckets of HDR histograms, which the workers record into: three digits of each are right. Records of
/// several workers add up.
package struct LatencyRecord: Sendable, Equatable {
    /// By nanoseconds: how often. In a `repeat` behind its first round, with waits that still go on, by the time that they have taken so far.
    package private(set) var counts: [Int64: Int] = [:]
    /// The same of waits that go on for the first time.
    package private(set) var running: [Int64: Int] = [:]
    /// Waits that failed: nobody knows how long they would have taken, so they count as longer than all others.
    package var failed = 0
    /// Waits to which members have not come yet, or never will: of those that have not begun, that do something before it, or that failed
    /// there.
    package var open = 0

    package init() {}

    package mutating func add(nanoseconds: Int64, count: Int) {
        counts[nanoseconds, default: 0] += count
    }

    package mutating func addRunning(nanoseconds: Int64, count: Int) {
        running[nanoseconds, default: 0] += count
    }

    /// All waits that have begun, those that failed or go on with them.
    package var count: Int { counts.values.reduce(0, +) + running.values.reduce(failed, +) }

    /// Those that go on for the first time, or have not begun.
    package var unended: Int { running.values.reduce(open, +) }

    package var isEmpty: Bool { count == 0 && open == 0 }

    package mutating func merge(_ other: LatencyRecord) {
        counts.merge(other.counts, uniquingKeysWith: +)
        running.merge(other.running, uniquingKeysWith: +)
        failed += other.failed
        open += other.open
    }

    /// How far waits that have no end yet are counted.
    private enum Unended {
        /// Those that go on by their time so far.
        case soFar
        /// As if each ended at this moment, and those to come took no time.
        case shortest
        /// As if none ever ended.
        case endless
    }

    /// The time that so many percent of the waits took at most. `Duration` of `Int64.max` nanoseconds: the wait failed; nil: there was none.
    package func value(at percentile: Double) -> Duration? { value(at: percentile, .soFar) }

    /// What the same can still become: the least and the most. Waits of members that have not come to them are in it. nil: there is none.
    package func bounds(at percentile: Double) -> ClosedRange<Duration>? {
        guard let least = value(at: percentile, .shortest), let most = value(at: percentile, .endless) else {
            return nil
        }
        return min(least, most)...most
    }

    private func value(at percentile: Double, _ unended: Unended) -> Duration? {
        var values = counts
        if unended != .endless { values.merge(running, uniquingKeysWith: +) }
        if unended == .shortest { values[0, default: 0] += open }
        let total = count + (unended == .soFar ? 0 : open)
        guard total > 0 else { return nil }
        // A product such as 99.9 / 100 * 1000 may be a little more than the number that is meant.
        let rank = max(1, Int((percentile / 100 * Double(total) - 1e-6).rounded(.up)))
        var seen = 0
        for (value, count) in values.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= rank { return .nanoseconds(value) }
        }
        return .nanoseconds(Int64.max)
    }

    /// All waits that did not fail, in the order of their times; those that go on count by what they have taken so far.
    package var buckets: [(upTo: Int64, count: Int)] {
        counts.merging(running, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Those that a report shows.
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

    /// Pairs of a time and a count, in the order of the times.
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
