import ProbeWire

/// The hop limits of one side's packets. A packet that another machine injected usually has another one.
struct HeaderPattern: Sendable {
    private(set) var hopLimit: UInt8 = 0
    /// The number of packets with this hop limit.
    private(set) var count = 0
    private(set) var hasVaried = false
    /// The number of packets whose IP identification is 0, and of those whose identification is not.
    private(set) var zeroCount = 0
    private(set) var numberedCount = 0

    mutating func note(_ tcp: DecodedTCP) {
        if tcp.identification == 0 { zeroCount += 1 } else { numberedCount += 1 }
        if count == 0 { hopLimit = tcp.hopLimit }
        if tcp.hopLimit == hopLimit { count += 1 } else { hasVaried = true }
    }

    /// Whether the hop limit of a packet differs from that of at least three packets, all of which have the same.
    func isForeign(_ tcp: DecodedTCP) -> Bool { count >= 3 && !hasVaried && tcp.hopLimit != hopLimit }

    /// Whether only this packet has an IP identification, or only this packet has none.
    func isOddlyNumbered(_ tcp: DecodedTCP) -> Bool {
        tcp.identification == 0 ? numberedCount >= 3 && zeroCount == 0 : zeroCount >= 3 && numberedCount == 0
    }
}

/// The clock of one side's timestamp options (RFC 7323, section 5.4), compared with the clock of the capture.
struct TimestampClock: Sendable {
    private var first: (time: Int64, value: UInt32)?
    private var last: (time: Int64, value: UInt32)?

    /// Records a packet. Returns the time by which the clock of the capture jumped, in nanoseconds: the time passed by
    /// more than half a second since the last packet, and the sender's clock by less than a tenth of that.
    mutating func note(_ value: UInt32, at time: Int64) -> Int64? {
        defer {
            if first == nil { first = (time, value) }
            last = (time, value)
        }
        guard let first, let last else { return nil }
        let gap = time - last.time
        let known = last.time - first.time
        let ticks = Int64(last.value &- first.value)
        guard gap > 500_000_000, known >= 200_000_000, ticks >= 20, ticks < 1 << 31 else { return nil }
        let passed = Int64(Int32(bitPattern: value &- last.value))
        guard passed >= 0 else { return nil }
        let expected = Double(gap) / Double(known) * Double(ticks)
        return expected >= 20 && Double(passed) < expected / 10 ? gap : nil
    }
}

/// The headers of one side's most recent packets, to measure how long after a packet its copy was captured.
struct RecentHeaders: Sendable {
    private struct Header: Sendable {
        var time: Int64
        var identification: UInt16
        var hopLimit: UInt8
        var sequence: UInt32
        var acknowledgment: UInt32
        var length: Int
        var packet: Int
    }

    private var headers: [Header] = []
    private var next = 0
    private static let capacity = 16

    mutating func note(_ tcp: DecodedTCP, at time: Int64, packet: Int) {
        let header = Header(
            time: time, identification: tcp.identification, hopLimit: tcp.hopLimit, sequence: tcp.sequence.value,
            acknowledgment: tcp.acknowledgment.value, length: tcp.payloadLength, packet: packet)
        if headers.count < Self.capacity {
            headers.append(header)
        } else {
            headers[next] = header
            next = (next + 1) % Self.capacity
        }
    }

    /// Returns the packet of which a packet is a copy, if it is recent enough.
    func original(of tcp: DecodedTCP) -> (time: Int64, packet: Int, hopLimit: UInt8)? {
        headers.last {
            $0.identification == tcp.identification && $0.sequence == tcp.sequence.value
                && $0.acknowledgment == tcp.acknowledgment.value && $0.length == tcp.payloadLength
        }.map { ($0.time, $0.packet, $0.hopLimit) }
    }
}
