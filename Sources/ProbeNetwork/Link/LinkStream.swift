import ProbeBase

/// What the two ends of one TCP connection are, by the addresses and ports of one direction.
struct LinkStreamKey: Hashable {
    private var words: (UInt64, UInt64, UInt64, UInt64)
    private var ports: UInt32

    /// - Parameter isReversed: of the other direction.
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

/// One direction of a connection on a link, as the link has seen it. Sequence numbers are compared by their signed difference (RFC 9293,
/// 3.4).
struct LinkStream {
    /// Behind the last byte that was sent.
    private(set) var next: UInt32
    /// Of the SYN; nil where it was not seen.
    private(set) var initial: UInt32?
    private(set) var hasFIN = false
    /// What the sender has acknowledged of the other direction.
    private(set) var acknowledged: UInt32?
    /// As its header said last.
    private(set) var window: UInt16 = 0
    /// By how much the window is shifted; nil where it is not known.
    private(set) var scale: UInt8?
    /// The value and the echo of its last timestamps (RFC 7323); nil without.
    private(set) var timestamps: (value: UInt32, echo: UInt32)?
    /// What the receiver has got without a gap.
    private(set) var delivered: UInt32?
    /// Behind a gap: what came before its turn.
    private var beyond: [(start: UInt32, end: UInt32)] = []
    /// A frame of this direction: its addresses and ports.
    let model: [UInt8]
    let modelView: LinkFrame

    /// How a segment stands to what was sent before.
    struct Standing {
        /// It brings payload that was not sent before.
        var bringsData = false
        /// It repeats payload.
        var repeatsData = false
        var isNewSYN = false
        var isNewFIN = false
        /// A probe whether the peer is there: with the sequence number before the next one, and without news (RFC 9293, 3.8.4).
        var isKeepAlive = false
    }

    /// Who sends.
    let side: LinkSide
    /// The other direction.
    let peer: LinkStreamKey
    /// In which order connections were seen.
    let order: Int
    /// One of the two has reset the connection, or the link has.
    var isReset = false

    init(
        _ frame: [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP, from side: LinkSide, peer: LinkStreamKey, order: Int
    ) {
        next = tcp.sequence
        self.side = side
        self.peer = peer
        self.order = order
        // A whole segment may be kept for long: its payload is not needed.
        model = Array(frame[..<tcp.payload])
        modelView = view
    }

    static func isBefore(_ one: UInt32, _ other: UInt32) -> Bool { Int32(bitPattern: one &- other) < 0 }

    /// Takes a segment as it left its sender.
    ///
    /// - Parameter peer: what the other side has acknowledged of this direction.
    mutating func send(_ frame: [UInt8], _ tcp: LinkFrame.TCP, acknowledgedByPeer peer: UInt32?) -> Standing {
        var standing = Standing()
        if tcp.hasSYN {
            standing.isNewSYN = initial != tcp.sequence
            if standing.isNewSYN {
                // Another connection with the same addresses.
                (initial, next, hasFIN, delivered, beyond) = (tcp.sequence, tcp.sequence, false, nil, [])
                isReset = false
                (acknowledged, scale, timestamps) = (nil, nil, nil)
            }
        }
        let start = tcp.sequence &+ (tcp.hasSYN ? 1 : 0)
        let end = start &+ UInt32(tcp.payloadLength)
        standing.isKeepAlive =
            !tcp.hasSYN && !tcp.hasFIN && !tcp.hasRST && tcp.payloadLength <= 1 && tcp.sequence == next &- 1
            && peer == next
        if tcp.payloadLength > 0, !standing.isKeepAlive {
            standing.bringsData = Self.isBefore(next, end)
            standing.repeatsData = !standing.bringsData
        }
        if tcp.hasFIN {
            standing.isNewFIN = !hasFIN
            hasFIN = true
        }
        let last = tcp.sequence &+ tcp.span
        if !tcp.hasRST, Self.isBefore(next, last) { next = last }
        if tcp.hasACK { acknowledged = tcp.acknowledgment }
        window = tcp.window
        readOptions(frame, tcp)
        return standing
    }

    private mutating func readOptions(_ frame: [UInt8], _ tcp: LinkFrame.TCP) {
        func word(_ at: Int) -> UInt32 {
            UInt32(frame[at]) << 24 | UInt32(frame[at + 1]) << 16 | UInt32(frame[at + 2]) << 8 | UInt32(frame[at + 3])
        }
        // Nearly every segment has nothing but timestamps behind two NOPs (RFC 7323, appendix A): a list of its options is not made.
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

    /// Takes a sound segment that came to its receiver.
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

    /// The number that its receiver expects next.
    ///
    /// - Parameter acknowledged: what the receiver has acknowledged last.
    func expected(acknowledged: UInt32?) -> UInt32 {
        guard let delivered else { return acknowledged ?? next }
        guard let acknowledged, Self.isBefore(delivered, acknowledged) else { return delivered }
        return acknowledged
    }

    /// Whether a segment repeats the byte, SYN or FIN with that number.
    static func covers(_ tcp: LinkFrame.TCP, _ sequence: UInt32) -> Bool {
        !isBefore(sequence, tcp.sequence) && isBefore(sequence, tcp.sequence &+ max(tcp.span, 1))
    }
}
