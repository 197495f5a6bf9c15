import ProbeBase

/// The packets of the last milliseconds, to recognize those that a capture holds twice: it was made on both sides of a router or bridge, on
/// all interfaces at once, or on a mirror port.
///
/// A copy has everything of its packet; a router lowers the hop limit by one. Each entry replaces an older one, so that a packet costs the
/// same however many there are; the more packets there are at once, the fewer copies are recognized. Once one has been, more are kept.
struct RecentPackets: Sendable {
    private struct Entry: Sendable {
        var numbers: UInt64 = 0
        var header: UInt64 = 0
        var ends: UInt64 = 0
        var time: UInt64 = 0
        /// Of the timestamp and the SACK blocks.
        var mark: UInt32 = 0
        var order: UInt32 = 0
        var hopLimit: UInt8 = 0
        var flags: UInt8 = 0
        var isUsed = false

        @inline(__always)
        func isSamePacket(as other: Entry) -> Bool {
            isUsed && numbers == other.numbers && header == other.header && ends == other.ends && mark == other.mark
                && flags == other.flags
        }
    }

    /// How sure it is that a packet is a copy.
    enum Certainty: Sendable {
        /// Senders number their packets, and this number was there before.
        case numbered
        /// The packet has no number: everything else is the same, microseconds later, and the receiver has sent nothing since.
        case equal
    }

    /// How many packets with the same hash are kept.
    private static let ways = 4
    /// How many of the last packets are looked through for what a sender does.
    private static let lastCount: UInt32 = 64
    /// A router, which lowers the hop limit, may hold a packet for this long.
    private static let routerNanoseconds: UInt64 = 100_000_000
    /// Some systems keep the number of what they send again: the copy of a bridge or an interface comes sooner than that.
    private static let numberedNanoseconds: UInt64 = 2_000_000
    private static let equalNanoseconds: UInt64 = 500_000

    private var bits: UInt64 = 6
    private var entries = [Entry](repeating: Entry(), count: ways << 6)
    /// The last packets that are no copies, each at its order.
    private var last = [Entry](repeating: Entry(), count: Int(lastCount))
    private var order: UInt32 = 0

    init() {}

    /// A packet that is none of those that were there before.
    @inline(__always)
    mutating func note(_ segment: FastPathSegment, time: UInt64) {
        insert(
            Entry(
                numbers: Self.pair(segment.sequence, segment.acknowledgment),
                header: Self.header(
                    segment.identification, segment.checksum, window: segment.window, length: segment.payload.count),
                ends: Self.ends(segment.source, segment.destination), time: time, mark: segment.stamp ?? 0,
                hopLimit: segment.hopLimit, flags: segment.flags, isUsed: true))
    }

    /// Notes a packet; not nil if it may be a copy of one that was noted before.
    mutating func note(_ tcp: DecodedTCP, time: UInt64) -> Certainty? {
        let (source, destination) = (Self.word(tcp.source), Self.word(tcp.destination))
        let entry = Entry(
            numbers: Self.pair(tcp.sequence, tcp.acknowledgment),
            header: Self.header(tcp.identification, tcp.checksum, window: tcp.window, length: tcp.payloadLength),
            ends: Self.ends(source, destination), time: time, mark: Self.mark(tcp.options), hopLimit: tcp.hopLimit,
            flags: UInt8(truncatingIfNeeded: tcp.flags.rawValue), isUsed: true)
        let start = place(entry)
        for known in entries[start..<start + Self.ways] where known.isSamePacket(as: entry) {
            if let certainty = certainty(of: entry, known, answers: Self.ends(destination, source)) { return certainty }
        }
        insert(entry)
        return nil
    }

    /// A copy was found: more packets are kept from now on, because all that come may be there twice.
    mutating func expectMore() {
        guard bits == 6 else { return }
        bits = 10
        let known = entries
        entries = [Entry](repeating: Entry(), count: Self.ways << Int(bits))
        for entry in known where entry.isUsed { entries[place(entry) + Int(entry.order) % Self.ways] = entry }
    }

    @inline(__always)
    private mutating func insert(_ entry: Entry) {
        var entry = entry
        entry.order = order
        entries[place(entry) &+ Int(order) % Self.ways] = entry
        last[Int(order % Self.lastCount)] = entry
        order &+= 1
    }

    private func certainty(of entry: Entry, _ known: Entry, answers: UInt64) -> Certainty? {
        let isBehindRouter = entry.hopLimit &+ 1 == known.hopLimit
        guard isBehindRouter || entry.hopLimit == known.hopLimit else { return nil }
        // The clocks of two interfaces may differ.
        let distance = entry.time > known.time ? entry.time - known.time : known.time - entry.time
        if entry.header >> 48 != 0 {
            let longest = isBehindRouter ? Self.routerNanoseconds : Self.numberedNanoseconds
            return distance <= longest && isNumbering(entry) ? .numbered : nil
        }
        // What a sender sends again so soon is the answer to something.
        let count = order &- known.order
        guard distance <= Self.equalNanoseconds, count <= Self.lastCount,
            !(1..<max(count, 1)).contains(where: { last[Int((known.order &+ $0) % Self.lastCount)].ends == answers })
        else { return nil }
        return .equal
    }

