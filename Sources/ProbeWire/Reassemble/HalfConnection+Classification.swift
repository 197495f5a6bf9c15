/// The rules by which a packet is new, a repetition or a probe.
///
/// With `sentEnd` behind all that the side has sent so far:
///
/// 1. No sequence number used: a keep-alive when it stands one before `sentEnd` and all is acknowledged (RFC 9293 3.8.4), a
///    zero-window probe when the peer's window is shut besides (what Linux sends); else plain control.
/// 2. One byte one before `sentEnd`, all acknowledged: the same; its byte may be anything and is not part of the stream.
/// 3. One byte at `sentEnd` while the peer's window is shut: a zero-window probe (RFC 9293 3.8.6.1). The byte counts for the
///    stream; the segment that carries it again, with what follows, is the first transmission.
/// 4. It ends behind `sentEnd`: new; a retransmission where it also repeats bytes from before, though what is new in it is a
///    first transmission.
/// 5. It fills a hole: out of order when it comes within 3 ms of the tail and the peer has not asked for it by two duplicate
///    acknowledgments; else a retransmission of something lost before the capture.
/// 6. The tail once more, at least 1 ms after it, before anything else was repeated, where both SYNs permit SACK: a tail-loss probe
///    (RFC 8985 7.3). It turns out to be a retransmission when the peer's answer echoes the probe's own timestamp and does not
///    report the bytes as received twice (RFC 7323 4.3, RFC 2883): then it repaired a loss (RFC 8985 7.4). An acknowledgment
///    alone shows nothing, as that of the original may cross the probe; a receiver busy reading was seen to send no DSACK.
/// 7. All of it was acknowledged before: spurious. Two duplicate acknowledgments of its start: fast (RFC 5681 3.2, counted as
///    tshark does). Else a retransmission.
extension HalfConnection {
    /// What the sequence numbers of one packet say; offsets in the stream.
    struct Placement {
        var start: Int64
        var payloadStart: Int64
        var payloadLength: Int
        var end: Int64
        var flags: TCPFlags
    }

    static let reorderingNanoseconds: UInt64 = 3_000_000
    /// Linux fires a probe two timer ticks after the tail at the earliest; what a mirror port doubles comes sooner.
    static let probeNanoseconds: UInt64 = 1_000_000
    /// The largest window there can be (RFC 7323 2.3).
    static let largestWindow: Int64 = 1 << 30

    private var isAllAcknowledged: Bool { (acknowledgedEnd ?? Int64.min) >= sentEnd }

    /// Rules 1 to 3; nil where the segment is to be put into the stream.
    func probeKind(_ place: Placement, isPeerWindowShut: Bool) -> SegmentKind? {
        guard place.flags.isDisjoint(with: [.syn, .fin, .rst]) else { return nil }
        if place.payloadLength <= 1, place.start == sentEnd - 1, isAllAcknowledged {
            return isPeerWindowShut ? .zeroWindowProbe : .keepAlive
        }
        return place.payloadLength == 0 ? .control : nil
    }

    func isZeroWindowData(_ place: Placement, isPeerWindowShut: Bool) -> Bool {
        isPeerWindowShut && place.payloadLength == 1 && place.start == sentEnd
            && place.flags.isDisjoint(with: [.syn, .fin, .rst])
    }

    func isOutOfWindow(_ place: Placement) -> Bool {
        let reference = max(sentEnd, acknowledgedEnd ?? 0)
        return place.start > reference + Self.largestWindow || place.end < sentEnd - Self.largestWindow
    }

    /// Rule 5.
    func lateKind(at time: UInt64) -> SegmentKind {
        if duplicateAcks >= 2 { return .fastRetransmission }
        return time <= tailTime &+ Self.reorderingNanoseconds ? .outOfOrder : .retransmission
    }

    /// Rules 6 and 7, for a packet with nothing new in it.
    func repeatKind(_ place: Placement, at time: UInt64, isSACKInUse: Bool) -> SegmentKind {
        if place.flags.contains(.syn) { return .retransmission }
        let isAcknowledged = (acknowledgedEnd ?? Int64.min) >= place.end
        let isFresh = !isAcknowledged || time <= acknowledgedTime &+ Self.probeNanoseconds
        if isSACKInUse, !hasProbedTail, isFresh, duplicateAcks < 2, place.end == sentEnd, place.start >= tailStart,
            time >= tailTime &+ Self.probeNanoseconds
        {
            return .tailLossProbe
        }
        if isAcknowledged { return .spuriousRetransmission }
        return duplicateAcks >= 2 && place.start == acknowledgedEnd ? .fastRetransmission : .retransmission
    }

    /// The peer acknowledged up to `offset`; `duplicate` is the range that it reports as received twice (RFC 2883).
    /// `echo` is the timestamp that it echoes.
    mutating func noteAcknowledgment(_ offset: Int64, duplicate: Range<Int64>?, echo: UInt32?, time: UInt64) {
        // The peer took the byte of a zero-window probe.
        if noteNewAcknowledgment(offset, time: time), offset == sentEnd + 1, stream.end >= offset { sentEnd = offset }
        guard var probe = tailProbe else { return }
        if let duplicate, duplicate.overlaps(probe.start..<max(probe.end, probe.start + 1)) {
            if probe.isTakenForRetransmission { setProbe(probe, kind: .tailLossProbe, count: -1) }
            tailProbe = nil
        } else if offset >= probe.end, !probe.isTakenForRetransmission {
            // Only the first acknowledgment of the tail can tell: what is sent later may carry the same timestamp.
            tailProbe = nil
            guard let stamp = probe.stamp, echo == stamp else { return }
            setProbe(probe, kind: .retransmission, count: 1)
            probe.isTakenForRetransmission = true
            tailProbe = probe
        }
    }

    /// False where it acknowledges nothing new.
    @discardableResult
    @inline(__always)
    mutating func noteNewAcknowledgment(_ offset: Int64, time: UInt64) -> Bool {
        guard offset > (acknowledgedEnd ?? Int64.min) else { return false }
        acknowledgedEnd = offset
        acknowledgedTime = time
        duplicateAcks = 0
        if offset < sentEnd { hasProbedTail = false }
        return true
    }

    private mutating func setProbe(_ probe: TailProbe, kind: SegmentKind, count: Int) {
        retransmissionCount += count
        if let index = probe.repeatIndex { repeats[index].kind = kind }
    }
}
