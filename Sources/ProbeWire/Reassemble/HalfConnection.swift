/// One direction of a TCP connection: what its sender sent and what it announced.
///
/// Offsets are in the stream: 0 is the first byte behind the SYN, -1 the SYN itself, the stream's length the FIN. Where no SYN
/// was captured, 0 is the first sequence number seen.
package struct HalfConnection: Sendable {
    // With thousands of flows at once, time goes into fetching them from memory, a cache line of 64 bytes at a time. The first line
    // here is what each packet from either side touches, the next two what data touches; what is seldom looked at follows.

    /// Behind the highest sequence number sent, SYN and FIN counted.
    var sentEnd: Int64 = 0
    /// `acknowledgedEnd`, or the least value if it is nil.
    private(set) var acknowledged = Int64.min
    var acknowledgedTime: UInt64 = 0
    /// The sequence number of offset 0.
    var base: SequenceNumber?
    /// One probe a tail, and none in a recovery (RFC 8985 7.3): what is repeated after it is a retransmission.
    var hasProbedTail = false
    /// While any of them holds, no packet takes the fast path.
    private(set) var conditions = Conditions()
    /// In a row, for `acknowledgedEnd`.
    var duplicateAcks: UInt32 = 0
    /// A segment among the first transmissions was cut short by the capture.
    package internal(set) var hasCutSegment = false
    /// The smoothed time from a segment to its acknowledgment, in units of 2^16 nanoseconds; 0 if it is not known.
    var roundTripUnits: UInt16 = 0
    /// When, and with which first offset, the packet left that moved `sentEnd` last.
    var tailTime: UInt64 = 0
    package internal(set) var window = WindowHistory()
    var tailStart: Int64 = 0
    var tailStamp: UInt32?
    package internal(set) var packetCount = 0
    /// Payload on the wire, repeated segments too.
    package internal(set) var payloadLength: Int64 = 0
    package internal(set) var segmentCount = 0
    package internal(set) var largestSegment = 0
    package internal(set) var stream: StreamAssembler
    private var events = ColdStorage<Events>()
    // Nearly every flow has these, but few packets look at them.

    package private(set) var synTime: UInt64?
    /// The SYN's sequence number.
    package private(set) var initialSequence: SequenceNumber?
    /// What the SYN's options permit.
    private(set) var synAbilities: SYNAbilities?
    package internal(set) var fin: CloseMark?
    package internal(set) var retransmissionCount = 0

    struct Conditions: OptionSet {
        let rawValue: UInt8
        /// A probe's answer is still to come or may still be corrected.
        static let probing = Conditions(rawValue: 1)
        /// The other side was the only one to say where the stream is: its own packets replace that.
        static let baseGuessed = Conditions(rawValue: 2)
        /// There was an RST that counts; `rst` has it.
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

    struct SYNAbilities: Sendable {
        let isSACKPermitted: Bool
        /// As sent.
        let windowScale: UInt8?
    }

    /// What few flows have.
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

    /// What the sender's packets without data have said.
    package struct AckSignals: Sendable {
        /// That repeat the one before, while data is on its way (RFC 5681 2).
        package var duplicates = 0
        /// With blocks behind a gap (RFC 2018 3); one whose only block is a DSACK (RFC 2883) is none.
        package var sacks = 0
        /// Probes whether the peer is there (RFC 9293 3.8.4).
        package var keepAlives = 0
    }

    init(limits: ConversationLimits) {
        stream = StreamAssembler(limits: limits)
    }

    // Inlined always: called, it makes a copy of all of the half connection for each packet.
    @inline(__always)
    var limits: ConversationLimits { stream.limits }

    struct TailProbe: Sendable {
        /// In `repeats`; nil where the limits kept it out.
        var repeatIndex: Int?
        var start: Int64
        var end: Int64
        /// Its timestamp, where that differs from the tail's: only then an echo tells the two apart.
        var stamp: UInt32?
        /// What it was taken for when it was seen.
        var kind = SegmentKind.tailLossProbe
        var isTakenForRetransmission = false
    }

    /// The highest offset that the peer acknowledged; one more than the last byte when that was the FIN.
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

    /// First transmissions, in the order in which they were captured.
    package internal(set) var segments: [DataSegment] {
        _read { yield events.value.segments }
        _modify { yield &events.value.segments }
    }

    mutating func noteSYN(_ sequence: SequenceNumber, _ options: TCPOptions, time: UInt64) {
        synTime = time
        initialSequence = sequence
        synAbilities = SYNAbilities(isSACKPermitted: options.isSACKPermitted, windowScale: options.windowScale)
    }

    package internal(set) var rst: CloseMark? {
        get { hasRST ? events.value.rst : nil }
        set {
            guard hasRST || newValue != nil else { return }
            events.value.rst = newValue
            conditions[.reset] = newValue != nil
        }
    }

    /// The first RST that its receiver did not obey.
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

    /// SYNs that the peer may accept instead of the first one.
    var otherSYNs: [OtherSYN] {
        _read { yield events.value.otherSYNs }
        _modify { yield &events.value.otherSYNs }
    }

    /// The SYN was sent more than once: which one was answered is not known.
    package var hasRepeatedSYN: Bool { events.value.hasRepeatedSYN }

    /// Packets that the capture holds once more; they are counted nowhere else.
    package internal(set) var copyCount: Int {
        get { events.value.copies }
        set { events.value.copies = newValue }
    }

    /// The copies that are bare acknowledgments, which may really have been sent twice.
    var unsureCopyCount: Int {
        get { events.value.unsureCopies }
        set { events.value.unsureCopies = newValue }
    }

    mutating func noteRepeatedSYN() { events.value.hasRepeatedSYN = true }

    /// Tail-loss probes, as far as they can be told from retransmissions.
    package var probeCount: Int { recovery.probes }
    /// Repeats that are either.
    package var undecidedCount: Int { recovery.undecided }
    /// Probes, or what may be one, that may have replaced a segment that was lost.
    package var doubtfulCount: Int { recovery.doubtful }

    package internal(set) var repeats: [RepeatedSegment] {
        _read { yield events.value.repeats }
        _modify { yield &events.value.repeats }
    }

    /// Offsets behind the urgent data, one for each value of the urgent pointer (RFC 6093: it points behind it).
    package internal(set) var urgentOffsets: [Int64] {
        _read { yield events.value.urgentOffsets }
        _modify { yield &events.value.urgentOffsets }
    }
    package internal(set) var signals: AckSignals {
        _read { yield events.value.signals }
        _modify { yield &events.value.signals }
    }

    /// All that was sent is known and no more can come: a FIN was seen and every byte before it.
    package var isComplete: Bool {
        guard let fin else { return false }
        return stream.end >= fin.offset && !stream.hasWaiting
    }

    /// What tells whether a SYN belongs to this connection or to the next one between the same endpoints.
    struct Opening {
        let initialSequence: SequenceNumber?
        let base: SequenceNumber?
        let segmentCount: Int
        /// Nothing of the stream and no SYN was seen from this side.
        let hasOnlyAcknowledged: Bool
    }

    @inline(__always)
    var opening: Opening {
        Opening(
            initialSequence: initialSequence, base: isBaseGuessed ? nil : base, segmentCount: segmentCount,
            hasOnlyAcknowledged: initialSequence == nil && segmentCount == 0 && sentEnd == 0)
    }

    /// The first bytes that are missing now, if any are: a gap that was reported, or one that can still be filled.
    @inline(__always)
    package var missing: MissingPart? {
        // What few streams have is not fetched from memory for the others.
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

    /// Lines are there, all end with CRLF, none is unfinished, and no byte is missing.
    @inline(__always)
    var hasWholeLines: Bool {
        stream.lines.crlfCount > 0 && !stream.lines.hasBare && stream.lines.unfinishedLength == 0 && missing == nil
    }

    /// As `hasWholeLines`, and the capture holds the stream from its beginning on.
    @inline(__always)
    var isWholeInLines: Bool { hasWholeLines && initialSequence != nil }

    /// Bytes that a judge must do without.
    package struct MissingPart: Sendable, Hashable {
        package var offset: Int64
        package var length: Int64
        /// nil: the peer has not acknowledged them either, they may still be sent again.
        package var cause: StreamGap.Cause?

        package init(offset: Int64, length: Int64, cause: StreamGap.Cause?) {
            self.offset = offset
            self.length = length
            self.cause = cause
        }
    }

    /// Where a sequence number lies in the stream; right as long as it is less than 2^31 away from what was sent last.
    func offset(of sequence: SequenceNumber) -> Int64? {
        guard let base else { return nil }
        let known = max(sentEnd, acknowledged)
        return known + Int64(sequence - (base + Int(truncatingIfNeeded: known)))
    }

    /// Counts the stream from another sequence number on; nothing but acknowledgments has been seen in it.
    mutating func restart(at base: SequenceNumber) {
        self.base = base
        isBaseGuessed = false
        sentEnd = 0
        tailStart = 0
        acknowledged = Int64.min
        duplicateAcks = 0
        if fin != nil { fin = nil }
        if var rst {
            // It is before the stream that both sides have agreed on since.
            rst.offset = -1
            self.rst = rst
        }
    }

    /// The peer acknowledged another SYN than the first one: RFC 9293 3.10.7.3 lets it choose.
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

/// What the header of a packet says besides its sequence number.
extension HalfConnection {
    mutating func noteSYN(_ tcp: DecodedTCP, time: UInt64) {
        if tcp.flags.contains(.urg), let start = offset(of: tcp.sequence) {
            let end = start + Int64(tcp.urgentPointer)
            if urgentOffsets.last != end, urgentOffsets.count < limits.keptEvents { urgentOffsets.append(end) }
        }
        guard tcp.isSYN, synTime == nil else { return }
        noteSYN(tcp.sequence, tcp.options, time: time)
    }

    /// Where the acknowledgment of a packet from the other side lies in this stream.
    mutating func acknowledgedOffset(by tcp: DecodedTCP) -> Int64? {
        guard tcp.flags.contains(.ack) else { return nil }
        // The SYN-ACK was captured before its SYN: what it acknowledges is certain all the same.
        if base == nil, !tcp.flags.contains(.rst) {
            base = tcp.acknowledgment
            // In a capture of one direction, acknowledgments are counted from the first one.
            isBaseGuessed = !tcp.isSYN
        }
        if !tcp.isSYN, segmentCount == 0, !tcp.flags.contains(.rst) { accept(acknowledgment: tcp.acknowledgment) }
        guard let acknowledged = offset(of: tcp.acknowledgment) else { return nil }
        // What was never sent within any window cannot be acknowledged: a forged or damaged number.
        return acknowledged <= max(sentEnd, acknowledgedEnd ?? 0) + Self.largestWindow ? acknowledged : nil
    }

    /// The range that a DSACK reports (RFC 2883 4): the first block, where it lies below the acknowledgment or inside the
    /// second block.
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

    /// Whether a packet from the other side says that something of this stream came behind a gap: it has a SACK block (RFC 2018 3) beside the
    /// range that a DSACK reports.
    func reportsGap(_ tcp: DecodedTCP, acknowledged: Int64?) -> Bool {
        guard tcp.options.sack.first != nil, let acknowledged else { return false }
        return duplicateRange(tcp, acknowledged: acknowledged) == nil || tcp.options.sack.second != nil
    }

    mutating func noteClose(_ place: Placement, acknowledged: Int64?, time: UInt64, index: Int) {
        if place.flags.contains(.fin), fin == nil, !isOutOfWindow(place) {
            fin = CloseMark(time: time, packetIndex: index, offset: place.end - 1, acknowledged: acknowledged)
        }
    }

    /// - Parameters:
    ///   - isFirst: no packet before this one says anything about its sender.
    ///   - isBaseKnown: packets before this one showed where the stream is.
    ///   - peer: the receiver.
    mutating func noteRST(
        _ place: Placement, acknowledged: Int64?, isFirst: Bool, isBaseKnown: Bool, peer: borrowing HalfConnection,
        time: UInt64, index: Int
    ) {
        var mark = CloseMark(time: time, packetIndex: index, offset: place.start, acknowledged: acknowledged)
        // A side that has sent a SYN accepts only an RST that acknowledges it (RFC 9293 3.10.7.3).
        let isAnswer = acknowledged.map { $0 >= 0 && $0 <= peer.sentEnd } ?? false
        if isFirst && peer.initialSequence != nil ? !isAnswer : isBaseKnown && !isExpected(place) {
            mark.refusal = .outsideWindow
            if refusedRST == nil { refusedRST = mark }
        } else if rst == nil {
            rst = mark
            resetWatch = ResetWatch(peerEnd: peer.base == nil || peer.isBaseGuessed ? -1 : peer.sentEnd)
        }
    }

    /// RFC 5961 3.2: an RST must have the sequence number that its receiver expects next. What has been acknowledged is received, and what
    /// has been sent may have been.
    private func isExpected(_ place: Placement) -> Bool {
        place.start <= max(sentEnd, acknowledgedEnd ?? 0) && place.start >= acknowledgedEnd ?? Int64.min
    }

    /// A packet after an RST of this side. One that both sides go on after was ignored.
    ///
    /// - Parameters:
    ///   - own: what this side sent, nil if the peer sent the packet.
    ///   - peer: what the peer sent.
    ///   - acknowledged: what the packet acknowledges.
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

    /// RFC 7323 2.2: windows are scaled only where both SYNs have the option, and by 14 at most. nil where that is not known.
    static func windowShift(own: SYNAbilities?, peer: SYNAbilities?) -> UInt8? {
        // One SYN without the option is enough to know that nothing is scaled.
        if let own, own.windowScale == nil { return 0 }
        if let peer, peer.windowScale == nil { return 0 }
        guard let shift = own?.windowScale, peer != nil else { return nil }
        return min(shift, 14)
    }

    mutating func finish() {
        let acknowledged = acknowledgedEnd.map { min($0, fin?.offset ?? $0) }
        // Behind a FIN's sequence number an acknowledgment is one more than the stream's length.
        stream.finish(lastOffset: fin?.offset ?? acknowledged)
    }
}

extension HalfConnection {
    /// Takes the sequence space of one packet: the payload goes into the stream and the packet into the lists.
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
            // What its own packets say counts, and not an RST, or what the other side acknowledges.
            restart(at: first)
            hasRestarted = true
        } else if isSYN, base != first {
            if initialSequence == nil, segmentCount == 0 {
                // What came before the SYN (an acknowledgment in a split handshake, a forged FIN) does not say where the stream begins.
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
        /// The packet's timestamp (RFC 7323 3).
        var stamp: UInt32?
        /// It began the stream anew.
        var hasRestarted = false
    }

    private static let mostOtherSYNs = 16

    /// A SYN with another sequence number than the first one: the peer may accept it as long as it has accepted none. Nil if nothing is known
    /// that it differs from.
    private mutating func otherSYN(_ tcp: DecodedTCP, time: UInt64) -> SegmentKind? {
        guard let initialSequence, initialSequence != tcp.sequence else { return nil }
        guard segmentCount == 0, fin == nil, (acknowledgedEnd ?? -1) < 0 else { return .outOfWindow }
        noteRepeatedSYN()
        if otherSYNs.contains(where: { $0.sequence == tcp.sequence }) {
            retransmissionCount += 1
            return .retransmission
        }
        guard otherSYNs.count < Self.mostOtherSYNs else { return .outOfWindow }
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
            // A part of it was sent before: it was put together anew from what is repeated and what is new.
            let isPartlyRepeated = place.payloadLength > 0 && place.payloadStart < sentEnd
            taken.kind =
                isPartlyRepeated
                ? (RepeatRules.isFast(place, in: self, at: time) ? .fastRetransmission : .retransmission) : .new
            if isPartlyRepeated {
                retransmissionCount += 1
                noteRecovery(place)
            }
            // What it repeats is not counted, but for the byte of a zero-window probe; a hole that it fills is.
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

    /// The peer has received all before it, the capture's gaps as well; what was never sent it can't have received.
    private var receivedEnd: Int64 {
        guard let acknowledgedEnd, acknowledgedEnd <= sentEnd else { return Int64.min }
        return acknowledgedEnd
    }

    /// The memory of all connections together is used up: what the peer has received is waited for no longer.
    mutating func giveUpReceived() {
        stream.giveUp(upTo: receivedEnd)
    }

    /// A reset may carry text (RFC 1122 4.2.2.12). Other readers count it as data, and so does this one; but it says nothing
    /// about how far its sender had come.
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

    /// Something was sent again: until all that had been sent by then is acknowledged, no other repeat is a probe.
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
