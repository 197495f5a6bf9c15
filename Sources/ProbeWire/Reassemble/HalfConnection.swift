/// One direction of a TCP connection: the data that one side sent, and the windows and other signals in its headers.
///
/// Offsets are positions in the stream: 0 is the first byte after the SYN, -1 is the SYN itself, and the FIN's offset
/// is the length of the stream. If no SYN was captured, 0 is the first sequence number that was captured.
package struct HalfConnection: Sendable {
    // With thousands of flows, most time is spent fetching them from memory, one 64-byte cache line at a time. Each
    // packet from either side touches the first line, and each packet with data also touches the next two lines. Rarely
    // used values follow these lines.

    /// The offset of the end of everything that has been sent, including the SYN and the FIN.
    var sentEnd: Int64 = 0
    /// The value of `acknowledgedEnd`, or `Int64.min` if `acknowledgedEnd` is `nil`.
    private(set) var acknowledged = Int64.min
    var acknowledgedTime: UInt64 = 0
    /// The sequence number at offset 0.
    var base: SequenceNumber?
    /// Whether further repeated segments are retransmissions, because the tail has already been probed or a recovery is
    /// in progress (RFC 8985, section 7.3).
    var hasProbedTail = false
    /// The conditions that keep packets off the fast path.
    private(set) var conditions = Conditions()
    /// The number of consecutive duplicate acknowledgments of `acknowledgedEnd`.
    var duplicateAcks: UInt32 = 0
    /// Whether the capture cut short a segment that was a first transmission.
    package internal(set) var hasCutSegment = false
    /// The smoothed time from a segment to its acknowledgment, in units of 2^16 nanoseconds; 0 if it is unknown.
    var roundTripUnits: UInt16 = 0
    /// The time of the packet that last advanced `sentEnd`; `tailStart` is the offset at which this packet begins.
    var tailTime: UInt64 = 0
    package internal(set) var window = WindowHistory()
    var tailStart: Int64 = 0
    var tailStamp: UInt32?
    package internal(set) var packetCount = 0
    /// The number of payload bytes on the wire, including repeated segments.
    package internal(set) var payloadLength: Int64 = 0
    package internal(set) var segmentCount = 0
    package internal(set) var largestSegment = 0
    package internal(set) var stream: StreamAssembler
    private var events = ColdStorage<Events>()
    // The following values are present in nearly every flow, but are used for few packets.

    package private(set) var synTime: UInt64?
    /// The SYN's sequence number.
    package private(set) var initialSequence: SequenceNumber?
    /// The capabilities that the SYN's options offer.
    private(set) var synCapabilities: SYNCapabilities?
    package internal(set) var fin: CloseMark?
    package internal(set) var retransmissionCount = 0

    struct Conditions: OptionSet {
        let rawValue: UInt8
        /// The peer's response to a probe is pending, or the conclusion drawn from the response may still be corrected.
        static let probing = Conditions(rawValue: 1)
        /// `base` is known only from the other side or from an RST. The side's next packet replaces the value.
        static let baseGuessed = Conditions(rawValue: 2)
        /// The side has sent a valid RST, which is stored in `rst`.
        static let reset = Conditions(rawValue: 4)

        subscript(condition: Conditions) -> Bool {
            get { contains(condition) }
            set {
                if newValue { insert(condition) } else { remove(condition) }
            }
        }
    }

    var isBaseGuessed: Bool {
        get { conditions[.baseGuessed] }
        set { conditions[.baseGuessed] = newValue }
    }

    var hasRST: Bool { conditions[.reset] }

    struct SYNCapabilities: Sendable {
        let isSACKPermitted: Bool
        /// The shift count of the window scale option, as sent.
        let windowScale: UInt8?
    }

    /// Events that occur only in a few flows.
    private struct Events: ColdValue {
        var segments: [DataSegment] = []
        var tailProbe: TailProbe?
        var rst: CloseMark?
        var repeats: [RepeatedSegment] = []
        var urgentOffsets: [Int64] = []
        var signals = AckSignals()
        var recovery = RetransmissionRecovery()
        var otherSYNs: [OtherSYN] = []
        var refusedRST: CloseMark?
        var watch: ResetWatch?
        var hasRepeatedSYN = false
        var copies = 0
        var unsureCopies = 0
    }

    /// Counts of acknowledgments and keep-alive probes among the packets without data that this side sent.
    package struct AckSignals: Sendable {
        /// The number of acknowledgments that repeat the previous one while data is in flight (RFC 5681, section 2).
        package var duplicates = 0
        /// The number of acknowledgments with SACK blocks for bytes after a gap (RFC 2018, section 3), excluding those
        /// with only a DSACK (RFC 2883).
        package var sacks = 0
        /// The number of keep-alive probes (RFC 9293, section 3.8.4).
        package var keepAlives = 0
    }

    init(limits: ConversationLimits) {
        stream = StreamAssembler(limits: limits)
    }

    // Always inlined, because a call would copy the entire half connection for each packet.
    @inline(__always)
    var limits: ConversationLimits { stream.limits }

    /// The offset up to which the peer has acknowledged the stream. If the peer has acknowledged the FIN, this offset
    /// is one more than the stream's length.
    package internal(set) var acknowledgedEnd: Int64? {
        @inline(__always) get { acknowledged == Int64.min ? nil : acknowledged }
        set { acknowledged = newValue ?? Int64.min }
    }

    var tailProbe: TailProbe? {
        get { conditions[.probing] ? events.value.tailProbe : nil }
        set {
            guard conditions[.probing] || newValue != nil else { return }
            events.value.tailProbe = newValue
            conditions[.probing] = newValue != nil
        }
    }

    /// The first transmissions of data, in the order in which they were captured.
    package internal(set) var segments: [DataSegment] {
        _read { yield events.value.segments }
        _modify { yield &events.value.segments }
    }

    mutating func noteSYN(_ sequence: SequenceNumber, _ options: TCPOptions, time: UInt64) {
        synTime = time
        initialSequence = sequence
        synCapabilities = SYNCapabilities(isSACKPermitted: options.isSACKPermitted, windowScale: options.windowScale)
    }

    package internal(set) var rst: CloseMark? {
        get { hasRST ? events.value.rst : nil }
        set {
            guard hasRST || newValue != nil else { return }
            events.value.rst = newValue
            conditions[.reset] = newValue != nil
        }
    }

    /// The first RST that the receiver did not obey.
    package internal(set) var refusedRST: CloseMark? {
        get { events.value.refusedRST }
        set { events.value.refusedRST = newValue }
    }

    var resetWatch: ResetWatch? {
        get { events.value.watch }
        set { events.value.watch = newValue }
    }

    var recovery: RetransmissionRecovery {
        _read { yield events.value.recovery }
        _modify { yield &events.value.recovery }
    }

    /// The SYNs that the peer may accept instead of the first SYN.
    var otherSYNs: [OtherSYN] {
        _read { yield events.value.otherSYNs }
        _modify { yield &events.value.otherSYNs }
    }

    /// Whether the SYN was sent more than once. If so, it is unknown which SYN was answered.
    package var hasRepeatedSYN: Bool { events.value.hasRepeatedSYN }

    /// The number of packets that are copies of a previously captured packet. Copies are not included in any other
    /// count.
    package internal(set) var copyCount: Int {
        get { events.value.copies }
        set { events.value.copies = newValue }
    }

    /// The number of copies that are bare acknowledgments, and may therefore really have been sent twice.
    var unsureCopyCount: Int {
        get { events.value.unsureCopies }
        set { events.value.unsureCopies = newValue }
    }

    mutating func noteRepeatedSYN() { events.value.hasRepeatedSYN = true }

    /// The number of repeated segments that are tail-loss probes and not retransmissions, as far as can be determined.
    package var probeCount: Int { recovery.probes }
    /// The number of repeated segments that may be either tail-loss probes or retransmissions.
    package var undecidedCount: Int { recovery.undecided }
    /// The number of definite or possible tail-loss probes that may have replaced a lost segment.
    package var doubtfulCount: Int { recovery.doubtful }

    package internal(set) var repeats: [RepeatedSegment] {
        _read { yield events.value.repeats }
        _modify { yield &events.value.repeats }
    }

    /// The offsets just after the urgent data (where urgent pointers point, RFC 6093), one for each distinct pointer.
    package internal(set) var urgentOffsets: [Int64] {
        _read { yield events.value.urgentOffsets }
        _modify { yield &events.value.urgentOffsets }
    }
    package internal(set) var signals: AckSignals {
        _read { yield events.value.signals }
        _modify { yield &events.value.signals }
    }

    /// Whether the stream is completely known, because a FIN and every byte before it were captured.
    package var isComplete: Bool {
        guard let fin else { return false }
        return stream.end >= fin.offset && !stream.hasWaiting
    }

    /// The values that decide whether a SYN belongs to this connection or opens another one between the same endpoints.
    struct Opening {
        let initialSequence: SequenceNumber?
        let base: SequenceNumber?
        let segmentCount: Int
        /// Whether this side has sent neither data nor a SYN, as far as the capture shows.
        let hasOnlyAcknowledged: Bool
    }

    @inline(__always)
    var opening: Opening {
        Opening(
            initialSequence: initialSequence, base: isBaseGuessed ? nil : base, segmentCount: segmentCount,
            hasOnlyAcknowledged: initialSequence == nil && segmentCount == 0 && sentEnd == 0)
    }

    /// The first range of bytes that are currently missing, if any: a reported gap, or a gap that can still be filled.
    @inline(__always)
    package var missing: MissingPart? {
        // The list of gaps, which few streams have, is not fetched from memory for other streams.
        if stream.hasGaps, let gap = stream.gaps.first {
            return MissingPart(offset: gap.offset, length: gap.length, cause: gap.cause)
        }
        let known = (stream.hasWaiting ? stream.firstWaitingOffset : nil) ?? fin?.offset
        let acknowledged = acknowledgedEnd.map { min($0, fin?.offset ?? $0) } ?? 0
        guard acknowledged > stream.end || (known ?? 0) > stream.end else { return nil }
        return MissingPart(
            offset: stream.end, length: known.map { $0 - stream.end } ?? (acknowledged - stream.end),
            cause: acknowledged > stream.end ? .notCaptured : nil
        )
    }

    /// Whether there is at least one line, all lines end with CRLF, no line is unfinished, and no bytes are missing.
    @inline(__always)
    var hasWholeLines: Bool {
        stream.lines.crlfCount > 0 && !stream.lines.hasBare && stream.lines.unfinishedLength == 0 && missing == nil
    }

    /// Whether `hasWholeLines` is true and the stream was captured from its beginning.
    @inline(__always)
    var isWholeInLines: Bool { hasWholeLines && initialSequence != nil }

    /// A range of missing bytes of the stream.
    package struct MissingPart: Sendable, Hashable {
        package var offset: Int64
        package var length: Int64
        /// The reason why the bytes are missing; `nil` if the bytes are unacknowledged and may still be retransmitted.
        package var cause: StreamGap.Cause?

        package init(offset: Int64, length: Int64, cause: StreamGap.Cause?) {
            self.offset = offset
            self.length = length
            self.cause = cause
        }
    }

    /// Returns the offset of a sequence number, which is assumed to be less than 2^31 away from what was sent last.
    func offset(of sequence: SequenceNumber) -> Int64? {
        guard let base else { return nil }
        let known = max(sentEnd, acknowledged)
        return known + Int64(sequence - (base + Int(truncatingIfNeeded: known)))
    }

    /// Restarts the stream at another sequence number. The side must have sent nothing but acknowledgments so far.
    mutating func restart(at base: SequenceNumber) {
        self.base = base
        isBaseGuessed = false
        sentEnd = 0
        tailStart = 0
        acknowledged = Int64.min
        duplicateAcks = 0
        if fin != nil { fin = nil }
        if var rst {
            // The RST precedes the beginning of the stream that both sides later agreed on.
            rst.offset = -1
            self.rst = rst
        }
    }

    /// Handles the acknowledgment of any of several SYNs; the peer may accept any of them (RFC 9293, section 3.10.7.3).
    mutating func accept(acknowledgment: SequenceNumber) {
        guard !events.value.otherSYNs.isEmpty else { return }
        guard acknowledgment != base else {
            otherSYNs = []
            return
        }
        guard let chosen = otherSYNs.first(where: { $0.sequence + 1 == acknowledgment }) else { return }
        otherSYNs = []
        restart(at: chosen.sequence + 1)
        noteSYN(chosen.sequence, chosen.options, time: chosen.time)
    }
}

