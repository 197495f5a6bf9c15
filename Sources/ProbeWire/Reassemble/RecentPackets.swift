import ProbeBase

/// The packets of the last milliseconds, to recognize those that a capture holds twice: it was made on both sides of a router or bridge, on
/// all interfaces at once, or on a mirror port.
///
/// A copy has everything of its packet; a router lowers the hop limit by one. Each packet replaces the oldest, so that it costs the same
/// however many there are; a copy that comes after too many others is not recognized.
struct RecentPackets: Sendable {
    /// Whole words: one of these is written for each packet, straight from registers.
    fileprivate struct Entry {
        /// Sequence and acknowledgment numbers.
        var numbers: UInt64
        /// From the top: window, checksum, IP identification, and length of the payload, 16 bits each.
        var header: UInt64
        /// A hash of the endpoints, and one of the timestamp and the SACK blocks.
        var ends: UInt32
        var mark: UInt32
        /// From the top: 32 bits of the time in units of 1024 ns, 16 for ``distanceToNext``, the hop limit, the flags.
        private var rest: UInt64

        @inline(__always)
        init(
            numbers: UInt64, windowAndChecksum: UInt32, identification: UInt16, length: Int, ends: UInt32, mark: UInt32,
            time: UInt64, hopLimit: UInt8, flags: UInt8
        ) {
            self.numbers = numbers
            header =
                UInt64(windowAndChecksum) << 32 | UInt64(identification) << 16
                | UInt64(UInt16(truncatingIfNeeded: length))
            self.ends = ends
            self.mark = mark
            rest = (time >> 10) << 32 | UInt64(hopLimit) << 8 | UInt64(flags)
        }

        /// Where ``ends`` is in an entry.
        static var endsOffset: Int { 16 }

        var identification: UInt16 { UInt16(truncatingIfNeeded: header >> 16) }
        var ticks: UInt32 { UInt32(truncatingIfNeeded: rest >> 32) }
        var hopLimit: UInt8 { UInt8(truncatingIfNeeded: rest >> 8) }

        /// How many packets before this one the next older one with the same ``hash`` came.
        var distanceToNext: UInt16 {
            @inline(__always) get { UInt16(truncatingIfNeeded: rest >> 16) }
            @inline(__always) set { rest = rest & ~0xffff_0000 | UInt64(newValue) << 16 }
        }

        @inline(__always)
        var hash: Int { Int(truncatingIfNeeded: ((numbers &+ header) &* 0x9e37_79b9_7f4a_7c15) >> 52) }

        func isSamePacket(as other: Entry) -> Bool {
            numbers == other.numbers && header == other.header && ends == other.ends && mark == other.mark
                && (rest ^ other.rest) & 0xff == 0
        }

        /// The clocks of two interfaces may differ.
        func distance(to other: Entry) -> UInt32 { min(ticks &- other.ticks, other.ticks &- ticks) }
    }

    /// How sure it is that a packet is a copy.
    enum Certainty: Sendable {
        /// Senders number their packets, and this number was there before.
        case numbered
        /// The packet has no number: everything else is the same, microseconds later, and the receiver has sent nothing since.
        case equal
    }

    /// How many packets of each half of the connections are kept, and how many values ``Entry/hash`` has.
    private static let depth = 4096
    /// In how many packets before a copy the sender's numbers are looked at.
    private static let numbering = 512
    /// How many packets may lie between a packet without a number and its copy.
    private static let mostBetween = 512
    /// A router, which lowers the hop limit, may hold a packet for this long.
    private static let routerTicks: UInt32 = 100_000_000 >> 10 + 1
    /// Some systems keep the number of what they send again: the copy of a bridge or an interface comes sooner than that.
    private static let numberedTicks: UInt32 = 2_000_000 >> 10 + 1
    private static let equalTicks: UInt32 = 500_000 >> 10 + 1

