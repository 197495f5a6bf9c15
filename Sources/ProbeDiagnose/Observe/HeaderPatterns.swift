import ProbeWire

/// The hop limits and IP identifications of one side's packets. A packet that was injected by another machine usually
/// has a different hop limit.
struct HeaderPattern: Sendable {
    private(set) var hopLimit: UInt8 = 0
    /// The number of packets with this hop limit.
    private(set) var count = 0
    private(set) var hasVaried = false
    private var lastIdentification: UInt16 = 0
    /// The number of packets whose IP identification is 0. `numberedCount` is the number of all other packets.
    private(set) var zeroCount = 0
    private(set) var numberedCount = 0

    mutating func note(_ tcp: DecodedTCP) {
        if tcp.identification == 0 { zeroCount += 1 } else { numberedCount += 1 }
        lastIdentification = tcp.identification
        if count == 0 { hopLimit = tcp.hopLimit }
        if tcp.hopLimit == hopLimit { count += 1 } else { hasVaried = true }
    }

    /// Returns whether a packet seems to come from another machine than all earlier packets. At least three earlier
    /// packets are required, all with the same hop limit.
    func isForeign(_ tcp: DecodedTCP) -> Bool { count >= 3 && !hasVaried && mayBeForeign(tcp) }

    /// Returns whether a packet seems to come from another machine than the first packet.
    ///
    /// Some systems send resets with another initial hop limit than all other packets. The number of hops is then the
    /// same, and the reset has one of the next IP identifications.
    func mayBeForeign(_ tcp: DecodedTCP) -> Bool {
        guard count > 0, tcp.hopLimit != hopLimit else { return false }
        // Some systems count the packets of all connections together.
        let isNext = tcp.identification != 0 && 1...2048 ~= Int(tcp.identification &- lastIdentification)
        return Self.hops(tcp.hopLimit) != Self.hops(hopLimit) || !isNext
    }

    /// Returns the number of hops that a packet has passed, if its initial hop limit was the next of the usual ones.
    private static func hops(_ hopLimit: UInt8) -> UInt8 {
        ([32, 64, 128].first { hopLimit <= $0 } ?? 255) - hopLimit
    }

    /// Returns whether a packet has an IP identification although no earlier packet has one, or has none although every
    /// earlier packet has one. At least three earlier packets are required.
    func isOddlyNumbered(_ tcp: DecodedTCP) -> Bool {
        tcp.identification == 0 ? numberedCount >= 3 && zeroCount == 0 : zeroCount >= 3 && numberedCount == 0
    }
}

/// The clock of one side's timestamp options (RFC 7323, section 5.4), compared with the clock of the capture.
struct TimestampClock: Sendable {
    private var first: (time: Int64, value: UInt32)?
    private var last: (time: Int64, value: UInt32)?
    /// A possible step of the capture's clock. It must be confirmed by later packets, because a packet that was delayed
    /// by the network also has an old timestamp.
    private var suspect: (time: Int64, packet: Int, gap: Int64, before: (time: Int64, value: UInt32))?

    /// The last sample before the latest gap of more than half a second.
    private var beforeGap: (time: Int64, value: UInt32)?

    /// A step of the capture's clock that the side's packets have confirmed.
    struct Step {
        /// The first packet after the step.
        var packet: Int
        var time: Int64
        var gap: Int64
    }

    /// Records a packet. Returns a step of the capture's clock, once later packets have confirmed the step. A step is
    /// suspected if more than half a second passed on the capture's clock, but less than a tenth of that time on the
    /// sender's clock.
    ///
    /// - Parameter patience: the time after which a packet that was delayed by the network is no longer expected.
    mutating func note(_ value: UInt32, at time: Int64, packet: Int, patience: Int64) -> Step? {
        defer {
            if first == nil { first = (time, value) }
            last = (time, value)
        }
        if let suspect {
            guard time - suspect.time >= patience else { return nil }
            self.suspect = nil
            let isBehind = lag(from: suspect.before, to: (time, value)) >= suspect.gap / 20 * 19
            return isBehind ? Step(packet: suspect.packet, time: suspect.time, gap: suspect.gap) : nil
        }
        guard let last, time - last.time > 500_000_000 else { return nil }
        beforeGap = last
        let gap = time - last.time
        if lag(from: last, to: (time, value)) >= gap / 10 * 9 { suspect = (time, packet, gap, last) }
        return nil
    }

    /// Returns whether the side's own packets show that the capture's clock did not step, because the sender's clock
    /// advanced with it.
    func contradicts(_ step: Step) -> Bool {
        guard let last, last.time >= step.time else { return false }
        // A side that sent packets meanwhile shows that there was no step at all.
        guard let beforeGap, beforeGap.time >= step.time - step.gap - 500_000_000 else { return first != nil }
        return lag(from: beforeGap, to: last) < step.gap / 2
    }