/// The rules that decide whether a packet is new, a repetition or a probe. The first rule that applies decides.
///
/// `sentEnd` is the offset of the end of everything that the side has sent so far. The *tail* is the last segment sent.
///
/// 1. The packet occupies no sequence number. It is a keep-alive if its number is one before `sentEnd` and everything
///    is acknowledged (RFC 9293, section 3.8.4), or a zero-window probe, in the form that Linux sends, if the peer's
///    window is also closed. Otherwise it is a plain control packet.
/// 2. The packet has one byte, which is the one before `sentEnd`, and everything is acknowledged. It is a keep-alive or
///    a zero-window probe, as in rule 1. The byte may have any value and is not part of the stream.
/// 3. The packet has one byte at `sentEnd`, and the peer's window is closed. It is a zero-window probe (RFC 9293,
///    section 3.8.6.1). The byte is part of the stream. The later segment that carries the byte again, followed by more
///    data, is the first transmission.
/// 4. The packet ends after `sentEnd`. It is new, or a retransmission if it also repeats earlier bytes. In the latter
///    case, its new bytes are still a first transmission.
/// 5. The packet fills a gap. It is out of order if it arrives within 3 ms of the tail and the peer has not requested
///    it with three duplicate acknowledgments. Otherwise it is a retransmission of data that was lost before it could
///    be captured.
/// 6. The packet repeats the tail, nothing else of the same flight has been repeated, both SYNs permit SACK, and the
///    year is 2012 or later. It is a tail-loss probe (RFC 8985, sections 7.2 and 7.3) if the time since the tail is at
///    least two round trips, and exceeds them by no more than a sender allows for a delayed acknowledgment. After 200
///    ms, the retransmission timer may have expired as well, so the packet is a retransmission or a probe. In both
///    cases, it turns out to be a retransmission that repaired a loss (RFC 8985, section 7.4) if the peer's response
///    echoes the packet's own timestamp and does not report the bytes as received twice (RFC 7323, section 4.3; RFC
///    2883). A DSACK, or the echo of another timestamp, shows that the original arrived. An acknowledgment alone is not
///    conclusive, because the acknowledgment of the original may cross the probe, and receivers that were busy reading
///    have been observed to send no DSACK. Without a conclusive response, `doubtfulCount` includes the packet.
/// 7. The packet is any other repetition. It is a spurious retransmission if all of it was already acknowledged. It is
///    a fast retransmission (RFC 5681, section 3.2) if it is the first repetition of what three duplicate
///    acknowledgments requested, and follows as soon as the sender can have received them. Otherwise it is a plain
///    retransmission.
extension HalfConnection {
    /// The position of a packet in the stream, derived from its sequence number and length.
    struct Placement {
        var start: Int64
        var payloadStart: Int64
        var payloadLength: Int
        var end: Int64
        var flags: TCPFlags
    }

