import ProbeWire

/// Observations about events that most connections don't have: losses, closed windows, long pauses. They take no memory
/// until there is such an event.
struct RareObservation: ColdValue {
    var zeroWait = SideObservation.ZeroWait()
    var isZeroProbeAnswered = false
    var zeroProbeCount = 0
    /// The number of small segments that fill the peer's window (RFC 9293, section 3.8.6.2).
    var sillyCount = 0
    var sillyEvidence = Evidence()

    var lost = SideObservation.LossCount()
    /// The losses since the peer's FIN of data that the peer has not acknowledged yet.
    var unconfirmedLost = SideObservation.LossCount()
    var spuriousCount = 0
    var spuriousEvidence = Evidence()
    var isSpuriousProven = false
    var reorderedCount = 0
    var reorderedEvidence = Evidence()
    /// Whether the IP identification or the timestamps show that the segments were sent in a different order than they
    /// were captured.
    var isReorderingProven = false
    var timeoutCount = 0
    /// The time that the time budget attributes to timeouts of this side. `timeoutWaits` is the sum of the waits, of
    /// which a part may belong to states of higher precedence.
    var timeoutTime: Int64 = 0
    var timeoutWaits: Int64 = 0
    /// The part of `timeoutTime` for which only a FIN was sent again, so that nobody waited for data.
    var closeTimeoutTime: Int64 = 0
    var longestTimeout: Int64 = 0
    var timeoutEvidence = Evidence()
    /// Whether the first transmissions of all segments that timed out were captured.
    var areTimeoutsCaptured = true
    /// The largest number of consecutive timeouts for the same data.
    var longestBackoff = 0
    var tailCount = 0
    var longestTail: Int64 = 0
    var tailEvidence = Evidence()
    var isTailProven = false
    /// A large packet that was sent repeatedly without being acknowledged; `nil` if there is none.
    var stuck: SideObservation.Stuck?
    var renegingEvidence = Evidence()
    var nagleCount = 0
    var nagleTime: Int64 = 0
    var nagleEvidence = Evidence()
    var isNagleProven = true
    /// The number of these waits after which a full segment followed, which Nagle's algorithm does not hold back.
    var fullHeldCount = 0
    var pauseCount = 0
    var pauseTime: Int64 = 0
    var pauseEvidence = Evidence()
    var worstDrip: SideObservation.Drip?

    static let none = ColdStorage<RareObservation>()
}
