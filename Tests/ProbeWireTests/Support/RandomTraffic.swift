/// Frames of a few connections. Most frames are correct, but some are lost, duplicated, reordered or truncated, some
/// are resets, and some have a window of 0 or meaningless sequence numbers. The frames are generated from a seed, so
/// that a failure can be reproduced.
struct RandomTraffic {
    struct Packet {
        var frame: [UInt8]
        var originalLength: Int
        var time: UInt64
    }

    private struct Side {
        var next: UInt32
        var stamp: UInt32 = 1
    }

    private var random: SeededRandom
    private var sides: [[Side]]
    private var time: UInt64 = 1_700_000_000_000_000_000

    init(seed: UInt64, connections: Int = 5) {
        random = SeededRandom(seed: seed)
        // Some of the sequence numbers will soon wrap around.
        sides = []
        for number in 0..<connections {
            let start: UInt32 = number % 2 == 0 ? UInt32.max - 200 : 1_000
            sides.append([Side(next: start), Side(next: start &+ 7_777)])
        }
    }

    mutating func packets(_ count: Int) -> [Packet] {
        (0..<count).map { number in next(isOpening: number < sides.count * 3, number: number) }
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func next(isOpening: Bool, number: Int) -> Packet {
        let connection = isOpening ? number / 3 : Int.random(in: sides.indices, using: &random)
        let side = isOpening ? (number % 3 == 1 ? 1 : 0) : Int.random(in: 0...1, using: &random)
        var builder = PacketBuilder(
            sourcePort: UInt16(side == 0 ? 40_000 + connection : 80),
            destinationPort: UInt16(side == 0 ? 80 : 40_000 + connection),
            sequence: sides[connection][side].next, acknowledgment: sides[connection][1 - side].next)
        if isOpening, number % 3 < 2 {
            builder.flags = side == 0 ? 0x02 : 0x12
            builder.tcpOptions = connection % 3 == 0 ? [2, 4, 5, 180] : [2, 4, 5, 180, 4, 2, 3, 3, 7]
            sides[connection][side].next &+= 1
        } else if !isOpening {
            build(&builder, connection, side)
        } else {
            builder.flags = 0x10
        }
        return finish(builder, side: side)
    }

    private mutating func build(_ builder: inout PacketBuilder, _ connection: Int, _ side: Int) {
        builder.flags = chance(50) ? 0x10 : 0x18
        if chance(1) {
            builder.flags = [0x01, 0x04, 0x11, 0x14, 0x02, 0x12, 0x31, 0x30, 0xd0].randomElement(using: &random) ?? 0
        }
        if chance(70) { builder.payload = text(Int.random(in: 1...90, using: &random)) }
        if chance(40) {
            sides[connection][side].stamp &+= UInt32.random(in: 0...2, using: &random)
            builder.tcpOptions = [1, 1, 8, 10] + PacketBuilder.big(sides[connection][side].stamp) + [0, 0, 0, 5]
        } else if chance(3) {
            builder.tcpOptions = [1, 1, 5, 10] + PacketBuilder.big(builder.acknowledgment &+ 10) + [0, 0, 1, 0]
        }
        if chance(5) { builder.window = [0, 0, 1, 65_535].randomElement(using: &random) ?? 1 }
        let used = UInt32(builder.payload.count) + (builder.flags & 3 == 0 ? 0 : 1)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<2: builder.sequence &-= UInt32.random(in: 1...150, using: &random)
        case 2..<4: builder.sequence &+= UInt32.random(in: 1...150, using: &random)
        case 4: builder.sequence = random.next()
        default: sides[connection][side].next &+= used
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: builder.acknowledgment &-= UInt32.random(in: 0...60, using: &random)
        case 30: builder.acknowledgment &+= 1
        case 31: builder.acknowledgment = random.next()
        default: break
        }
    }

    private mutating func text(_ length: Int) -> [UInt8] {
        let letters: [UInt8] = [0x61, 0x62, 0x20, 0x09, 0x8d, 0x0d, 0x0a]
        var bytes: [UInt8] = []
        while bytes.count < length {
            if chance(8) {
                bytes += [0x0d, 0x0a]
            } else {
                bytes.append(letters[chance(2) ? Int.random(in: 3...6, using: &random) : 0])
            }
        }
        return bytes
    }

    private mutating func finish(_ builder: PacketBuilder, side: Int) -> Packet {
        var frame = PacketBuilder.ethernet(builder.ipv4())
        if side == 1 { frame.swapAt(29, 33) }
        let length = frame.count
        while chance(50), frame.count < 60 { frame.append(0) }
        if chance(2), frame.count > 60 {
            frame.removeLast(Int.random(in: 1...min(50, frame.count - 54), using: &random))
        }
        time = chance(3) ? time - 100_000 : time + UInt64.random(in: 1...3_000_000, using: &random)
        return Packet(frame: frame, originalLength: max(length, frame.count), time: time)
    }

    /// Returns a capture file with microsecond timestamps.
    static func pcap(_ packets: [Packet]) -> [UInt8] {
        var file = [0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4] + [UInt8](repeating: 0, count: 8)
        file += PacketBuilder.big(UInt32(262_144)) + PacketBuilder.big(UInt32(1))
        for packet in packets {
            file += PacketBuilder.big(UInt32(packet.time / 1_000_000_000))
            file += PacketBuilder.big(UInt32(packet.time % 1_000_000_000 / 1_000))
            file += PacketBuilder.big(UInt32(packet.frame.count)) + PacketBuilder.big(UInt32(packet.originalLength))
            file += packet.frame
        }
        return file
    }
}
