import ProbeBase
import ProbeWire

/// The packets that a capture contains twice.
struct CopyObservation: Sendable {
    /// The number of copies that were captured within a millisecond of the original packet, or that a wireless sender
    /// made because it had received no acknowledgment on its link.
    var count = 0
    var evidence = Evidence()
    /// The number of copies that were captured later.
    var lateCount = 0
    var lateEvidence = Evidence()
    /// The sender of the last packet that was captured again later.
    var lateSide: ConversationSide?
    /// Whether the IP identification shows that a late copy was not sent again.
    var isLateProven = false

    mutating func note(_ summary: PacketSummary, _ tcp: DecodedTCP, _ recent: RecentHeaders, at time: Int64) {
        let original = recent.original(of: tcp)
        let number = summary.packetIndex + 1
        guard let original, time - original.time > 1_000_000, !tcp.isWirelessRetry else {
            count += 1
            evidence.add(number)
            return
        }
        lateCount += 1
        lateEvidence.add(original.packet)
        lateEvidence.add(number)
        lateSide = summary.side
        if recent.hasOwnNumber(tcp) { isLateProven = true }
    }
}

/// The steps of a capture's clock.
struct ClockObservation: Sendable {
    private(set) var steps = Evidence()
    /// Whether timestamp options show that the clock was changed.
    var isProven = false
    private var last: Int64?
    private var largest: Int64 = 0

    /// Whether times can be compared. Records that were merely stored in a different order don't matter.
    var isReliable: Bool { largest < 100_000_000 }

    /// Records a step, which usually affects the packets of both sides.
    ///
    /// - Parameter step: the duration of the step, in nanoseconds.
    mutating func note(_ packet: Int, by step: Int64, at time: Int64) {
        largest = max(largest, step)
        if let last, time - last < 1_000_000_000 { return }
        last = time
        steps.add(packet)
    }
}
