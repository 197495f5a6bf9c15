import ProbeBase

/// Identifies one direction of a TCP connection by its addresses and ports.
struct LinkStreamKey: Hashable {
    private var words: (UInt64, UInt64, UInt64, UInt64)
    private var ports: UInt32

    /// Creates the key of a frame's direction.
    ///
    /// - Parameter isReversed: whether to create the key of the opposite direction.
    init(_ frame: [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP, isReversed: Bool = false) {
        let addresses = view.addresses
        let half = addresses.count / 2
        func word(_ place: Int, _ count: Int) -> UInt64 {
            var value: UInt64 = 0
            for at in place..<place + count { value = value << 8 | UInt64(frame[at]) }
            return value
        }
        let size = min(half, 8)
        var source = (word(addresses.lowerBound, size), half == 16 ? word(addresses.lowerBound + 8, 8) : 0)
        var destination = (
            word(addresses.lowerBound + half, size), half == 16 ? word(addresses.lowerBound + half + 8, 8) : 0
        )
        if isReversed { swap(&source, &destination) }
        words = (source.0, source.1, destination.0, destination.1)
        ports = isReversed ? tcp.ports << 16 | tcp.ports >> 16 : tcp.ports
    }

    static func == (one: Self, other: Self) -> Bool { one.words == other.words && one.ports == other.ports }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.2)
        hasher.combine(ports)
    }
}

/// One direction of a connection, as observed by a link.
///
/// Sequence numbers are compared by their signed difference (RFC 9293, section 3.4).
struct LinkStream {
    /// The sequence number after the last byte that has been sent.
    private(set) var next: UInt32
    /// The sequence number of the SYN; `nil` if the link did not observe it.
    private(set) var initial: UInt32?
    private(set) var hasFIN = false
    /// The last acknowledgment number that the sender sent. It acknowledges data of the opposite direction.
    private(set) var acknowledged: UInt32?
    /// The window field of the last segment, before scaling.
    private(set) var window: UInt16 = 0
    /// The window scale, as a shift count; `nil` if it is not known.
    private(set) var scale: UInt8?
    /// The value and the echo of the last timestamps option (RFC 7323); `nil` if no segment contained the option.
    private(set) var timestamps: (value: UInt32, echo: UInt32)?
    /// The sequence number up to which everything has been delivered to the receiver without a gap.
    private(set) var delivered: UInt32?
    /// The ranges of sequence numbers that arrived out of order, after a gap.
    private var beyond: [(start: UInt32, end: UInt32)] = []
    /// A frame of this direction, from which addresses and ports are copied into frames that the link creates.
    let model: [UInt8]
    let modelView: LinkFrame

    /// How a segment relates to the segments that were sent before it.
    struct SegmentNovelty {
        /// Whether the segment has payload that was not sent before.
        var bringsData = false
        /// Whether the segment has payload that was sent before, and no other payload.
        var repeatsData = false
        var isNewSYN = false
        var isNewFIN = false
        /// Whether the segment is a keep-alive probe: its sequence number is one less than that of the next new byte,
        /// and the segment carries nothing new (RFC 9293, section 3.8.4).
        var isKeepAlive = false
    }

    /// The side that sends in this direction.
    let side: LinkSide
    /// The key of the opposite direction.
    let peer: LinkStreamKey
    /// The position of this direction in the order in which directions were first seen.
    let order: Int
    /// Whether either peer, or the link, has reset the connection.
    var isReset = false

