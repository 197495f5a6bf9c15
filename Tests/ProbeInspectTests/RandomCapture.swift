import ProbeBase

/// A random pcap file with many connections. Most packets are ordinary, but some are lost, duplicated, late, truncated,
/// fragmented, or not TCP. Ports are reused, and there are IPv4 and IPv6 addresses. The file is generated from a seed,
/// so that a failure can be reproduced.
struct RandomCapture {
    private struct Connection {
        var ports: (UInt16, UInt16)
        var isV6: Bool
        var next: [UInt32] = [UInt32.max - 700, 90_000]
        var packets = 0
    }

    private var random: SplitMix64
    private var connections: [Connection] = []
    private var held: [UInt8] = []
    private var time: UInt64 = 1_700_000_000_000_000
    private var identification: UInt16 = 0
    private(set) var bytes: [UInt8] = Self.little([0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1])

    /// Generates a capture from a seed.
    ///
    /// - Parameter count: the number of segments. A segment may result in several packets or in none.
    init(seed: UInt64, segments count: Int, connections flows: Int = 40) {
        random = SplitMix64(seed: seed)
        for _ in 0..<flows { connections.append(open()) }
        for _ in 0..<count { segment(Int.random(in: 0..<flows, using: &random)) }
    }

    private mutating func open() -> Connection {
        // The range of ports is small, so that ports are reused.
        Connection(
            ports: (UInt16.random(in: 40_000..<40_060, using: &random), [25, 80].randomElement(using: &random) ?? 25),
            isV6: chance(20))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func segment(_ number: Int) {
        let packets = connections[number].packets
        connections[number].packets += 1
        let side = packets < 3 ? packets % 2 : Int.random(in: 0...1, using: &random)
        var payload: [UInt8] = []
        var flags: UInt8 = packets == 0 ? 2 : packets == 1 ? 0x12 : 0x10
        if packets > 2, chance(75) {
            payload = Array(
                "line \(packets) of \(number)\(String(repeating: "x", count: Int(random.next() % 90)))".utf8)
            payload += chance(4) ? [0x0a] : chance(4) ? [0x0d] : [0x0d, 0x0a]
        }
        if packets > 20, chance(3) { flags = [0x11, 0x14, 0x01].randomElement(using: &random) ?? 0x11 }
        emit(number, side, flags, payload)
        connections[number].next[side] &+= UInt32(payload.count) + (flags & 3 == 0 ? 0 : 1)
        if packets > 60, chance(10) { connections[number] = open() }
    }

    private mutating func emit(_ number: Int, _ side: Int, _ flags: UInt8, _ payload: [UInt8]) {
        let connection = connections[number]
        let ports = side == 0 ? [connection.ports.0, connection.ports.1] : [connection.ports.1, connection.ports.0]
        let ack = flags & 0x10 == 0 ? 0 : connection.next[1 - side] &- (chance(20) ? 12 : 0)
        var tcp = ports.flatMap { Self.big(UInt32($0)).suffix(2) } + Self.big(connection.next[side]) + Self.big(ack)
        tcp += [0x50, flags, chance(2) ? 0 : 4, 0, 0, 0, 0, 0] + payload
        if connection.isV6 {
            let address = [UInt8](repeating: 0xfd, count: 15)
            frame([0x86, 0xdd, 0x60, 0, 0, 0, 0, UInt8(tcp.count), 6, 64] + address + [1] + address + [2] + tcp)
        } else if chance(4), tcp.count > 40 {
            identification &+= 1
            let parts = [(0, 24, true), (24, tcp.count, false)]
            for (start, end, hasMore) in chance(50) ? parts : parts.reversed() {
                frame(ipv4(Array(tcp[start..<end]), fragment: (hasMore ? 0x2000 : 0) | UInt16(start / 8)))
            }
        } else {
            frame(ipv4(tcp, fragment: 0))
        }
    }

    private func ipv4(_ content: [UInt8], fragment: UInt16) -> [UInt8] {
        let header: [UInt8] =
            [8, 0, 0x45, 0, 0, UInt8(20 + content.count), UInt8(identification >> 8), UInt8(identification & 255)]
        return header + [UInt8(fragment >> 8), UInt8(fragment & 255), 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2] + content
    }

    /// Writes a frame, or randomly drops, duplicates or delays it.
    private mutating func frame(_ content: [UInt8]) {
        let frame = [UInt8](repeating: 2, count: 12) + content
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<2: return
        case 2..<5:
            record(frame)
            record(frame)
        case 5..<8 where held.isEmpty: held = frame
        case 8: record(Array(frame.prefix(Int.random(in: 10..<frame.count, using: &random))), length: frame.count)
        case 9: record([UInt8](repeating: 2, count: 12) + [8, 6] + [UInt8](repeating: 1, count: 28))
        default: record(frame)
        }
        if !held.isEmpty, chance(40) {
            record(held)
            held = []
        }
    }

    private mutating func record(_ frame: [UInt8], length: Int? = nil) {
        time += UInt64.random(in: 1...2_000, using: &random)
        let words = [time / 1_000_000, time % 1_000_000, UInt64(frame.count), UInt64(length ?? frame.count)]
        bytes += Self.little(words.map(UInt32.init)) + frame
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    private static func little(_ values: [UInt32]) -> [UInt8] { values.flatMap { big($0).reversed() } }
}