    /// The largest possible window (RFC 7323, section 2.3).
    static let largestWindow: Int64 = 1 << 30

    private var isAllAcknowledged: Bool { (acknowledgedEnd ?? Int64.min) >= sentEnd }

    /// Applies rules 1 to 3. Returns `nil` if none applies and the segment must be inserted into the stream.
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

    /// The smoothed round-trip time in nanoseconds; 0 if it is unknown.
    var roundTrip: UInt64 { UInt64(roundTripUnits) << 16 }

    /// Adds a round-trip measurement, with the smoothing that senders use (RFC 6298, section 2.3).
    @inline(__always)
    mutating func noteRoundTrip(_ nanoseconds: UInt64) {
        let units = Int(min(max(nanoseconds &>> 16, 1), UInt64(UInt16.max)))
        let known = Int(roundTripUnits)
        roundTripUnits = UInt16(truncatingIfNeeded: known == 0 ? units : max(1, known &+ (units &- known) >> 3))
    }

    /// Records that the peer has acknowledged the stream up to `offset`. `duplicate` is the range that the peer reports
    /// as received twice (RFC 2883), and `echo` is the timestamp that the peer echoes.
    mutating func noteAcknowledgment(_ offset: Int64, duplicate: Range<Int64>?, echo: UInt32?, time: UInt64) {
        // The peer accepted the byte of a zero-window probe.
        if noteNewAcknowledgment(offset, time: time), offset == sentEnd + 1, stream.end >= offset { sentEnd = offset }
        guard var probe = tailProbe else { return }
        if let duplicate, duplicate.overlaps(probe.start..<max(probe.end, probe.start + 1)) {
            settle(probe, wasLost: false)
            tailProbe = nil
        } else if offset >= probe.end, !probe.isTreatedAsRetransmission {
            // Only the first acknowledgment of the tail shows which packet arrived, because a segment sent later may
            // carry the same timestamp.
            tailProbe = nil
            guard let stamp = probe.stamp, let echo else { return }
            settle(probe, wasLost: echo == stamp)
            guard echo == stamp else { return }
            probe.isTreatedAsRetransmission = true
            tailProbe = probe
        }
    }

