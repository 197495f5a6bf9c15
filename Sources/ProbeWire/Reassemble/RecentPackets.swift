import ProbeBase

/// The most recent packets, used to recognize copies. A capture contains packets twice if it was made on both sides of
/// routers or a bridge, on all interfaces at once, or on a mirror port.
///
/// A copy is identical to the original packet, except that each router decrements the hop limit. Each packet replaces the
/// oldest one, so memory and time per packet are constant. A copy that follows the original after too many other
/// packets is not recognized.
struct RecentPackets: Sendable {
    /// The values that identify a packet. They are packed into words, because an entry is written for each packet,
    /// directly from registers.
    fileprivate struct Entry {
        /// The sequence and acknowledgment numbers.
        var numbers: UInt64
        /// From the highest bits down: the window, the checksum, the IP identification and the payload length, 16 bits
        /// each.
        var header: UInt64
        /// A hash of the endpoints and the direction. `mark` is a hash of the timestamp and the SACK blocks.
        var ends: UInt32
        var mark: UInt32
        /// From the highest bits down: the time in units of 1024 ns (32 bits), ``distanceToNext`` (16 bits), the hop
        /// limit and the flags.
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

        /// The offset of ``ends`` in an entry, in bytes.
        static var endsOffset: Int { 16 }

        var identification: UInt16 { UInt16(truncatingIfNeeded: header >> 16) }
        var ticks: UInt32 { UInt32(truncatingIfNeeded: rest >> 32) }
        var hopLimit: UInt8 { UInt8(truncatingIfNeeded: rest >> 8) }

        /// The distance, in packets, to the next older packet with the same ``hash``.
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

        /// Returns the absolute difference of two times. A copy may have an earlier time than the original, because the
        /// clocks of two interfaces may differ.
        func distance(to other: Entry) -> UInt32 { min(ticks &- other.ticks, other.ticks &- ticks) }
    }

    /// The degree of certainty that a packet is a copy.
    enum Certainty: Sendable {
        /// The sender numbers its packets with the IP identification, and the packet has the same identification as an
        /// earlier packet.
        case numbered
        /// The packet has no IP identification, but everything else is the same as in a packet captured microseconds
        /// before, and the receiver has sent nothing in between.
        case equal
    }

    /// The number of packets that are kept for each half of the connections, which is also the number of possible
    /// values of ``Entry/hash``.
    private static let depth = 4096
    /// The number of preceding packets whose IP identifications are compared with that of a possible copy.
    private static let numbering = 512
    /// The maximum number of packets between a packet without an IP identification and its copy.
    private static let maxBetween = 512
    /// The maximum number of routers between the two places at which a packet is captured.
    private static let mostRouters: UInt8 = 8
    /// The maximum time between a packet and its copy if a router has decremented the copy's hop limit: the time for
    /// which a router may delay a packet.
    private static let routerTicks: UInt32 = 100_000_000 >> 10 + 1
    /// The maximum time between a packet and its copy if the hop limit is the same. Some systems reuse the IP
    /// identification when they retransmit a packet, but a retransmission arrives later than a copy from a bridge or
    /// another interface.
    private static let numberedTicks: UInt32 = 2_000_000 >> 10 + 1
    private static let equalTicks: UInt32 = 500_000 >> 10 + 1

    /// The most recent packets of one half of the connections.
    fileprivate struct Ring {
        private static let latest = 8
        private static let entries = latest + depth * MemoryLayout<UInt16>.stride
        static let size = entries + depth * MemoryLayout<Entry>.stride

        /// The memory of the ring: `count` in the first word, then a 16-bit number for each hash, then the entries.
        let memory: UnsafeMutableRawPointer

        /// The number of packets inserted so far, modulo 2^16.
        var count: UInt16 {
            @inline(__always) get { memory.load(as: UInt16.self) }
            @inline(__always) nonmutating set { memory.storeBytes(of: newValue, as: UInt16.self) }
        }

        /// The value of `count` when the latest packet with the given hash was inserted.
        subscript(latest hash: Int) -> UInt16 {
            @inline(__always) get { memory.load(fromByteOffset: Self.latest &+ hash &* 2, as: UInt16.self) }
            @inline(__always) nonmutating set {
                memory.storeBytes(of: newValue, toByteOffset: Self.latest &+ hash &* 2, as: UInt16.self)
            }
        }

        /// The packet that was inserted when `count` had the given value.
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

        /// Inserts a packet in place of the oldest packet.
        @inline(__always)
        func insert(_ new: Entry) {
            let (count, hash) = (count, new.hash)
            var new = new
            new.distanceToNext = count &- self[latest: hash]
            self[count] = new
            self[latest: hash] = count
            self.count = count &+ 1
        }

        /// Returns whether one of the ``numbering`` packets before `entry` is a different packet from the same sender
        /// with the same IP identification.
        func hasNumberAgain(_ entry: Entry) -> Bool {
            let ends = entry.ends
            var place = Int(count)
            for _ in 0..<numbering {
                place = (place &- 1) & (depth &- 1)
                // Most packets are from other senders, so the other values of an entry are read only if the sender is
                // the same.
                let offset = Self.entries &+ place &* MemoryLayout<Entry>.stride
                guard memory.load(fromByteOffset: offset &+ Entry.endsOffset, as: UInt32.self) == ends else { continue }
                let other = memory.load(fromByteOffset: offset, as: Entry.self)
                if other.identification == entry.identification, !other.isSamePacket(as: entry) { return true }
            }
            return false
        }
    }

