import ProbeBase
package import ProbeEvents

/// Divides the cases of a run into shards. Every shard computes the same division, so shards don't have to communicate.
package enum ShardAssignment {
    /// Assigns cases by a hash of the id and the subject. A case stays in the same shard on every machine and in every
    /// version of tcpprobe, even if other cases are added or removed.
    ///
    /// - Returns: the number (counted from 1) of each case's shard.
    package static func byHash(_ keys: [CaseKey], total: Int) -> [Int] {
        keys.map { key in
            var hash = FNV1a()
            hash.add(key)
            var mixed = SplitMix64(seed: hash.value)
            return Int(mixed.next() % UInt64(max(1, total))) + 1
        }
    }

    /// Assigns cases by their durations in earlier runs: the longest case first, and each case to the shard with the
    /// smallest total so far. A case without a known duration is assumed to take the median of the known durations.
    ///
    /// - Parameter times: the mean durations in earlier runs, in nanoseconds.
    /// - Returns: the number (counted from 1) of each case's shard; `nil` if no case has a known duration.
    package static func byTime(_ keys: [CaseKey], times: CaseTimes, total: Int) -> [Int]? {
        let known = keys.compactMap { times[$0] }.sorted()
        guard !known.isEmpty else { return nil }
        let median = known[known.count / 2]
        let expected = keys.map { times[$0] ?? median }
        let order = keys.indices.sorted { left, right in
            if expected[left] != expected[right] { return expected[left] > expected[right] }
            if keys[left].id != keys[right].id {
                return keys[left].id.utf8.lexicographicallyPrecedes(keys[right].id.utf8)
            }
            return (keys[left].subject ?? "").utf8.lexicographicallyPrecedes((keys[right].subject ?? "").utf8)
        }
        var shards = [Int](repeating: 1, count: keys.count)
        var loads = ShardLoads(total: total)
        for index in order { shards[index] = loads.take(max(1, expected[index])) }
        return shards
    }
}

/// The durations of cases, taken from the results of earlier runs.
package struct CaseTimes: Sendable {
    private var sums: [CaseKey: (time: Int64, count: Int64)] = [:]

    package init() {}

    package var isEmpty: Bool { sums.isEmpty }

    /// Adds a measured duration of a case.
    ///
    /// - Parameter time: the duration in nanoseconds.
    package mutating func add(_ key: CaseKey, time: Int64) {
        let sum = sums[key] ?? (0, 0)
        sums[key] = (sum.time.addingReportingOverflow(max(0, time)).partialValue, sum.count + 1)
    }

    /// Returns the mean duration of a case in nanoseconds; `nil` if no duration is known.
    package subscript(_ key: CaseKey) -> Int64? { sums[key].map { $0.time / $0.count } }
}

/// The load assigned to each shard so far, as a heap with the least loaded shard first.
private struct ShardLoads {
    private var heap: [(load: Int64, shard: Int)]

    init(total: Int) { heap = (1...max(1, total)).map { (0, $0) } }

    /// Adds a case to the least loaded shard (the one with the smallest index if there are several), and returns the
    /// shard's index.
    mutating func take(_ time: Int64) -> Int {
        let shard = heap[0].shard
        let (sum, overflow) = heap[0].load.addingReportingOverflow(time)
        heap[0].load = overflow ? .max : sum
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == place { return shard }
            heap.swapAt(place, least)
            place = least
        }
    }
}