    /// Records an acknowledgment. Returns `false` if it acknowledges no new data.
    @discardableResult
    @inline(__always)
    mutating func noteNewAcknowledgment(_ offset: Int64, time: UInt64) -> Bool {
        guard offset > (acknowledgedEnd ?? Int64.min) else { return false }
        // The round trip of a segment that was sent twice is not measured, because it is unknown which transmission was
        // acknowledged (Karn's algorithm).
        if offset == sentEnd, !hasProbedTail, time > tailTime { noteRoundTrip(time &- tailTime) }
        acknowledgedEnd = offset
        acknowledgedTime = time
        duplicateAcks = 0
        if offset < sentEnd { hasProbedTail = false }
        return true
    }

    /// Decides for each doubtful repeated segment whether it replaced a lost segment, by comparing the segments that
    /// were sent with the segments that arrived. The original was not lost if its bytes arrived before the repetition
    /// was sent, or if as many repetitions arrived as were sent.
    mutating func settleRepeats(by arrived: borrowing HalfConnection) {
        for index in repeats.indices where repeats[index].isDoubtful {
            let repeated = repeats[index]
            let end = repeated.offset + Int64(repeated.length)
            let first = arrived.segments.first { $0.offset < end && $0.end > repeated.offset }
            // The bytes have not arrived yet, or the repeated segment is a FIN without data.
            guard let first else { continue }
            let sent = repeats.count { $0.offset == repeated.offset }
            let repeatCount = arrived.repeats.count { $0.offset == repeated.offset }
            let wasLost = first.time >= repeated.time && repeatCount < sent
            repeats[index].isDoubtful = false
            recovery.doubtful -= 1
            if repeated.kind == .tailLossProbe { recovery.probes -= 1 } else { recovery.undecided -= 1 }
            if wasLost { retransmissionCount += 1 } else { recovery.probes += 1 }
            repeats[index].kind = wasLost ? .retransmission : .tailLossProbe
        }
    }