    /// The two rings. Each half of the connections has its own ring, so that the result for one half does not depend on
    /// whether the other half is analyzed.
    ///
    /// The rings refer to the memory of the ``RecentPackets`` that returned them, and are valid only until something
    /// else accesses that ``RecentPackets``.
    struct Rings {
        fileprivate let memory: UnsafeMutableRawPointer

        /// Returns the ring for a connection.
        ///
        /// - Parameter hash: the hash from `ConnectionShare.hash`.
        @inline(__always)
        fileprivate subscript(hash: UInt64) -> Ring {
            Ring(memory: memory + Int(truncatingIfNeeded: hash >> 63) &* Ring.size)
        }

        /// Records a packet that is not a copy of an earlier packet.
        ///
        /// - Parameters:
        ///   - ends: the endpoints of `segment`.
        ///   - bytes: the packet from which `segment` and `ends` were read.
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

    private final class Memory: @unchecked Sendable {  // changed only by its sole owner; see `rings()`
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        private static let size = 2 * Ring.size

        /// Creates memory filled with zeros. An entry of zeros never equals a packet.
        init() { start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size) }

        init(_ other: Memory) { start.copyMemory(from: other.start, byteCount: Self.size) }

        deinit { start.deallocate() }
    }

    /// The memory of the rings; `nil` until the first packet.
    private var memory: Memory?

    init() {}

    /// Returns the rings, which are valid until something else accesses this value. If this value shares its memory
    /// with a copy, the memory is copied first.
    mutating func rings() -> Rings {
        if memory == nil {
            memory = Memory()
        } else if !isKnownUniquelyReferenced(&memory), let shared = memory {
            memory = Memory(shared)
        }
        guard let memory else { preconditionFailure("The memory has been allocated.") }
        return Rings(memory: memory.start)
    }

    /// Records a packet and returns `nil`, unless the packet may be a copy of an earlier packet. In that case, returns
    /// how certain it is that the packet is a copy.
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
            // The next packet with the same hash has been replaced, so the chain ends here.
            guard known.distanceToNext > 0 else { break }
            age += Int(known.distanceToNext)
        }
        return nil
    }

    private static func certainty(
        of entry: Entry, _ known: Entry, age: Int, in ring: Ring, answers: UInt32
    ) -> Certainty? {
        let hops = known.hopLimit &- entry.hopLimit
        // Without an IP identification, two packets of the same data may have taken different paths.
        guard hops <= (entry.identification == 0 ? 1 : mostRouters) else { return nil }
        let isAfterRouter = hops > 0
        let distance = entry.distance(to: known)
        if entry.identification != 0 {
            guard distance <= (isAfterRouter ? routerTicks : numberedTicks) else { return nil }
            // Some senders write the same IP identification into all packets.
            return ring.hasNumberAgain(entry) ? nil : .numbered
        }
        guard distance <= equalTicks, age <= maxBetween else { return nil }
        // If a sender really repeats a packet after such a short time, it does so in response to a packet from its
        // peer.
        let isAnswered = (1..<age).contains { ring[ring.count &- UInt16($0)].ends == answers }
        return isAnswered ? nil : .equal
    }

    private static func mark(_ options: TCPOptions) -> UInt32 {
        var mark = options.timestamp?.value ?? 0
        guard !options.sack.isEmpty else { return mark }
        for block in options.sack.blocks { mark = mark &* 31 &+ block.start.value &* 31 &+ block.end.value }
        return mark
    }

    /// Returns a hash of a connection and the sender, so that the two directions have different hashes.
    @inline(__always)
    private static func ends(_ hash: UInt64, from source: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: (hash >> 32) &+ source ^ source >> 32)
    }

    /// Returns an endpoint as one word. An IPv4 endpoint has the same form as in `FastPathSegment`; an IPv6 endpoint is
    /// represented by a hash.
    private static func word(_ endpoint: SocketEndpoint) -> UInt64 {
        switch endpoint.address.family {
        case .v4: endpoint.address.low << 16 | UInt64(endpoint.port)
        case .v6: (endpoint.address.high &* 31 &+ endpoint.address.low) &* 0x1_0001 &+ UInt64(endpoint.port)
        }
    }
}

extension ConversationTable {
    /// Handles a packet that appears to be a copy of an earlier packet of its connection. Returns `nil` and changes
    /// nothing if the packet is not a copy after all.
    mutating func takeCopy(
        _ tcp: DecodedTCP, _ certainty: RecentPackets.Certainty, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> PacketSummary? {
        guard let position = latestIndex(between: tcp.source, and: tcp.destination) else { return nil }
        return conversations[position].takeCopy(tcp, certainty, payload: payload, time: time, index: index)
    }
}

extension Conversation {
    /// Does the same as `ConversationTable.takeCopy` for this connection.
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
        let shift = side == .client ? negotiated.clientShift : negotiated.serverShift
        return PacketSummary(
            conversation: number, side: side, time: time, packetIndex: index, flags: tcp.flags,
            relativeSequence: start + 1, relativeAcknowledgment: acknowledged.map { $0 + 1 },
            window: Int(tcp.window) << (tcp.isSYN ? 0 : Int(shift ?? 0)), payloadLength: tcp.payloadLength,
            payloadIsCut: tcp.payloadIsCut, kind: .copy, isDuplicateAck: false, isWindowUpdate: false,
            isZeroWindow: false, hasConflict: false, isUrgent: tcp.flags.contains(.urg), hasReachedLimit: false)
    }
}

extension HalfConnection {
    /// Counts a copy, unless its bytes differ from those of the original, or it is a bare packet that may have been
    /// sent twice. A bare packet (an acknowledgment or an RST) without an IP identification is considered a copy only
    /// if there have been other copies before.
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
