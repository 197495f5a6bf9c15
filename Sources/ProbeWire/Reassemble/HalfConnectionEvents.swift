/// The state of a loss recovery, and the numbers of repeated segments by reason.
struct RetransmissionRecovery: Sendable {
    /// The offset of the end of the data that had been sent when a segment was last repeated. Until all data before
    /// this offset is acknowledged, no repeated segment is considered a probe.
    var end = Int64.min
    /// The time of the third duplicate acknowledgment since the last acknowledgment of new data.
    var thirdDuplicateTime: UInt64 = 0
    /// The offset at which the last repeated segment began.
    var lastStart = Int64.min
    /// The number of tail-loss probes.
    var probes = 0
    /// The number of repeated segments that may be either retransmissions or tail-loss probes.
    var undecided = 0
    /// The number of probes and undecided segments for which it is unknown whether they replaced a lost segment.
    var doubtful = 0
}

/// A SYN whose sequence number differs from that of the first SYN, and which the peer may accept instead.
struct OtherSYN: Sendable {
    var sequence: SequenceNumber
    var options: TCPOptions
    var time: UInt64
}

/// The observations after an RST that can show that its receiver did not obey it.
struct ResetWatch: Sendable {
    /// The offset up to which the peer had sent data before the RST.
    var peerEnd: Int64
    /// Whether the sender of the RST has continued to send or acknowledge data.
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