    /// Records whether the tail was lost, as shown by a response from the peer. The repeated segment is moved from one
    /// count to another, so that it is counted only once.
    private mutating func settle(_ probe: TailProbe, wasLost: Bool) {
        if probe.isTreatedAsRetransmission {
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

/// The handling of header fields other than the sequence number.
extension HalfConnection {
    mutating func noteSYN(_ tcp: DecodedTCP, time: UInt64) {
        if tcp.flags.contains(.urg), let start = offset(of: tcp.sequence) {
            let end = start + Int64(tcp.urgentPointer)
            if urgentOffsets.last != end, urgentOffsets.count < limits.keptEvents { urgentOffsets.append(end) }
        }
        guard tcp.isSYN, synTime == nil else { return }
        noteSYN(tcp.sequence, tcp.options, time: time)
    }

    /// Returns the offset up to which a packet from the other side acknowledges this stream; `nil` without a valid ACK.
    mutating func acknowledgedOffset(by tcp: DecodedTCP) -> Int64? {
        guard tcp.flags.contains(.ack) else { return nil }
        // Even if a SYN-ACK was captured before the SYN, the number that it acknowledges is certain.
        if base == nil, !tcp.flags.contains(.rst) {
            base = tcp.acknowledgment
            // If only one direction was captured, offsets count from the first acknowledged number.
            isBaseGuessed = !tcp.isSYN
        }
        if !tcp.isSYN, segmentCount == 0, !tcp.flags.contains(.rst) { accept(acknowledgment: tcp.acknowledgment) }
        guard let acknowledged = offset(of: tcp.acknowledgment) else { return nil }
        // An acknowledgment of more data than any window can have allowed is forged or corrupted, so it is ignored.
        return acknowledged <= max(sentEnd, acknowledgedEnd ?? 0) + Self.largestWindow ? acknowledged : nil
    }

    /// Returns the range that a DSACK reports (RFC 2883, section 4). The DSACK is the first SACK block, if that block is
    /// below the acknowledgment number or inside the second block.
    func duplicateRange(_ tcp: DecodedTCP, acknowledged: Int64) -> Range<Int64>? {
        guard let first = tcp.options.sack.first, let start = offset(of: first.start), let end = offset(of: first.end),
            start < end
        else { return nil }
        if end <= acknowledged { return start..<end }
        guard let second = tcp.options.sack.second, let outerStart = offset(of: second.start),
            let outerEnd = offset(of: second.end), outerStart <= start, end <= outerEnd
        else { return nil }
        return start..<end
    }

    /// Returns whether a packet from the other side reports that bytes of this stream arrived after a gap. A SACK block
    /// (RFC 2018, section 3) that is not a DSACK is such a report.
    func reportsGap(_ tcp: DecodedTCP, acknowledged: Int64?) -> Bool {
        guard tcp.options.sack.first != nil, let acknowledged else { return false }
        return duplicateRange(tcp, acknowledged: acknowledged) == nil || tcp.options.sack.second != nil
    }

    mutating func noteClose(_ place: Placement, acknowledged: Int64?, time: UInt64, index: Int) {
        if place.flags.contains(.fin), fin == nil, !isOutOfWindow(place) {
            fin = CloseMark(time: time, packetIndex: index, offset: place.end - 1, acknowledged: acknowledged)
        }
    }

    /// Records an RST that this side sent.
    ///
    /// - Parameters:
    ///   - isFirst: whether nothing was known about this side's sequence numbers before the RST.
    ///   - isBaseKnown: whether earlier packets determined `base`.
    ///   - peer: the receiver of the RST.
    mutating func noteRST(
        _ place: Placement, acknowledged: Int64?, isFirst: Bool, isBaseKnown: Bool, peer: borrowing HalfConnection,
        time: UInt64, index: Int
    ) {
        var mark = CloseMark(time: time, packetIndex: index, offset: place.start, acknowledged: acknowledged)
        // A side that has sent a SYN accepts only an RST that acknowledges the SYN (RFC 9293, section 3.10.7.3).
        let isAnswer = acknowledged.map { $0 >= 0 && $0 <= peer.sentEnd } ?? false
        if isFirst && peer.initialSequence != nil ? !isAnswer : isBaseKnown && !isExpected(place) {
            mark.refusal = .outsideWindow
            if refusedRST == nil { refusedRST = mark }
        } else if rst == nil {
            rst = mark
            resetWatch = ResetWatch(peerEnd: peer.base == nil || peer.isBaseGuessed ? -1 : peer.sentEnd)
        }
    }

    /// Returns whether an RST may have the sequence number that the receiver expects next (RFC 5961, section 3.2). The
    /// receiver has received all acknowledged bytes, and may have received any of the bytes that were sent after them.
    private func isExpected(_ place: Placement) -> Bool {
        place.start <= max(sentEnd, acknowledgedEnd ?? 0) && place.start >= acknowledgedEnd ?? Int64.min
    }

    /// Examines a packet that follows an RST from this side. If both sides continue, the RST was ignored.
    ///
    /// - Parameters:
    ///   - own: the position of the packet in this side's stream; `nil` if the peer sent it.
    ///   - peer: the position of the packet in the peer's stream; `nil` if this side sent it.
    ///   - acknowledged: the offset up to which the packet acknowledges data.
    mutating func watchReset(own: Placement?, peer: Placement?, acknowledged: Int64?) {
        guard let rst, var watch = resetWatch else { return }
        watch.note(rst, own: own, peer: peer, acknowledged: acknowledged)
        resetWatch = watch
        guard watch.hasSenderContinued, watch.hasPeerContinued else { return }
        self.rst = nil
        resetWatch = nil
        guard refusedRST == nil else { return }
        var ignored = rst
        ignored.refusal = .ignored
        refusedRST = ignored
    }

    /// Returns a side's window shift: 0 unless both SYNs have the option (RFC 7323, section 2.2); `nil` if unknown.
    static func windowShift(own: SYNCapabilities?, peer: SYNCapabilities?) -> UInt8? {
        // One SYN without the window scale option is enough to know that no window is scaled.
        if let own, own.windowScale == nil { return 0 }
        if let peer, peer.windowScale == nil { return 0 }
        guard let shift = own?.windowScale, peer != nil else { return nil }
        return min(shift, 14)
    }

    mutating func finish() {
        let acknowledged = acknowledgedEnd.map { min($0, fin?.offset ?? $0) }
        // The number that acknowledges the FIN is one more than the stream's length.
        stream.finish(lastOffset: fin?.offset ?? acknowledged)
    }
}

extension HalfConnection {
    /// Adds the payload of a packet to the stream, and the packet to the lists of segments.
    mutating func take(
        _ tcp: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int, isPeerWindowShut: Bool, isSACKInUse: Bool
    ) -> Taken {
        packetCount += 1
        payloadLength += Int64(tcp.payloadLength)
        var hasRestarted = false
        let isSYN = tcp.isSYN
        let first = isSYN ? tcp.sequence + 1 : tcp.sequence
        if base == nil {
            base = first
            isBaseGuessed = tcp.flags.contains(.rst)
        } else if isBaseGuessed, !tcp.flags.contains(.rst) {
            // The sender's own packets take precedence over an RST and over the other side's acknowledgments.
            restart(at: first)
            hasRestarted = true
        } else if isSYN, base != first {
            if initialSequence == nil, segmentCount == 0 {
                // A packet before the SYN (from a split handshake, or forged) does not show where the stream begins.
                restart(at: first)
                hasRestarted = true
            } else if let kind = otherSYN(tcp, time: time) {
                let place = Placement(
                    start: -1, payloadStart: 0, payloadLength: tcp.payloadLength, end: 0, flags: tcp.flags)
                return Taken(kind: kind, place: place, hasConflict: false, stamp: tcp.options.timestamp?.value)
            }
        }
        let start = offset(of: tcp.sequence) ?? 0
        let payloadStart = isSYN ? start + 1 : start
        let payloadEnd = payloadStart + Int64(tcp.payloadLength)
        let place = Placement(
            start: start, payloadStart: payloadStart, payloadLength: tcp.payloadLength,
            end: payloadEnd + (tcp.flags.contains(.fin) ? 1 : 0), flags: tcp.flags
        )
        var taken = Taken(
            kind: .control, place: place, hasConflict: false, stamp: tcp.options.timestamp?.value)
        taken.hasRestarted = hasRestarted
        if isOutOfWindow(place) {
            taken.kind = tcp.flags.contains(.rst) ? .control : .outOfWindow
        } else if tcp.flags.contains(.rst) {
            insertResetText(payload, place: place, time: time, index: index, into: &taken)
        } else if let kind = probeKind(place, isPeerWindowShut: isPeerWindowShut) {
            taken.kind = kind
            if kind != .control { keepRepeat(taken, time: time, index: index) }
        } else if isZeroWindowData(place, isPeerWindowShut: isPeerWindowShut) {
            taken.kind = .zeroWindowProbe
            taken.hasConflict = stream.insert(payload, at: payloadStart, wireLength: place.payloadLength).hasConflict
            keepRepeat(taken, time: time, index: index)
        } else {
            insert(payload, isSACKInUse: isSACKInUse, time: time, index: index, into: &taken)
        }
        return taken
    }

    struct Taken {
        var kind: SegmentKind
        var place: Placement
        var hasConflict: Bool
        /// The packet's timestamp option (RFC 7323, section 3).
        var stamp: UInt32?
        /// Whether the packet restarted the stream.
        var hasRestarted = false
    }

    private static let maxOtherSYNs = 16

    /// Classifies a SYN whose sequence number differs from that of the first SYN. The peer may accept such a SYN if it
    /// has not accepted any SYN yet. Returns `nil` if the sequence number is the same, or no earlier SYN is known.
    private mutating func otherSYN(_ tcp: DecodedTCP, time: UInt64) -> SegmentKind? {
        guard let initialSequence, initialSequence != tcp.sequence else { return nil }
        guard segmentCount == 0, fin == nil, (acknowledgedEnd ?? -1) < 0 else { return .outOfWindow }
        noteRepeatedSYN()
        if otherSYNs.contains(where: { $0.sequence == tcp.sequence }) {
            retransmissionCount += 1
            return .retransmission
        }
        guard otherSYNs.count < Self.maxOtherSYNs else { return .outOfWindow }
        otherSYNs.append(OtherSYN(sequence: tcp.sequence, options: tcp.options, time: time))
        return .new
    }

    private mutating func insert(
        _ payload: Span<UInt8>, isSACKInUse: Bool, time: UInt64, index: Int, into taken: inout Taken
    ) {
        let place = taken.place
        let isFirstSYN = place.flags.contains(.syn) && synTime == nil
        var addition = StreamAssembler.Addition()
        if place.payloadLength > 0 {
            addition = stream.insert(
                payload, at: place.payloadStart, wireLength: place.payloadLength, received: receivedEnd)
            taken.hasConflict = addition.hasConflict
        }
        let isCut = payload.count < place.payloadLength
        if place.end > sentEnd || isFirstSYN {
            // The sender may have combined repeated and new bytes into one segment.
            let isPartlyRepeated = place.payloadLength > 0 && place.payloadStart < sentEnd
            taken.kind =
                isPartlyRepeated
                ? (RepeatRules.isFast(place, in: self, at: time) ? .fastRetransmission : .retransmission) : .new
            if isPartlyRepeated {
                retransmissionCount += 1
                noteRecovery(place)
            }
            // Repeated bytes are not part of the first transmission, except for the byte of a zero-window probe. Bytes
            // that fill a gap are part of the first transmission.
            var from = max(place.payloadStart, sentEnd)
            if addition.newLength > 0 { from = min(from, addition.newOffset) }
            let length = Int(place.payloadStart + Int64(place.payloadLength) - from)
            if length > 0 {
                keep(
                    DataSegment(
                        time: time, packetIndex: index, offset: from, length: length, isCut: isCut, kind: taken.kind))
            }
            if place.end > sentEnd {
                tailStart = max(place.start, sentEnd)
                tailStamp = taken.stamp
            }
            tailTime = max(tailTime, time)
            sentEnd = max(sentEnd, place.end)
            hasProbedTail = false
        } else if addition.newLength > 0 {
            taken.kind = RepeatRules.lateKind(place, in: self, at: time)
            keep(
                DataSegment(
                    time: time, packetIndex: index, offset: addition.newOffset,
                    length: Int(addition.newEnd - addition.newOffset),
                    isCut: isCut, kind: taken.kind))
            if taken.kind.isRetransmission {
                retransmissionCount += 1
                hasProbedTail = true
                noteRecovery(place)
            }
        } else {
            taken.kind = RepeatRules.repeatKind(place, in: self, at: time, isSACKInUse: isSACKInUse)
            keepRepeat(taken, time: time, index: index)
        }
    }

    /// The offset up to which the peer has received the stream, even if the capture does not contain the bytes;
    /// `Int64.min` if nothing is acknowledged or the acknowledgment exceeds what was sent.
    private var receivedEnd: Int64 {
        guard let acknowledgedEnd, acknowledgedEnd <= sentEnd else { return Int64.min }
        return acknowledgedEnd
    }

    /// Stops waiting for missing bytes that the peer has acknowledged. Called when the total memory is used up.
    mutating func giveUpReceived() {
        stream.giveUp(upTo: receivedEnd)
    }

    /// Inserts the text of an RST (RFC 1122, section 4.2.2.12). As in other tools, the text is treated as data, but it
    /// does not advance `sentEnd`.
    private mutating func insertResetText(
        _ payload: Span<UInt8>, place: Placement, time: UInt64, index: Int, into taken: inout Taken
    ) {
        guard place.payloadLength > 0 else { return }
        let addition = stream.insert(payload, at: place.payloadStart, wireLength: place.payloadLength)
        taken.hasConflict = addition.hasConflict
        guard addition.newLength > 0 else { return }
        keep(
            DataSegment(
                time: time, packetIndex: index, offset: addition.newOffset,
                length: Int(addition.newEnd - addition.newOffset), isCut: payload.count < place.payloadLength,
                kind: .new))
    }

    private mutating func keep(_ segment: DataSegment) {
        segmentCount += 1
        largestSegment = max(largestSegment, segment.length)
        if segment.isCut { hasCutSegment = true }
        if segments.count < limits.keptSegments { segments.append(segment) }
    }

    /// Records that a segment was sent again. Until all data sent so far is acknowledged, no other repeated segment is
    /// considered a probe.
    private mutating func noteRecovery(_ place: Placement) {
        recovery.lastStart = place.start
        recovery.end = max(recovery.end, sentEnd)
    }

    private mutating func keepRepeat(_ taken: Taken, time: UInt64, index: Int) {
        let isSYN = taken.place.flags.contains(.syn)
        if taken.kind.isRetransmission {
            retransmissionCount += 1
            hasProbedTail = true
            noteRecovery(taken.place)
            if isSYN { noteRepeatedSYN() }
        }
        let hasRoom = repeats.count < limits.keptEvents
        let isProbe = taken.kind == .tailLossProbe || taken.kind == .retransmissionOrProbe
        if isProbe {
            hasProbedTail = true
            noteRecovery(taken.place)
            if taken.kind == .tailLossProbe { recovery.probes += 1 } else { recovery.undecided += 1 }
            recovery.doubtful += 1
            tailProbe = TailProbe(
                repeatIndex: hasRoom ? repeats.count : nil, start: taken.place.start, end: taken.place.end,
                stamp: taken.stamp == tailStamp ? nil : taken.stamp, kind: taken.kind)
        }
        guard hasRoom else { return }
        repeats.append(
            RepeatedSegment(
                time: time, packetIndex: index, offset: isSYN ? taken.place.start : taken.place.payloadStart,
                length: taken.place.payloadLength, kind: taken.kind,
                hasConflict: taken.hasConflict && taken.kind != .keepAlive, isDoubtful: isProbe))
    }
}

/// A tail-loss probe (RFC 8985, section 7) for which it is not yet known whether it replaced a lost segment.
struct TailProbe: Sendable {
    /// The index of the probe in `repeats`; `nil` if it is not listed there because of the limits.
    var repeatIndex: Int?
    var start: Int64
    var end: Int64
    /// The probe's timestamp; `nil` if the tail has the same timestamp, because the peer's echo would then not show
    /// which of the two packets arrived.
    var stamp: UInt32?
    /// The kind of segment that was assumed when the probe was captured.
    var kind = SegmentKind.tailLossProbe
    var isTreatedAsRetransmission = false
}
