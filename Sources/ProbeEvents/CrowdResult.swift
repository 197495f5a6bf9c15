/// The result of a crowd: what its members did, and how long their waits took.
package struct CrowdResult: Sendable {
    /// Waits of one kind.
    package struct Latency: Sendable {
        /// The kind of wait: `connect`, `line`, `bytes`, `until`, `eof`.
        package var wait: String
        package var count: Int
        package var failed: Int
        /// The percentiles by the names `p50` … `max`, in nanoseconds; `nil` if too many waits failed to determine one.
        package var percentiles: [(name: String, time: Int64?)]
        /// The histogram's buckets that are not empty, in order of their times: the longest wait that counts in the
        /// bucket, in nanoseconds, and the number of waits in it. Together they contain all waits that did not fail; a
        /// wait that was still in progress when the crowd ended counts by the time that it had taken so far. They make
        /// it possible to add the histograms of shares of a crowd.
        package var buckets: [(upTo: Int64, count: Int)] = []

        package init(wait: String, count: Int, failed: Int, percentiles: [(name: String, time: Int64?)]) {
            (self.wait, self.count, self.failed, self.percentiles) = (wait, count, failed, percentiles)
        }
    }

    /// The state at one time. All counts are sums since the crowd began.
    package struct Sample: Sendable, Equatable {
        /// Nanoseconds since the crowd was started.
        package var time: Int64
        package var connected: Int
        package var done: Int
        package var failed: Int
        /// The number of bytes sent.
        package var sent: Int
        package var received: Int

        package init(time: Int64, connected: Int, done: Int, failed: Int, sent: Int, received: Int) {
            (self.time, self.connected, self.done) = (time, connected, done)
            (self.failed, self.sent, self.received) = (failed, sent, received)
        }
    }

    package var name: String
    /// The planned number of members of this run; if the crowd is divided, only those of its share.
    package var members: Int
    /// The counts: of members `began`, `connected`, `alive`, `failed`, `done`; of bytes `sent`, `received`; of
    /// connections that arrived when a crowd of servers was complete, `refused`.
    package var counts: [(name: String, count: Int)]
    /// Why and where members failed, one reason a line.
    package var failures: [String]
    package var latencies: [Latency]
    /// The state over time, in order; at most a few hundred samples.
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
