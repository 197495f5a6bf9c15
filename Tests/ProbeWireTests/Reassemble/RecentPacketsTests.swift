import ProbeBase
import ProbeWire
import Testing

/// Tests that a packet that was captured twice is counted once and reported as a copy, and that a packet that was sent
/// twice is still a retransmission.
struct RecentPacketsTests {
    struct Packet {
        var bytes: [UInt8]
        var time: UInt64
    }

    private func frame(
        fromClient: Bool = true, _ sequence: UInt32, ack: UInt32, flags: UInt8 = 0x18, _ payload: String = "",
        number: UInt16, hops: UInt8 = 64, window: UInt16 = 512
    ) -> [UInt8] {
        var builder = PacketBuilder()
        if !fromClient { swap(&builder.sourcePort, &builder.destinationPort) }
        builder.sequence = sequence
        builder.acknowledgment = ack
        builder.flags = flags
        builder.window = window
        builder.payload = Array(payload.utf8)
        var ip = builder.ipv4()
        (ip[4], ip[5], ip[8]) = (UInt8(number >> 8), UInt8(number & 255), hops)
        if !fromClient { ip.replaceSubrange(12..<20, with: [10, 0, 0, 2, 10, 0, 0, 1]) }
        // The checksum field contains a simple sum over the payload instead of the TCP checksum.
        let sum = builder.payload.reduce(UInt16(number)) { $0 &* 31 &+ UInt16($1) }
        (ip[36], ip[37]) = (UInt8(sum >> 8), UInt8(sum & 255))
        return PacketBuilder.ethernet(ip)
    }

    private func analysis(_ packets: [Packet], fast: Bool) -> CaptureAnalysis {
        var analysis = CaptureAnalysis()
        for (index, packet) in packets.enumerated() {
            let time = 1_767_225_600_000_000_000 + packet.time
            if fast {
                analysis.pass(
                    packet.bytes.span, linkType: .ethernet, originalLength: packet.bytes.count, time: time, index: index
                )
            } else {
                analysis.add(
                    packet.bytes.span, linkType: .ethernet, originalLength: packet.bytes.count, time: time, index: index
                )
            }
        }
        analysis.finish()
        return analysis
    }

    /// Returns the packets of a request, a response in several segments, and acknowledgments. Each packet appears
    /// twice.
    private func doubled(hopsOfCopy: UInt8, numbered: Bool, delay: UInt64, burst: Int) -> [Packet] {
        var packets: [(fromClient: Bool, sequence: UInt32, ack: UInt32, flags: UInt8, payload: String)] = [
            (true, 99, 0, 0x02, ""), (false, 199, 100, 0x12, ""), (true, 100, 200, 0x10, ""),
            (true, 100, 200, 0x18, "request"),
        ]
        for number in 0..<20 as Range<UInt32> { packets.append((false, 200 + number * 4, 107, 0x18, "part")) }
        for number in 0..<5 as Range<UInt32> { packets.append((true, 107, 216 + number * 16, 0x10, "")) }
        var result: [Packet] = []
        var start = 0
        var time: UInt64 = 0
        while start < packets.count {
            let end = min(packets.count, start + burst)
            for copy in [false, true] {
                for (index, packet) in packets[start..<end].enumerated() {
                    let number = numbered ? UInt16(start + index + 1) : 0
                    result.append(
                        Packet(
                            bytes: frame(
                                fromClient: packet.fromClient, packet.sequence, ack: packet.ack, flags: packet.flags,
                                packet.payload, number: number, hops: copy ? hopsOfCopy : 64),
                            time: time + UInt64(index) * 1_000 + (copy ? delay : 0)))
                }
            }
            time += 20_000_000
            start = end
        }
        return result
    }

    @Test(arguments: [64, 63, 61] as [UInt8], [true, false])
    func copiesAreNotCounted(hops: UInt8, fast: Bool) throws {
        for burst in [1, 3, 20] {
            for (numbered, delay) in [(true, 2_000_000), (true, 40_000), (false, 40_000)] as [(Bool, UInt64)]
            // A packet without an IP identification that follows a response may be a retransmission, and one that passed
            // several routers may have taken another path.
            where numbered || (burst == 1 && hops >= 63) {
                let found = analysis(
                    doubled(hopsOfCopy: hops, numbered: numbered, delay: delay, burst: burst), fast: fast)
                let flow = try #require(found.table.conversations.first)
                #expect(found.copyCount == 29 && found.table.conversations.count == 1 && found.packetCount == 58)
                #expect(flow.fromClient.copyCount + flow.fromServer.copyCount == 29 && flow.packetCount == 29)
                #expect(flow.fromServer.segmentCount == 20 && flow.fromServer.stream.deliveredLength == 80)
                #expect(flow.judge(.noRetransmission) == .passed)
                #expect(flow.fromClient.signals.duplicates == 0 && flow.handshakeRoundTrip != nil)
            }
        }
    }

