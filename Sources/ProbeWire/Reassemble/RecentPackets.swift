import ProbeBase

/// The packets of the last milliseconds, to recognize those that a capture holds twice: it was made on both sides of a router or bridge, on
/// all interfaces at once, or on a mirror port.
///
/// A copy has everything of its packet; a router lowers the hop limit by one. Each entry replaces an older one, so that a packet costs the
/// same however many there are; the more packets there are at once, the fewer copies are recognized.
struct RecentPackets: Sendable {
    /// Small, because one is written for each packet.
    private struct Entry: Sendable {
        var numbers: UInt64 = 0
        /// IP identification, checksum, window and length.
        var header: UInt64 = 0
        /// A hash of the endpoints.
        var ends: UInt32 = 0
        /// A hash of the timestamp and the SACK blocks.
        var mark: UInt32 = 0
        /// In units of 1024 ns, from the lowest bits of the time.
        var ticks: UInt32 = 0
        /// From the lowest bits of the packet's number.
        var order: UInt16 = 0
        var hopLimit: UInt8 = 0
        var flags: UInt8 = 0

        @inline(__always)
        func isSamePacket(as other: Entry) -> Bool {
            numbers == other.numbers && header == other.header && ends == other.ends && mark == other.mark
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

    /// How many packets with the same hash are kept: ``insert(_:at:)`` names each.
    private static let ways = 4
    /// The base-2 logarithm of the number of hashes in each half.
    private static let bits: UInt64 = 7
    /// Each half of the connections has its own entries, so that what is recognized in one does not depend on whether the other is read.
    private static let half = ConnectionShare(0, of: 2)
    /// How many packets may lie between a packet without a number and its copy.
    private static let mostBetween: UInt16 = 64
    /// A router, which lowers the hop limit, may hold a packet for this long.
    private static let routerTicks: UInt32 = 100_000_000 >> 10 + 1
    /// Some systems keep the number of what they send again: the copy of a bridge or an interface comes sooner than that.
    private static let numberedTicks: UInt32 = 2_000_000 >> 10 + 1
    private static let equalTicks: UInt32 = 500_000 >> 10 + 1

    private var entries = [Entry](repeating: Entry(), count: 2 * ways << Int(bits))

    init() {}

    /// A packet that is none of those that were there before.
    @inline(__always)
    mutating func note(_ segment: FastPathSegment, time: UInt64, index: Int) {
        let entry = Entry(
            numbers: Self.pair(segment.sequence, segment.acknowledgment),
            header: Self.header(
                segment.identification, segment.checksum, window: segment.window, length: segment.payload.count),
            ends: Self.ends(segment.source, segment.destination), mark: segment.stamp ?? 0,
            ticks: UInt32(truncatingIfNeeded: time >> 10), order: UInt16(truncatingIfNeeded: index),
            hopLimit: segment.hopLimit, flags: segment.flags)
        insert(entry, at: Self.set(of: entry, segment.source, segment.destination))
    }

    /// Notes a packet; not nil if it may be a copy of one that was noted before.
    mutating func note(_ tcp: DecodedTCP, time: UInt64, index: Int) -> Certainty? {
        let (source, destination) = (Self.word(tcp.source), Self.word(tcp.destination))
        let entry = Entry(
            numbers: Self.pair(tcp.sequence, tcp.acknowledgment),
            header: Self.header(tcp.identification, tcp.checksum, window: tcp.window, length: tcp.payloadLength),
            ends: Self.ends(source, destination), mark: Self.mark(tcp.options),
            ticks: UInt32(truncatingIfNeeded: time >> 10), order: UInt16(truncatingIfNeeded: index),
            hopLimit: tcp.hopLimit, flags: UInt8(truncatingIfNeeded: tcp.flags.rawValue))
        let set = Self.set(of: entry, source, destination)
        for known in entries[set..<set + Self.ways] where known.isSamePacket(as: entry) {
            let half = entries[set < entries.count / 2 ? 0..<entries.count / 2 : entries.count / 2..<entries.count]
            let answers = Self.ends(destination, source)
            if let certainty = Self.certainty(of: entry, known, among: half, answers: answers) { return certainty }
        }
        insert(entry, at: set)
        return nil
    }

    /// In the place of the oldest one with the same hash.
    @inline(__always)
    private mutating func insert(_ entry: Entry, at set: Int) {
        // Without bounds checks, because this runs for each packet: `set` is one of `Self.set`.
        entries.withUnsafeMutableBufferPointer { entries in
            entries[set &+ 3] = entries[set &+ 2]
            entries[set &+ 2] = entries[set &+ 1]
            entries[set &+ 1] = entries[set]
            entries[set] = entry
        }
    }

    private static func certainty(
        of entry: Entry, _ known: Entry, among entries: ArraySlice<Entry>, answers: UInt32
    ) -> Certainty? {
        let isAfterRouter = entry.hopLimit &+ 1 == known.hopLimit
        guard isAfterRouter || entry.hopLimit == known.hopLimit else { return nil }
        // The clocks of two interfaces may differ.
        let distance = min(entry.ticks &- known.ticks, known.ticks &- entry.ticks)
        if entry.header >> 48 != 0 {
            guard distance <= (isAfterRouter ? routerTicks : numberedTicks) else { return nil }
            // Some write the same number into all packets.
            let isNumbering = !entries.contains {
                $0.ends == entry.ends && $0.header >> 48 == entry.header >> 48 && !$0.isSamePacket(as: entry)
            }
            return isNumbering ? .numbered : nil
        }
        let count = entry.order &- known.order
        guard distance <= equalTicks, count <= mostBetween else { return nil }
        // What a sender sends again so soon is the answer to something.
        return entries.contains { $0.ends == answers && $0.order &- known.order < count } ? nil : .equal
    }

    /// The place of the first entry with the same hash.
    @inline(__always)
    private static func set(of entry: Entry, _ source: UInt64, _ destination: UInt64) -> Int {
        let mixed = (entry.numbers ^ entry.header &* 0x9e37_79b9_7f4a_7c15) &* 0xd6e8_feb8_6659_fd93
        let number = Int(truncatingIfNeeded: mixed &>> (64 &- bits))
        return (half.contains(source, destination) ? number : number &+ 1 << Int(bits)) &* ways
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
    private static func ends(_ source: UInt64, _ destination: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: ((source &* 31 &+ destination) &* 0x9e37_79b9_7f4a_7c15) >> 32)
    }

    /// An endpoint as one word, for IPv4 the same as in `FastPathSegment`.
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
