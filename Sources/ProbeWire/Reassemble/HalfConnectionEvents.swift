/// The state of a recovery, and the counts of repeated segments by their reason.
struct RetransmissionRecovery: Sendable {
    /// The end of everything that had been sent when something was sent again. Until it is acknowledged, no repeat is a
    /// probe.
    var end = Int64.min
    /// The time of the third duplicate acknowledgment since the last new one.
    var thirdDuplicateTime: UInt64 = 0
    /// The offset at which the last repeat began.
    var lastStart = Int64.min
    /// The number of tail-loss probes.
    var probes = 0
    /// The number of repeats that are either a retransmission or a probe.
    var undecided = 0
    /// The number of probes and undecided repeats that may or may not have replaced a lost segment.
    var doubtful = 0
}

/// A SYN with another sequence number than the first one, which the peer may accept instead.
struct OtherSYN: Sendable {
    var sequence: SequenceNumber
    var options: TCPOptions
    var time: UInt64
}

/// The observations that show that an RST had no effect.
struct ResetWatch: Sendable {
    /// The offset up to which the peer had sent.
    var peerEnd: Int64
    /// Whether the sender of the RST has continued.
    var hasSenderContinued = false
    var hasPeerContinued = false

    mutating func note(
        _ rst: CloseMark, own: HalfConnection.Placement?, peer: HalfConnection.Placement?, acknowledged: Int64?
    ) {
        let acknowledged = acknowledged ?? Int64.min
        if let own, own.end > rst.offset || acknowledged > peerEnd { hasSenderContinued = true }
        if let peer, peer.end > peerEnd || acknowledged > rst.offset { hasPeerContinued = true }
    }
}