    init(
        _ frame: [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP, from side: LinkSide, peer: LinkStreamKey, order: Int
    ) {
        next = tcp.sequence
        self.side = side
        self.peer = peer
        self.order = order
        // Only the headers are kept: the frame may be kept for a long time, and its payload is not needed.
        model = Array(frame[..<tcp.payload])
        modelView = view
    }

    static func isBefore(_ one: UInt32, _ other: UInt32) -> Bool { Int32(bitPattern: one &- other) < 0 }

    /// Processes a segment as its sender sent it.
    ///
    /// - Parameter peer: the last acknowledgment number that the other side sent for this direction.
    mutating func send(_ frame: [UInt8], _ tcp: LinkFrame.TCP, acknowledgedByPeer peer: UInt32?) -> SegmentNovelty {
        var novelty = SegmentNovelty()
        if tcp.hasSYN {
            novelty.isNewSYN = initial != tcp.sequence
            if novelty.isNewSYN {
                // The SYN begins a new connection with the same addresses and ports.
                (initial, next, hasFIN, delivered, beyond) = (tcp.sequence, tcp.sequence, false, nil, [])
                isReset = false
                (acknowledged, scale, timestamps) = (nil, nil, nil)
            }
        }
        let start = tcp.sequence &+ (tcp.hasSYN ? 1 : 0)
        let end = start &+ UInt32(tcp.payloadLength)
        novelty.isKeepAlive =
            !tcp.hasSYN && !tcp.hasFIN && !tcp.hasRST && tcp.payloadLength <= 1 && tcp.sequence == next &- 1
            && peer == next
        if tcp.payloadLength > 0, !novelty.isKeepAlive {
            novelty.bringsData = Self.isBefore(next, end)
            novelty.repeatsData = !novelty.bringsData
        }
        if tcp.hasFIN {
            novelty.isNewFIN = !hasFIN
            hasFIN = true
        }
        let last = tcp.sequence &+ tcp.span
        if !tcp.hasRST, Self.isBefore(next, last) { next = last }
        if tcp.hasACK { acknowledged = tcp.acknowledgment }
        window = tcp.window
        readOptions(frame, tcp)
        return novelty
    }

    private mutating func readOptions(_ frame: [UInt8], _ tcp: LinkFrame.TCP) {
        func word(_ at: Int) -> UInt32 {
            UInt32(frame[at]) << 24 | UInt32(frame[at + 1]) << 16 | UInt32(frame[at + 2]) << 8 | UInt32(frame[at + 3])
        }
        // Nearly every segment has only two NOPs and a timestamps option (RFC 7323, appendix A), so these options are
        // read without creating a list.
        let first = tcp.start + 20
        if tcp.payload == first { return }
        if tcp.payload == first + 12, word(first) == 0x0101_080a {
            timestamps = (word(first + 4), word(first + 8))
            return
        }
        for (kind, place) in LinkFrame.options(of: tcp, in: frame) {
            if kind == StrippedOption.timestamps.number, place.count == 10 {
                timestamps = (word(place.lowerBound + 2), word(place.lowerBound + 6))
            }
            if kind == StrippedOption.wscale.number, place.count == 3, tcp.hasSYN {
                scale = min(frame[place.lowerBound + 2], 14)
            }
        }
    }

    /// Processes an intact segment that arrived at its receiver.
    mutating func deliver(_ tcp: LinkFrame.TCP) {
        if tcp.hasRST { return }
        if tcp.hasSYN { delivered = tcp.sequence }
        guard var known = delivered else { return }
        let end = tcp.sequence &+ tcp.span
        if Self.isBefore(known, tcp.sequence) {
            if tcp.span > 0, beyond.count < 256 { beyond.append((tcp.sequence, end)) }
            return
        }
        if Self.isBefore(known, end) { known = end }
        while let index = beyond.firstIndex(where: { !Self.isBefore(known, $0.start) }) {
            let part = beyond.remove(at: index)
            if Self.isBefore(known, part.end) { known = part.end }
        }
        delivered = known
    }

    /// Returns the next sequence number that the receiver expects.
    ///
    /// - Parameter acknowledged: the last acknowledgment number that the receiver sent.
    func expected(acknowledged: UInt32?) -> UInt32 {
        guard let delivered else { return acknowledged ?? next }
        guard let acknowledged, Self.isBefore(delivered, acknowledged) else { return delivered }
        return acknowledged
    }

    /// Returns whether a segment contains the byte, SYN or FIN with the given sequence number.
    static func covers(_ tcp: LinkFrame.TCP, _ sequence: UInt32) -> Bool {
        !isBefore(sequence, tcp.sequence) && isBefore(sequence, tcp.sequence &+ max(tcp.span, 1))
    }
}
