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