    /// Returns by how much the sender's clock fell behind the capture's clock between two packets, in nanoseconds.
    private func lag(from start: (time: Int64, value: UInt32), to end: (time: Int64, value: UInt32)) -> Int64 {
        guard let first else { return 0 }
        let passed = Int64(Int32(bitPattern: end.value &- start.value))
        let known = start.time - first.time
        let ticks = Int64(Int32(bitPattern: start.value &- first.value))
        let elapsed = end.time - start.time
        guard passed >= 0 else { return 0 }
        guard known >= 50_000_000, ticks >= 10 else {
            // The slowest timestamp clock that RFC 7323 permits ticks once a second.
            return elapsed > 3_000_000_000 ? elapsed - min(elapsed, passed * 1_000_000_000) : 0
        }
        return elapsed - Int64(min(Double(passed) * Double(known) / Double(ticks), 0x1p62))
    }
}

/// The headers of one side's most recent packets, used to determine how long after the original a copy was captured.
struct RecentHeaders: Sendable {
    private struct Header: Sendable {
        var time: Int64
        var identification: UInt16
        var hopLimit: UInt8
        var sequence: UInt32
        var acknowledgment: UInt32
        var length: Int
        var packet: Int
        var timestamp: TCPTimestamp?
    }

    private var headers: [Header] = []
    private var next = 0
    private static let capacity = 64
    /// The packets that were captured twice, with different sequence numbers.
    private(set) var translated = Evidence()
    /// The minimum difference between two sequence numbers that belong to different numberings.
    private static let leastTranslation: UInt32 = 1 << 24

    /// Frees the memory for the headers.
    mutating func forget() {
        headers = []
        next = 0
    }

    /// Detects a packet that was captured on both sides of a device that changes sequence numbers. Both packets have the
    /// same IP identification, which the device does not change.
    private mutating func noteTranslated(_ tcp: DecodedTCP, at time: Int64, packet: Int) {
        guard tcp.identification != 0, headers.count > 0 else { return }
        for age in 1...min(4, headers.count) {
            let known = headers[next < age ? next + headers.count - age : next - age]
            guard known.identification == tcp.identification, known.length == tcp.payloadLength,
                time - known.time <= 1_000_000, known.hopLimit == tcp.hopLimit || known.hopLimit == tcp.hopLimit &+ 1
            else { continue }
            if Self.isFar(known.sequence, tcp.sequence.value)
                || Self.isFar(known.acknowledgment, tcp.acknowledgment.value)
            {
                translated.add(packet)
            }
        }
    }

    private static func isFar(_ first: UInt32, _ second: UInt32) -> Bool {
        min(first &- second, second &- first) >= leastTranslation
    }

    /// Returns whether a packet's IP identification is not 0, and no other recent packet of the side has it.
    func hasOwnNumber(_ tcp: DecodedTCP) -> Bool {
        tcp.identification != 0
            && !headers.contains { $0.identification == tcp.identification && $0.sequence != tcp.sequence.value }
    }

    mutating func note(_ tcp: DecodedTCP, at time: Int64, packet: Int) {
        noteTranslated(tcp, at: time, packet: packet)
        let header = Header(
            time: time, identification: tcp.identification, hopLimit: tcp.hopLimit, sequence: tcp.sequence.value,
            acknowledgment: tcp.acknowledgment.value, length: tcp.payloadLength, packet: packet,
            timestamp: tcp.options.timestamp)
        if headers.count < Self.capacity {
            headers.append(header)
        } else {
            headers[next] = header
            next = (next + 1) % Self.capacity
        }
    }

    /// Returns the original of a packet that is a copy; `nil` if the original is not among the most recent packets.
    func original(of tcp: DecodedTCP) -> (time: Int64, packet: Int, hopLimit: UInt8)? {
        latest(like: tcp).map { ($0.time, $0.packet, $0.hopLimit) }
    }

    /// Returns the most recent packet with the same IP identification, sequence numbers and length.
    private func latest(like tcp: DecodedTCP) -> Header? {
        headers.lazy.filter {
            $0.sequence == tcp.sequence.value && $0.acknowledgment == tcp.acknowledgment.value
                && $0.length == tcp.payloadLength && $0.identification == tcp.identification
        }.max { $0.packet < $1.packet }
    }

    /// The maximum time between a packet and its copy. Some systems use the same IP identification again when they
    /// retransmit a packet, but a retransmission timer does not expire sooner.
    static let longestAge: Int64 = 100_000_000

    /// Returns whether a packet that looks like a retransmission is a copy. A packet that was really sent again would
    /// have a later timestamp or a different IP identification, and can't be captured at the same instant.
    func isCopy(_ tcp: DecodedTCP, at time: Int64) -> Bool {
        guard tcp.payloadLength > 0, let original = latest(like: tcp) else { return false }
        let age = time - original.time
        if age == 0 { return tcp.options.timestamp == original.timestamp }
        guard 2_500_000..<Self.longestAge ~= age else { return false }
        if hasOwnNumber(tcp) { return true }
        return tcp.options.timestamp != nil && original.timestamp == tcp.options.timestamp
    }
}