    /// Whether the sender gives each packet a number of its own; some write the same one into all.
    private func isNumbering(_ entry: Entry) -> Bool {
        !last.contains {
            $0.isUsed && $0.ends == entry.ends && $0.header >> 48 == entry.header >> 48 && !$0.isSamePacket(as: entry)
        }
    }

    @inline(__always)
    private func place(_ entry: Entry) -> Int {
        let mixed = (entry.numbers ^ entry.header &* 0x9e37_79b9_7f4a_7c15) &* 0xd6e8_feb8_6659_fd93
        return Int(truncatingIfNeeded: mixed &>> (64 &- bits)) &* Self.ways
    }

    private static func mark(_ options: TCPOptions) -> UInt32 {
        var mark = options.timestamp?.value ?? 0
        guard !options.sack.isEmpty else { return mark }
        for block in options.sack.blocks { mark = mark &* 31 &+ block.start.value &* 31 &+ block.end.value }
        return mark
    }

    @inline(__always)
    private static func pair(_ sequence: SequenceNumber, _ acknowledgment: SequenceNumber) -> UInt64 {
        UInt64(sequence.value) << 32 | UInt64(acknowledgment.value)
    }

    @inline(__always)
    private static func header(_ identification: UInt16, _ checksum: UInt16, window: UInt16, length: Int) -> UInt64 {
        UInt64(identification) << 48 | UInt64(checksum) << 32 | UInt64(window) << 16
            | UInt64(UInt16(truncatingIfNeeded: length))
    }

    /// The two are not interchangeable.
    @inline(__always)
    private static func ends(_ source: UInt64, _ destination: UInt64) -> UInt64 {
        source &* 31 &+ destination
    }

    /// Of IPv4 as in `FastPathSegment`.
    private static func word(_ endpoint: SocketEndpoint) -> UInt64 {
        switch endpoint.address.family {
        case .v4: endpoint.address.low << 16 | UInt64(endpoint.port)
        case .v6: (endpoint.address.high &* 31 &+ endpoint.address.low) &* 0x1_0001 &+ UInt64(endpoint.port)
        }
    }
}

extension ConversationTable {
    /// Takes a packet that its connection has had already; nil, and nothing is changed, if it is not a copy after all.
    mutating func takeCopy(
        _ tcp: DecodedTCP, _ certainty: RecentPackets.Certainty, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> PacketSummary? {
        guard let position = latestIndex(between: tcp.source, and: tcp.destination) else { return nil }
        return conversations[position].takeCopy(tcp, certainty, payload: payload, time: time, index: index)
    }
}

extension Conversation {
    /// As `ConversationTable.takeCopy`.
    mutating func takeCopy(
        _ tcp: DecodedTCP, _ certainty: RecentPackets.Certainty, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> PacketSummary? {
        let side: ConversationSide = tcp.source == client ? .client : .server
        let (isCopy, start) =
            side == .client
            ? fromClient.noteCopy(tcp, certainty, payload) : fromServer.noteCopy(tcp, certainty, payload)
        guard isCopy else { return nil }
        let peer = halfConnection(from: side.opposite)
        let acknowledged = tcp.flags.contains(.ack) ? peer.offset(of: tcp.acknowledgment) : nil
        let shift = side == .client ? agreement.clientShift : agreement.serverShift
        return PacketSummary(
            conversation: number, side: side, time: time, packetIndex: index, flags: tcp.flags,
            relativeSequence: start + 1, relativeAcknowledgment: acknowledged.map { $0 + 1 },
            window: Int(tcp.window) << (tcp.isSYN ? 0 : Int(shift ?? 0)), payloadLength: tcp.payloadLength,
            payloadIsCut: tcp.payloadIsCut, kind: .copy, isDuplicateAck: false, isWindowUpdate: false,
            isZeroWindow: false, hasConflict: false, isUrgent: tcp.flags.contains(.urg), hasReachedLimit: false)
    }
}

extension HalfConnection {
    /// Counts a copy, unless it brings other bytes than its packet did, or may be an acknowledgment or an RST that was sent twice: one
    /// without a number is a copy only where others were.
    fileprivate mutating func noteCopy(
        _ tcp: DecodedTCP, _ certainty: RecentPackets.Certainty, _ payload: Span<UInt8>
    ) -> (isCopy: Bool, start: Int64) {
        let start = offset(of: tcp.sequence) ?? 0
        let isBare = tcp.payloadLength == 0 && tcp.flags.isDisjoint(with: [.syn, .fin])
        if isBare, certainty == .equal, copyCount == 0 { return (false, start) }
        if payload.count > 0 {
            let from = tcp.isSYN ? start + 1 : start
            let known = stream.kept(from..<from + Int64(payload.count)) ?? []
            for (index, byte) in known.enumerated() where byte != payload[index] { return (false, start) }
        }
        copyCount += 1
        if isBare, certainty == .equal { unsureCopyCount += 1 }
        return (true, start)
    }
}
