/// Determines what made a sender repeat data: an acknowledgment from its peer, or its retransmission timer.
///
/// An acknowledgment of new data restarts the timer (RFC 6298, section 5.3), and so does the timer's own expiry. A
/// duplicate ACK, a SACK block or a partial acknowledgment makes the sender repeat data at once (RFC 5681, RFC 6582,
/// RFC 6675, RFC 8985), so a packet that follows one of them by no more than the sender's response time was not sent
/// because of the timer.
struct RepeatTrigger: Sendable {
    /// The time until which the sender may still be responding to such an acknowledgment.
    private var requestedUntil = Int64.min
    /// The time at which the timer last expired.
    private(set) var lastExpiry = Int64.min

    /// The shortest time, in nanoseconds, after which a retransmission timer expires. The shortest timer in use expires
    /// after 200 ms; capture clocks are not exact.
    static let shortestTimeout: Int64 = 195_000_000
    /// The time that a sender takes to respond to an acknowledgment.
    private static let responseTime: Int64 = 10_000_000
    /// The maximum time by which queues may delay the response, if the capture was not made at the sender.
    private static let queueingTime: Int64 = 180_000_000
    /// The maximum time between two packets of a burst. A burst is triggered as a whole.
    private static let burstGap: Int64 = 3_000_000

    /// Records an acknowledgment that makes the sender repeat data: a duplicate ACK, a SACK block, or an
    /// acknowledgment of only a part of the data that was repeated.
    ///
    /// - Parameters:
    ///   - delay: the minimum time from the capture point to the sender and back.
    ///   - latestDelay: the time in which data last followed an acknowledgment; 0 if it is unknown.
    mutating func noteRequest(at time: Int64, delay: Int64, latestDelay: Int64) {
        let longest = max(delay + min(8 * delay, Self.queueingTime), latestDelay / 4 * 5)
        requestedUntil = max(requestedUntil, time + longest + Self.responseTime)
    }

    /// Records a segment, which later segments of the same burst may follow.
    mutating func noteSegment(at time: Int64) {
        if time <= requestedUntil { requestedUntil = max(requestedUntil, time + Self.burstGap) }
    }

    mutating func noteExpiry(at time: Int64) { lastExpiry = time }

    /// Returns whether the timer made the sender repeat a segment.
    ///
    /// - Parameters:
    ///   - since: the time of the segment's last transmission.
    ///   - acknowledged: the time at which the sender received the last acknowledgment of new data, plus the time that
    ///     a packet then takes from the sender to the capture point.
    ///   - roundTrip: the minimum round-trip time; 0 if it is unknown. A timer never expires sooner.
    func isTimer(at time: Int64, since: Int64, acknowledged: Int64, roundTrip: Int64) -> Bool {
        time > requestedUntil
            && time - max(since, acknowledged, lastExpiry) >= max(Self.shortestTimeout, roundTrip)
    }
}
