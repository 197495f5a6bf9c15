extension BSDConnectionState {
    /// What the owner of the socket must do next, in this order.
    enum Action: Sendable, Equatable {
        case report(TransportEvent)
        /// FIN.
        case shutdownWrite
        case close
        /// RST: what was sent can't be written, and a FIN would mean that it is complete.
        case abort
    }

    /// Time limits, in nanoseconds.
    struct Limits: Sendable, Equatable {
        /// From `start` to `started`, including the resolution of the name; nil for the system's limit.
        var connect: Int64?
        /// Without a byte received or written, from `started` on; runs while reading is stopped, too.
        var idle: Int64?
        /// Whether the connection stays open behind the peer's FIN.
        var allowsHalfClose = false
        /// A heartbeat, framed, and how long nothing else was sent before it; nil where none is sent.
        var beat: Beat?
        /// Without anything that counts as life of the peer, while it is read; nil: for ever.
        var silence: Int64?
        /// Only a message that is the answer to a heartbeat counts as life, not every byte.
        var onlyAnswersAreLife = false
        /// How many bytes wait to be written when `full` is reported.
        var highWater: Int?
        /// Without a byte written, while what was sent is written before the close.
        var linger: Int64 = 1_000_000_000
        /// For the peer's FIN after ours; starts again while the peer acknowledges.
        var drain: Int64 = 250_000_000

        struct Beat: Sendable, Equatable {
            var interval: Int64
            var frame: [UInt8]
        }

        /// `now` plus an interval, clamped to Int64; the latest possible time without an interval.
        static func time(_ now: Int64, plus interval: Int64?) -> Int64 {
            guard let interval else { return .max }
            let (sum, overflow) = now.addingReportingOverflow(interval)
            return overflow ? .max : sum
        }

        /// For a message to people.
        static func milliseconds(_ nanoseconds: Int64?) -> Int64 { (nanoseconds ?? 0) / 1_000_000 }
    }
}