    /// The packets of one half.
    fileprivate struct Ring {
        private static let latest = 8
        private static let entries = latest + depth * MemoryLayout<UInt16>.stride
        static let size = entries + depth * MemoryLayout<Entry>.stride

        /// `count` in the first word, a number of 16 bits for each hash, then the entries.
        let memory: UnsafeMutableRawPointer

        /// How many packets there were; only the lower bits matter.
        var count: UInt16 {
            @inline(__always) get { memory.load(as: UInt16.self) }
            @inline(__always) nonmutating set { memory.storeBytes(of: newValue, as: UInt16.self) }
        }

        /// What `count` was when the latest packet with a hash came.
        subscript(latest hash: Int) -> UInt16 {
            @inline(__always) get { memory.load(fromByteOffset: Self.latest &+ hash &* 2, as: UInt16.self) }
            @inline(__always) nonmutating set {
                memory.storeBytes(of: newValue, toByteOffset: Self.latest &+ hash &* 2, as: UInt16.self)
            }
        }

        /// The packet that came when `count` was this.
        subscript(count: UInt16) -> Entry {
            @inline(__always) get { memory.load(fromByteOffset: Self.offset(count), as: Entry.self) }
            @inline(__always) nonmutating set {
                memory.storeBytes(of: newValue, toByteOffset: Self.offset(count), as: Entry.self)
            }
        }

        @inline(__always)
        private static func offset(_ count: UInt16) -> Int {
            entries &+ (Int(count) & (depth &- 1)) &* MemoryLayout<Entry>.stride
        }

        /// In the place of the oldest one.
        @inline(__always)
        func insert(_ new: Entry) {
            let (count, hash) = (count, new.hash)
            var new = new
            new.distanceToNext = count &- self[latest: hash]
            self[count] = new
            self[latest: hash] = count
            self.count = count &+ 1
        }

        /// Whether one of the ``numbering`` packets before `entry` is another one of its sender with the same number.
        func hasNumberAgain(_ entry: Entry) -> Bool {
            let ends = entry.ends
            var place = Int(count)
            for _ in 0..<numbering {
                place = (place &- 1) & (depth &- 1)
                // Most packets are of other senders, so the rest of an entry is read only if that is not so.
                let offset = Self.entries &+ place &* MemoryLayout<Entry>.stride
                guard memory.load(fromByteOffset: offset &+ Entry.endsOffset, as: UInt32.self) == ends else { continue }
                let other = memory.load(fromByteOffset: offset, as: Entry.self)
                if other.identification == entry.identification, !other.isSamePacket(as: entry) { return true }
            }
            return false
        }
    }

    /// Both rings. Each half of the connections has its own, so that what is recognized in one does not depend on whether the other is read.
    ///
    /// Refers to the memory of the ``RecentPackets`` that it came from, for as long as nothing else has access to that.
    struct Rings {
        fileprivate let memory: UnsafeMutableRawPointer

        /// - Parameter hash: as `ConnectionShare.hash`.
        @inline(__always)
        fileprivate subscript(hash: UInt64) -> Ring {
            Ring(memory: memory + Int(truncatingIfNeeded: hash >> 63) &* Ring.size)
        }

        /// A packet that is none of those that were there before.
        /// - Parameters:
        ///   - ends: those of `segment`.
        ///   - bytes: the packet from which both were read.
        @inline(__always)
        func note(_ segment: FastPathSegment, _ ends: FastPathSegment.Ends, _ bytes: Span<UInt8>, time: UInt64) {
            let header = bytes.extracting(0..<FastPathSegment.shortest)
            guard let identification = header.big16(at: 18), let numbers = header.big64(at: 38),
                let windowAndChecksum = header.big32(at: 48)
            else { return }
            self[ends.hash].insert(
                Entry(
                    numbers: numbers, windowAndChecksum: windowAndChecksum, identification: identification,
                    length: segment.payload.count, ends: RecentPackets.ends(ends.hash, from: ends.source),
                    mark: segment.stamp ?? 0, time: time, hopLimit: header[22], flags: header[47]))
        }
    }

