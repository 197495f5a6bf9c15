import ProbeBase
import ProbeWire
import Testing

struct FragmentReassemblerTests {
    private let segment = PacketBuilder(payload: (0..<100).map { UInt8($0) })

    private func fragment(_ range: Range<Int>, hasMore: Bool, identification: UInt32 = 7) -> (IPFragment, [UInt8]) {
        let bytes = Array(segment.tcp[range])
        return (
            IPFragment(
                source: .loopbackV4, destination: .loopbackV4, identification: identification, protocolNumber: 6,
                offset: range.lowerBound, hasMore: hasMore, payload: 0..<bytes.count, payloadLength: bytes.count),
            bytes
        )
    }

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]])
    func fragmentsJoinInAnyOrder(order: [Int]) throws {
        var reassembler = FragmentReassembler()
        let parts = [
            fragment(0..<48, hasMore: true), fragment(48..<96, hasMore: true), fragment(96..<120, hasMore: false),
        ]
        var whole: FragmentReassembler.Datagram?
        for (number, index) in order.enumerated() {
            let (header, bytes) = parts[index]
            whole = reassembler.add(header, payload: bytes.span)
            #expect((whole != nil) == (number == 2))
        }
        let datagram = try #require(whole)
        #expect(datagram.bytes == segment.tcp && datagram.length == 120)
        guard
            case .tcp(let tcp) = try PacketDecoder.decode(
                reassembled: datagram.bytes.span, of: datagram.header, length: datagram.length)
        else {
            Issue.record("no segment")
            return
        }
        #expect(Array(datagram.bytes[tcp.payload]) == segment.payload)
    }

    @Test func overlapKeepsTheFirstBytes() {
        var reassembler = FragmentReassembler()
        let first = fragment(0..<64, hasMore: true)
        #expect(reassembler.add(first.0, payload: first.1.span) == nil)
        var other = fragment(32..<120, hasMore: false)
        other.1 = Array(repeating: 0xee, count: 88)
        let whole = reassembler.add(other.0, payload: other.1.span)
        #expect(whole?.bytes == Array(segment.tcp[..<64]) + Array(repeating: 0xee, count: 56))
        // If only a part of the first fragment was captured, the datagram ends after that part.
        #expect(reassembler.add(first.0, payload: first.1.span.extracting(0..<10)) == nil)
        let cut = reassembler.add(other.0, payload: other.1.span)
        #expect(cut?.bytes.count == 10 && cut?.length == 120)
    }

    /// If many fragments arrive between two fragments with the same identification, the identification has been reused,
    /// so the two fragments belong to different datagrams.
    @Test func reusedIdentificationIsAnotherDatagram() {
        var reassembler = FragmentReassembler()
        let first = fragment(0..<64, hasMore: true)
        let other = fragment(64..<120, hasMore: false)
        for (between, isWhole) in [(16_000, true), (17_000, false)] {
            #expect(reassembler.add(first.0, payload: first.1.span) == nil)
            for _ in 0..<between {
                var alone = fragment(0..<8, hasMore: true)
                alone.0.identification = 1
                #expect(reassembler.add(alone.0, payload: alone.1.span) == nil)
            }
            #expect((reassembler.add(other.0, payload: other.1.span) != nil) == isWhole)
        }
    }

    @Test func memoryIsBounded() {
        var reassembler = FragmentReassembler(memory: 10_000)
        let part = fragment(0..<64, hasMore: true)
        for number in 0..<1_000 {
            var header = part.0
            header.identification = UInt32(number)
            #expect(reassembler.add(header, payload: part.1.span) == nil)
        }
        #expect(reassembler.lostCount == 1_000 - 10_000 / 128)
        // Incomplete datagrams were discarded to save memory, but the most recent one was kept.
        var rest = fragment(64..<120, hasMore: false)
        rest.0.identification = 999
        #expect(reassembler.add(rest.0, payload: rest.1.span)?.bytes == segment.tcp)
    }

    @Test func hostileFragmentsNeverTrap() {
        var random = SeededRandom(seed: 9)
        var reassembler = FragmentReassembler(memory: 50_000)
        let bytes = Array(repeating: UInt8(1), count: 64)
        for _ in 0..<50_000 {
            let length = Int.random(in: 0...64, using: &random)
            let header = IPFragment(
                source: .loopbackV4, destination: .loopbackV4, identification: UInt32.random(in: 0...3, using: &random),
                protocolNumber: 6, offset: Int.random(in: 0...0xffff, using: &random),
                hasMore: Int.random(in: 0...50, using: &random) > 0, payload: 0..<length,
                payloadLength: length + Int.random(in: 0...5_000, using: &random))
            let whole = reassembler.add(header, payload: bytes.span.extracting(0..<length))
            if let whole { #expect(whole.bytes.count <= whole.length && whole.length <= 65_535) }
        }
        #expect(reassembler.lostCount > 0)
    }
}