    /// Copies are recognized even if a router delays its packets by 50 ms at 40,000 packets per second.
    @Test(arguments: [true, false])
    func copiesAreRecognizedAfterManyPackets(fast: Bool) throws {
        let count = 2_000 as UInt32
        let packets = [false, true].flatMap { copy in
            (0..<count).map { number in
                Packet(
                    bytes: frame(100 + number, ack: 200, "a", number: UInt16(number) + 1, hops: copy ? 63 : 64),
                    time: UInt64(number) * 25_000 + (copy ? 50_000_000 : 0))
            }
        }
        let flow = try #require(analysis(packets, fast: fast).table.conversations.first)
        #expect(flow.fromClient.copyCount == 2_000 && flow.fromClient.retransmissionCount == 0)
    }

    /// A packet is a retransmission and not a copy if it has another IP identification, a higher hop limit or other
    /// bytes, or if it arrives too late.
    @Test(arguments: ["flags", "number", "late", "same number", "hops", "fewer hops", "bytes"], [true, false])
    func retransmissionIsNotACopy(difference: String, fast: Bool) throws {
        let first = [
            Packet(bytes: frame(99, ack: 0, flags: 2, number: 1), time: 0),
            Packet(bytes: frame(fromClient: false, 199, ack: 100, flags: 0x12, number: 1), time: 1_000),
            Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 2), time: 2_000),
            Packet(bytes: frame(100, ack: 200, "abc", number: 3), time: 3_000),
        ]
        let again =
            switch difference {
            case "flags": Packet(bytes: frame(100, ack: 200, flags: 0x19, "abc", number: 3), time: 5_000)
            case "number": Packet(bytes: frame(100, ack: 200, "abc", number: 4), time: 5_000)
            // A Windows system was observed to send a second SYN 5 ms later with the same IP identification.
            case "same number": Packet(bytes: frame(100, ack: 200, "abc", number: 3), time: 5_003_000)
            case "late": Packet(bytes: frame(100, ack: 200, "abc", number: 3), time: 300_000_000)
            case "hops": Packet(bytes: frame(100, ack: 200, "abc", number: 3, hops: 65), time: 5_000)
            case "fewer hops": Packet(bytes: frame(100, ack: 200, "abc", number: 3, hops: 55), time: 5_000)
            // The payloads `abc` and `acD` have the same checksum but different bytes.
            default: Packet(bytes: frame(100, ack: 200, "acD", number: 3), time: 5_000)
            }
        let found = analysis(first + [again], fast: fast)
        let flow = try #require(found.table.conversations.first)
        #expect(found.copyCount == 0 && (flow.fromClient.retransmissionCount == 1 || difference == "flags"))
        #expect(flow.fromClient.stream.conflictCount == (difference == "bytes" ? 1 : 0))
        #expect((flow.fromClient.fin != nil) == (difference == "flags"))
    }

    /// Two identical acknowledgments without an IP identification may both have been sent.
    @Test func unnumberedAcknowledgmentsMayBeDuplicates() throws {
        var packets = [
            Packet(bytes: frame(99, ack: 0, flags: 2, number: 0), time: 0),
            Packet(bytes: frame(fromClient: false, 199, ack: 100, flags: 0x12, number: 0), time: 1_000),
            Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 0), time: 2_000),
        ]
        for number in 0..<4 as Range<UInt32> where number != 1 {
            packets.append(
                Packet(bytes: frame(fromClient: false, 200 + number * 4, ack: 100, "part", number: 0), time: 3_000))
        }
        for number in 0..<4 as Range<UInt64> {
            packets.append(Packet(bytes: frame(100, ack: 204, flags: 0x10, number: 0), time: 4_000 + number))
        }
        let found = analysis(packets, fast: false)
        #expect(found.copyCount == 0)
        #expect(try #require(found.table.conversations.first).fromClient.signals.duplicates == 3)
    }

    /// Packets that a system sends to itself have meaningless checksums and no IP identification, so they may look like
    /// copies.
    @Test(arguments: [true, false])
    func finAfterAnAcknowledgmentIsNotACopy(fast: Bool) throws {
        let found = analysis(
            [
                Packet(bytes: frame(99, ack: 0, flags: 2, number: 0), time: 0),
                Packet(bytes: frame(fromClient: false, 199, ack: 100, flags: 0x12, number: 0), time: 1_000),
                Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 0), time: 2_000),
                Packet(bytes: frame(100, ack: 200, flags: 0x11, number: 0), time: 3_000),
            ], fast: fast)
        #expect(try found.copyCount == 0 && #require(found.table.conversations.first).fromClient.fin?.offset == 0)
    }

    /// If a packet without an IP identification is repeated after a response from the peer, the response caused the
    /// repetition.
    @Test(arguments: [true, false])
    func repetitionAfterAnAnswerIsNotACopy(isAnswered: Bool) throws {
        var packets = [
            Packet(bytes: frame(99, ack: 0, flags: 2, number: 0), time: 0),
            Packet(bytes: frame(fromClient: false, 199, ack: 100, flags: 0x12, number: 0), time: 1_000),
            Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 0), time: 2_000),
            Packet(bytes: frame(100, ack: 200, "abc", number: 0), time: 3_000),
        ]
        if isAnswered {
            packets.append(Packet(bytes: frame(fromClient: false, 200, ack: 100, flags: 0x10, number: 0), time: 4_000))
        }
        packets.append(Packet(bytes: frame(100, ack: 200, "abc", number: 0), time: 5_000))
        let found = analysis(packets, fast: false)
        let flow = try #require(found.table.conversations.first)
        #expect(found.copyCount == (isAnswered ? 0 : 1) && flow.fromClient.retransmissionCount == (isAnswered ? 1 : 0))
    }

    /// If a capture contains copies, identical acknowledgments without an IP identification may be copies as well.
    @Test func unnumberedAcknowledgmentsAmongCopiesAreInconclusive() throws {
        var packets = [
            Packet(bytes: frame(99, ack: 0, flags: 2, number: 0), time: 0),
            Packet(bytes: frame(99, ack: 0, flags: 2, number: 0), time: 100),
            Packet(bytes: frame(fromClient: false, 199, ack: 100, flags: 0x12, number: 0), time: 1_000),
            Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 0), time: 2_000),
            Packet(bytes: frame(fromClient: false, 204, ack: 100, "part", number: 0), time: 3_000),
        ]
        for number in 0..<3 as Range<UInt64> {
            packets.append(Packet(bytes: frame(100, ack: 200, flags: 0x10, number: 0), time: 4_000 + number))
        }
        let flow = try #require(analysis(packets, fast: false).table.conversations.first)
        #expect(flow.judge(.halfConnection(.duplicateAcks(.greaterOrEqual, 3), from: .client)).outcome == .inconclusive)
    }

    /// A copy of an analysis remembers the same packets as the original. Packets that are added to one analysis do not
    /// affect the other analysis.
    @Test func copiesOfAnAnalysisAreIndependent() {
        var one = CaptureAnalysis()
        func take(_ analysis: inout CaptureAnalysis, number: UInt16, payload: String) {
            let packet = frame(100, ack: 200, payload, number: number)
            analysis.pass(
                packet.span, linkType: .ethernet, originalLength: packet.count, time: 1_767_225_600_000_000_000,
                index: 0)
        }
        take(&one, number: 1, payload: "a")
        var other = one
        for number in 2..<9_000 as Range<UInt16> { take(&other, number: number, payload: "other") }
        take(&one, number: 1, payload: "a")
        take(&other, number: 1, payload: "a")
        #expect(one.copyCount == 1 && other.copyCount == 0)
    }

    /// The clocks on the two sides of a router may differ, so a copy may have an earlier timestamp than the original.
    @Test func copyMayHaveAnEarlierTimestamp() {
        let found = analysis(
            [
                Packet(bytes: frame(99, ack: 0, flags: 2, number: 1), time: 9_000_000),
                Packet(bytes: frame(99, ack: 0, flags: 2, number: 1, hops: 63), time: 2_000_000),
            ], fast: false)
        #expect(found.copyCount == 1)
    }

    /// Two analyses, each of one share of the connections, recognize the same copies as a single analysis, even if
    /// there are more packets than are remembered.
    @Test func sharesRecognizeTheSameCopies() {
        func analysis(_ share: ConnectionShare) -> CaptureAnalysis {
            var analysis = CaptureAnalysis(share: share)
            for round in 0..<3 as Range<UInt32> {
                for copy in [false, true] {
                    for port in 0..<(round == 1 ? 9_000 : 900) as Range<UInt16> {
                        var packet = frame(
                            100 + round, ack: 200, flags: round == 0 ? 0x02 : 0x18, round == 0 ? "" : "a",
                            number: port + UInt16(round) * 9_000 + 1, hops: copy ? 63 : 64)
                        (packet[34], packet[35]) = (UInt8(port >> 8) + 128, UInt8(port & 255))
                        let time = UInt64(round) * 100_000_000 + UInt64(port) * 10_000 + (copy ? 30_000_000 : 0)
                        analysis.pass(
                            packet.span, linkType: .ethernet, originalLength: packet.count, time: time, index: Int(port)
                        )
                    }
                }
            }
            analysis.finish()
            return analysis
        }
        let all = analysis(.all).copyCount
        #expect(all == 1_800)
        #expect(analysis(ConnectionShare(0, of: 2)).copyCount + analysis(ConnectionShare(1, of: 2)).copyCount == all)
    }
}
