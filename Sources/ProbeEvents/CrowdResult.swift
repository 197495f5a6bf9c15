/// What became of a crowd: how many of its members did what, and how long their waits took.
package struct CrowdResult: Sendable {
    /// Waits of one kind.
    package struct Latency: Sendable {
        /// `connect`, `line`, `bytes`, `until`, `eof`.
        package var wait: String
        package var count: Int
        package var failed: Int
        /// By the names `p50` … `max`, in nanoseconds; nil: so many waits failed that there is none.
        package var percentiles: [(name: String, time: Int64?)]
        /// Of the histogram those that are not empty, in order of their times: the longest wait that counts in one, in nanoseconds, and how
        /// many count in it. Together they are all waits that did not fail; one that went on when the crowd ended counts by what it had taken
        /// so far. Histograms of shares of a crowd add up by them.
        package var buckets: [(upTo: Int64, count: Int)] = []

        package init(wait: String, count: Int, failed: Int, percentiles: [(name: String, time: Int64?)]) {
            (self.wait, self.count, self.failed, self.percentiles) = (wait, count, failed, percentiles)
        }
    }

    /// What was reached at one time. All counts are sums since the crowd began.
    package struct Sample: Sendable, Equatable {
        /// Nanoseconds since the crowd was started.
        package var time: Int64
        package var connected: Int
        package var done: Int
        package var failed: Int
        /// Bytes.
        package var sent: Int
        package var received: Int

        package init(time: Int64, connected: Int, done: Int, failed: Int, sent: Int, received: Int) {
            (self.time, self.connected, self.done) = (time, connected, done)
            (self.failed, self.sent, self.received) = (failed, sent, received)
        }
    }

    package var name: String
    /// How many there were to be, here: those of this run's share where the crowd is divided.
    package var members: Int
    /// Of members: `began`, `connected`, `alive`, `failed`, `done`; of bytes: `sent`, `received`; of connections that came when a crowd of
    /// servers had all its members: `refused`.
    package var counts: [(name: String, count: Int)]
    /// Why members failed, and where, a line each.
    package var failures: [String]
    package var latencies: [Latency]
    /// How it went over time, in order; at most a few hundred.
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