    private final class Memory: @unchecked Sendable {  // changed only by its sole owner: see `rings()`
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        private static let size = 2 * Ring.size

        /// All zero, which is an entry that equals no packet.
        init() { start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size) }

        init(_ other: Memory) { start.copyMemory(from: other.start, byteCount: Self.size) }

        deinit { start.deallocate() }
    }

    /// Nil until the first packet.
    private var memory: Memory?

    init() {}

    /// The rings, for as many packets as come before anything else has access to this value: a copy gets memory of its own here.
    mutating func rings() -> Rings {
        if memory == nil {
            memory = Memory()
        } else if !isKnownUniquelyReferenced(&memory), let shared = memory {
            memory = Memory(shared)
        }
        guard let memory else { preconditionFailure("The memory has been made.") }
        return Rings(memory: memory.start)
    }

    /// Notes a packet; not nil if it may be a copy of one that was noted before.
    mutating func note(_ tcp: DecodedTCP, time: UInt64) -> Certainty? {
        let (source, destination) = (Self.word(tcp.source), Self.word(tcp.destination))
        let hash = ConnectionShare.hash(source, destination)
        let entry = Entry(
            numbers: UInt64(tcp.sequence.value) << 32 | UInt64(tcp.acknowledgment.value),
            windowAndChecksum: UInt32(tcp.window) << 16 | UInt32(tcp.checksum), identification: tcp.identification,
            length: tcp.payloadLength, ends: Self.ends(hash, from: source), mark: Self.mark(tcp.options), time: time,
            hopLimit: tcp.hopLimit, flags: UInt8(truncatingIfNeeded: tcp.flags.rawValue))
        let answers = Self.ends(hash, from: destination)
        let ring = rings()[hash]
        if let certainty = Self.certainty(of: entry, in: ring, answers: answers) { return certainty }
        ring.insert(entry)
        return nil
    }

    private static func certainty(of entry: Entry, in ring: Ring, answers: UInt32) -> Certainty? {
        let count = ring.count
        var age = Int(count &- ring[latest: entry.hash])
        while (1...depth).contains(age) {
            let known = ring[count &- UInt16(age)]
            if known.isSamePacket(as: entry),
                let certainty = certainty(of: entry, known, age: age, in: ring, answers: answers)
            {
                return certainty
            }
            // One that has been replaced was the last.
            guard known.distanceToNext > 0 else { break }
            age += Int(known.distanceToNext)
        }
        return nil
    }

    private static func certainty(
        of entry: Entry, _ known: Entry, age: Int, in ring: Ring, answers: UInt32
    ) -> Certainty? {
        let isAfterRouter = entry.hopLimit &+ 1 == known.hopLimit
        guard isAfterRouter || entry.hopLimit == known.hopLimit else { return nil }
        let distance = entry.distance(to: known)
        if entry.identification != 0 {
            guard distance <= (isAfterRouter ? routerTicks : numberedTicks) else { return nil }
            // Some write the same number into all packets.
            return ring.hasNumberAgain(entry) ? nil : .numbered
        }
        guard distance <= equalTicks, age <= mostBetween else { return nil }
        // What a sender sends again so soon is the answer to something.
        let isAnswered = (1..<age).contains { ring[ring.count &- UInt16($0)].ends == answers }
        return isAnswered ? nil : .equal
    }

    private static func mark(_ options: TCPOptions) -> UInt32 {
        var mark = options.timestamp?.value ?? 0
        guard !options.sack.isEmpty else { return mark }
        for block in options.sack.blocks { mark = mark &* 31 &+ block.start.value &* 31 &+ block.end.value }
        return mark
    }

    /// A connection's hash with its sender: it differs for the two directions.
    @inline(__always)
    private static func ends(_ hash: UInt64, from source: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: (hash >> 32) &+ source ^ source >> 32)
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
        let known =
            side == .client ? fromServer.offset(of: tcp.acknowledgment) : fromClient.offset(of: tcp.acknowledgment)
        let acknowledged = tcp.flags.contains(.ack) ? known : nil
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
