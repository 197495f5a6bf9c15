/// A connection whose streams are known. Its segments arrive late, twice, with other boundaries, or never. The
/// connection is generated from a seed, so that a failure can be reproduced.
struct KnownExchange {
    /// The bytes that one side sent, excluding bytes that no packet in the capture carries.
    struct Sent {
        var bytes: [UInt8] = []
        /// The ranges of stream offsets whose bytes are missing.
        var lost: [Range<Int>] = []
    }

    private var random: SeededRandom
    private let starts: [UInt32]
    private(set) var sent = [Sent(), Sent()]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15)
        // In each connection, the sequence numbers of one side wrap around.
        starts = seed % 2 == 0 ? [UInt32.max - 900, 5_000] : [1_000, UInt32.max - 300]
    }

    /// Returns the packets of the whole connection, in the order of their capture. May be called only once.
    mutating func packets() -> [RandomTraffic.Packet] {
        let streams = (0..<2).map { _ in
            (0..<Int.random(in: 1...4_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        let ends = streams.indices.map { starts[$0] &+ 1 &+ UInt32(streams[$0].count) }
        var builders = [segment(0, flags: 0x02), segment(1, flags: 0x12), segment(0, flags: 0x10)]
        var data: [(side: Int, range: Range<Int>)] = []
        for side in 0...1 { data += segments(of: streams[side], side: side).map { (side, $0) } }
        for (side, range) in data {
            builders.append(
                segment(
                    side, flags: 0x18, at: starts[side] &+ 1 &+ UInt32(range.lowerBound), Array(streams[side][range])))
        }
        builders += [segment(0, flags: 0x11, at: ends[0]), segment(1, flags: 0x11, at: ends[1])]
        for index in builders.indices.suffix(2) {
            builders[index].acknowledgment = ends[1 - (index - builders.count + 2)]
        }
        return builders.enumerated().map { number, builder in
            var frame = PacketBuilder.ethernet(builder.ipv4())
            if builder.sourcePort == 80 { frame.swapAt(29, 33) }
            return RandomTraffic.Packet(
                frame: frame, originalLength: frame.count, time: 1_700_000_000_000_000_000 + UInt64(number) * 1_000_000)
        }
    }

    /// Splits a stream into segments, occasionally loses a segment permanently, reorders the others, and repeats some
    /// of them with other boundaries.
    private mutating func segments(of stream: [UInt8], side: Int) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        var position = 0
        while position < stream.count {
            let end = min(stream.count, position + Int.random(in: 1...300, using: &random))
            let isLost = position > 0 && end < stream.count && Int.random(in: 0..<30, using: &random) == 0
            if isLost {
                sent[side].lost.append(position..<end)
            } else {
                segments.append(position..<end)
                sent[side].bytes += stream[position..<end]
            }
            position = end
        }
        // A segment that was lost and retransmitted arrives after several later ones. A segment that was only delayed
        // swaps places with its neighbor.
        for index in segments.indices.dropLast() where Int.random(in: 0..<5, using: &random) == 0 {
            segments.swapAt(index, min(segments.count - 1, index + Int.random(in: 1...4, using: &random)))
        }
        for index in segments.indices.reversed() where Int.random(in: 0..<6, using: &random) == 0 {
            let again = segments[index]
            let start = Int.random(in: again, using: &random)
            segments.insert(
                start..<again.upperBound, at: min(segments.count, index + Int.random(in: 1...3, using: &random)))
        }
        return segments
    }

    private func segment(_ side: Int, flags: UInt8, at sequence: UInt32? = nil, _ payload: [UInt8] = [])
        -> PacketBuilder
    {
        let number = sequence ?? (flags & 0x02 == 0 ? starts[side] &+ 1 : starts[side])
        return PacketBuilder(
            sourcePort: side == 0 ? 40_000 : 80, destinationPort: side == 0 ? 80 : 40_000, sequence: number,
            acknowledgment: flags == 0x02 ? 0 : starts[1 - side] &+ 1, flags: flags, payload: payload)
    }
}
