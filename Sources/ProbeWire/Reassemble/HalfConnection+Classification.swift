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
/// 5. It fills a hole: out of order when it comes within 3 ms of the tail and the peer has not asked for it by three duplicate
///    acknowledgments; else a retransmission of something lost before the capture.
/// 6. The tail once more, before anything else of the same flight was repeated, where both SYNs permit SACK, since 2012: a tail-loss probe
///    (RFC 8985 7.2, 7.3), if two round trips have passed, and no more time than a sender adds for a delayed acknowledgment. From 200 ms
///    on the retransmission timer may have expired as well: a retransmission or a probe. Either turns out to be a retransmission when the
///    peer's answer echoes its own timestamp and does not report the bytes as received twice (RFC 7323 4.3, RFC 2883): then it
///    repaired a loss (RFC 8985 7.4). A DSACK, or the echo of another timestamp, shows that the original had arrived. An
///    acknowledgment alone shows nothing, because that of the original may cross the probe; a receiver busy reading was seen to send no
///    DSACK. Without an answer that shows either, `doubtfulCount` counts it.
/// 7. All of it was acknowledged before: spurious. The first repeat of what three duplicate acknowledgments asked for, as soon as a sender
///    can have received them: fast (RFC 5681 3.2). Else a retransmission.
extension HalfConnection {
    /// What the sequence numbers of one packet say; offsets in the stream.
    struct Placement {
        var start: Int64
        var payloadStart: Int64
        var payloadLength: Int
        var end: Int64
        var flags: TCPFlags
    }

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

    /// In nanoseconds; 0 if it is not known.
    var roundTrip: UInt64 { UInt64(roundTripUnits) << 16 }

    /// A measurement of the round trip, smoothed as senders do (RFC 6298 2.3).
    @inline(__always)
    mutating func noteRoundTrip(_ nanoseconds: UInt64) {
        let units = Int(min(max(nanoseconds &>> 16, 1), UInt64(UInt16.max)))
        let known = Int(roundTripUnits)
        roundTripUnits = UInt16(truncatingIfNeeded: known == 0 ? units : max(1, known &+ (units &- known) >> 3))
    }

    /// The peer acknowledged up to `offset`; `duplicate` is the range that it reports as received twice (RFC 2883).
    /// `echo` is the timestamp that it echoes.
    mutating func noteAcknowledgment(_ offset: Int64, duplicate: Range<Int64>?, echo: UInt32?, time: UInt64) {
        // The peer took the byte of a zero-window probe.
        if noteNewAcknowledgment(offset, time: time), offset == sentEnd + 1, stream.end >= offset { sentEnd = offset }
        guard var probe = tailProbe else { return }
        if let duplicate, duplicate.overlaps(probe.start..<max(probe.end, probe.start + 1)) {
            settle(probe, wasLost: false)
            tailProbe = nil
        } else if offset >= probe.end, !probe.isTakenForRetransmission {
            // Only the first acknowledgment of the tail can tell: what is sent later may carry the same timestamp.
            tailProbe = nil
            guard let stamp = probe.stamp, let echo else { return }
            settle(probe, wasLost: echo == stamp)
            guard echo == stamp else { return }
            probe.isTakenForRetransmission = true
            tailProbe = probe
        }
    }

    /// False where it acknowledges nothing new.
    @discardableResult
    @inline(__always)
    mutating func noteNewAcknowledgment(_ offset: Int64, time: UInt64) -> Bool {
        guard offset > (acknowledgedEnd ?? Int64.min) else { return false }
        // What was sent twice has no round trip: which of the two was answered is not known (Karn).
        if offset == sentEnd, !hasProbedTail, time > tailTime { noteRoundTrip(time &- tailTime) }
        acknowledgedEnd = offset
        acknowledgedTime = time
        duplicateAcks = 0
        if offset < sentEnd { hasProbedTail = false }
        return true
    }

    /// Decides by what arrived which of the doubtful repeats replaced a segment that was lost. None did if the bytes had arrived before, or if
    /// all that was sent arrived.
    mutating func settleRepeats(by arrived: borrowing HalfConnection) {
        for index in repeats.indices where repeats[index].isDoubtful {
            let repeated = repeats[index]
            let end = repeated.offset + Int64(repeated.length)
            let first = arrived.segments.first { $0.offset < end && $0.end > repeated.offset }
            // Nothing of it has arrived yet, or the bytes are those of a FIN.
            guard let first else { continue }
            let sent = repeats.count { $0.offset == repeated.offset }
            let came = arrived.repeats.count { $0.offset == repeated.offset }
            let wasLost = first.time >= repeated.time && came < sent
            repeats[index].isDoubtful = false
            recovery.doubtful -= 1
            if repeated.kind == .tailLossProbe { recovery.probes -= 1 } else { recovery.undecided -= 1 }
            if wasLost { retransmissionCount += 1 } else { recovery.probes += 1 }
            repeats[index].kind = wasLost ? .retransmission : .tailLossProbe
        }
    }

    /// An answer shows whether the tail had been lost. Each repeat is counted once, as what it is.
    private mutating func settle(_ probe: TailProbe, wasLost: Bool) {
        if probe.isTakenForRetransmission {
            guard !wasLost else { return }
            retransmissionCount -= 1
            recovery.probes += 1
        } else {
            recovery.doubtful -= 1
            if probe.kind == .tailLossProbe { recovery.probes -= 1 } else { recovery.undecided -= 1 }
            if wasLost { retransmissionCount += 1 } else { recovery.probes += 1 }
        }
        guard let index = probe.repeatIndex else { return }
        repeats[index].kind = wasLost ? .retransmission : .tailLossProbe
        repeats[index].isDoubtful = false
    }
}
