/// What was sent again, and why.
struct RetransmissionRecovery: Sendable {
    /// The end of all that had been sent when something was sent again: until it is acknowledged, no repeat is a probe.
    var end = Int64.min
    /// When the third duplicate acknowledgment came since the last new one.
    var thirdDuplicateTime: UInt64 = 0
    /// Where the last repeat began.
    var lastStart = Int64.min
    /// Tail-loss probes.
    var probes = 0
    /// Repeats that are a retransmission or a probe.
    var undecided = 0
    /// Probes and undecided repeats that may or may not have replaced a lost segment.
    var doubtful = 0
}

/// A SYN with another sequence number than the first one, which the peer may accept instead.
struct OtherSYN: Sendable {
    var sequence: SequenceNumber
    var options: TCPOptions
    var time: UInt64
}

/// What shows that an RST changed nothing.
struct ResetWatch: Sendable {
    /// How far the peer had sent.
    var peerEnd: Int64
    /// The sender of the RST went on.
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
