/// The result of a crowd: what its members did, and how long their waits took.
package struct CrowdResult: Sendable {
    /// Statistics on one kind of wait, over all members.
    package struct Latency: Sendable {
        /// The kind of wait: `connect`, `line`, `bytes`, `until`, `eof`.
        package var wait: String
        package var count: Int
        package var failed: Int
        /// The percentiles from `p50` to `max`, by name, in nanoseconds. A percentile is `nil` if it can't be
        /// determined because too many waits failed.
        package var percentiles: [(name: String, time: Int64?)]
        /// The histogram's nonempty buckets, in ascending order, each with the longest wait that belongs in it, in
        /// nanoseconds, and the number of waits in it. The buckets contain all waits that did not fail. A wait that was
        /// still in progress when the crowd ended is counted with the time that it had taken until then. The buckets
        /// make it possible to add up the histograms of a crowd's shares.
        package var buckets: [(upTo: Int64, count: Int)] = []

        package init(wait: String, count: Int, failed: Int, percentiles: [(name: String, time: Int64?)]) {
            (self.wait, self.count, self.failed, self.percentiles) = (wait, count, failed, percentiles)
        }
    }

    /// The state of a crowd at one point in time. All counts are totals since the crowd began.
    package struct Sample: Sendable, Equatable {
        /// The time since the crowd was started, in nanoseconds.
        package var time: Int64
        package var connected: Int
        package var done: Int
        package var failed: Int
        /// The number of bytes that the members have sent.
        package var sent: Int
        package var received: Int

        package init(time: Int64, connected: Int, done: Int, failed: Int, sent: Int, received: Int) {
            (self.time, self.connected, self.done) = (time, connected, done)
            (self.failed, self.sent, self.received) = (failed, sent, received)
        }
    }

    package var name: String
    /// The planned number of members in this run. If the crowd is divided, only the members of this run's share are
    /// counted.
    package var members: Int
    /// The counts, by name: `began`, `connected`, `alive`, `failed` and `done` are numbers of members; `sent` and
    /// `received` are numbers of bytes; `refused` is the number of connections that arrived when a crowd of servers was
    /// complete.
    package var counts: [(name: String, count: Int)]
    /// The reasons why members failed and where they failed, one per line.
    package var failures: [String]
    package var latencies: [Latency]
    /// Samples of the crowd's state over time, in order; at most a few hundred.
    package var samples: [Sample] = []

    package init(
        name: String, members: Int, counts: [(name: String, count: Int)], failures: [String], latencies: [Latency]
    ) {
        self.name = name
        self.members = members
        self.counts = counts
        self.failures = failures
        self.latencies = latencies
    }
}
