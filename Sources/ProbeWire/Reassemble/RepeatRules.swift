/// The implementation of rules 5 to 7 in `HalfConnection.swift`, which classify a packet that repeats bytes or arrives
/// late.
enum RepeatRules {
    static let reorderingNanoseconds: UInt64 = 3_000_000
    /// The minimum time from the tail to a probe. Linux sends a probe at least two timer ticks after the tail, and a
    /// copy from a mirror port arrives sooner.
    static let probeNanoseconds: UInt64 = 1_000_000
    /// The time that a sender adds to two round trips to allow for a delayed acknowledgment. This time is also the
    /// shortest retransmission timeout in use.
    static let delayNanoseconds: UInt64 = 200_000_000
    /// The maximum time by which a timer may fire late.
    static let timerNanoseconds: UInt64 = 50_000_000
    /// The timeout before a probe if the round-trip time is unknown (RFC 8985, section 7.2).
    static let firstTimeoutNanoseconds: UInt64 = 1_000_000_000
    /// The beginning of 2012. No sender sent tail-loss probes before then.
    static let firstProbeTime: UInt64 = 1_325_376_000_000_000_000

    /// Applies rule 5.
    static func lateKind(_ place: HalfConnection.Placement, in flow: borrowing HalfConnection, at time: UInt64)
        -> SegmentKind
    {
        if isFast(place, in: flow, at: time) { return .fastRetransmission }
        return flow.duplicateAcks < 3 && time <= flow.tailTime &+ reorderingNanoseconds ? .outOfOrder : .retransmission
    }

    /// Returns whether a repeated segment is a fast retransmission. It is one if three duplicate acknowledgments since
    /// the last acknowledgment of new data have requested it, it has not been repeated since then, and at most about
    /// one round trip has passed since the third acknowledgment. No timer can have expired in such a short time.
    static func isFast(_ place: HalfConnection.Placement, in flow: borrowing HalfConnection, at time: UInt64) -> Bool {
        guard flow.duplicateAcks >= 3, place.start <= flow.acknowledgedEnd ?? Int64.min,
            place.end > flow.acknowledgedEnd ?? Int64.max
        else { return false }
        let recovery = flow.recovery
        if recovery.lastStart >= flow.acknowledgedEnd ?? Int64.min, recovery.lastStart == place.start { return false }
        let patience = flow.roundTripUnits == 0 ? delayNanoseconds / 2 : flow.roundTrip &+ flow.roundTrip / 2
        return time <= recovery.thirdDuplicateTime &+ patience &+ 20_000_000
    }

    /// Returns `tailLossProbe` if a sender may probe for a lost tail at this time, and `retransmissionOrProbe` if its
    /// retransmission timer may also have expired; `nil` if the sender can't be probing at this time.
    private static func probeTiming(in flow: borrowing HalfConnection, at time: UInt64) -> SegmentKind? {
        guard time >= firstProbeTime else { return nil }
        let elapsed = time &- flow.tailTime
        guard time >= flow.tailTime &+ probeNanoseconds, elapsed >= flow.roundTrip &* 2 &- flow.roundTrip / 4 else {
            return nil
        }
        // An acknowledgment restarts the sender's timer.
        let sinceStart = time &- min(time, max(flow.tailTime, flow.acknowledgedEnd == nil ? 0 : flow.acknowledgedTime))
        let latest =
            flow.roundTripUnits == 0
            ? firstTimeoutNanoseconds + firstTimeoutNanoseconds / 4
            : flow.roundTrip &* 2 &+ flow.roundTrip / 4 &+ delayNanoseconds &+ timerNanoseconds
        guard sinceStart <= latest else { return nil }
        return sinceStart < delayNanoseconds ? .tailLossProbe : .retransmissionOrProbe
    }

    /// Applies rules 6 and 7 to a packet that carries no new data.
    static func repeatKind(
        _ place: HalfConnection.Placement, in flow: borrowing HalfConnection, at time: UInt64, isSACKInUse: Bool
    ) -> SegmentKind {
        if place.flags.contains(.syn) { return .retransmission }
        let isAcknowledged = (flow.acknowledgedEnd ?? Int64.min) >= place.end
        let isFresh = !isAcknowledged || time <= flow.acknowledgedTime &+ probeNanoseconds
        if isSACKInUse, !flow.hasProbedTail, isFresh, flow.duplicateAcks < 3, place.end == flow.sentEnd,
            place.start >= flow.tailStart,
            flow.recovery.end <= flow.acknowledgedEnd ?? Int64.min, let kind = probeTiming(in: flow, at: time)
        {
            return kind
        }
        if isAcknowledged { return .spuriousRetransmission }
        return isFast(place, in: flow, at: time) ? .fastRetransmission : .retransmission
    }
}
