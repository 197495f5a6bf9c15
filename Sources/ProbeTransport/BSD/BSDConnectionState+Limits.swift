extension BSDConnectionState {
    /// What the owner of the socket does next, in this order.
    enum Action: Sendable, Equatable {
        case report(TransportEvent)
        /// FIN.
        case shutdownWrite
        case close
        /// RST: what was sent can't be written, and a FIN would call it complete.
        case abort
    }

    /// How long what may take, in nanoseconds.
    struct Limits: Sendable, Equatable {
        /// From `start` to `started`, the name's lookup included; nil: as long as the system tries.
        var connect: Int64?
        /// Without a byte received or written, from `started` on; not counted while reading is stopped and nothing waits to be written.
        var idle: Int64?
        /// Without a byte written, while what was sent is still to be written before the close.
        var linger: Int64 = 1_000_000_000
        /// For the peer's FIN, once ours is out; anew as long as the peer goes on acknowledging.
        var drain: Int64 = 250_000_000

        /// `now` and an interval, held inside Int64; without an interval there is no such time.
        static func time(_ now: Int64, plus interval: Int64?) -> Int64 {
            guard let interval else { return .max }
            let (sum, overflow) = now.addingReportingOverflow(interval)
            return overflow ? .max : sum
        }

        /// For a message.
        static func milliseconds(_ nanoseconds: Int64?) -> Int64 { (nanoseconds ?? 0) / 1_000_000 }
    }
}
