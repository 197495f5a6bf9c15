import ProbeBase
import Testing

@testable import ProbeLink

/// Tests whether a link's command took effect, and what is reported if it did not.
@Suite struct LinkConditionTests {
    private func shortfall(
        _ command: LinkCommand<Resolved>, from side: LinkSide? = .left, _ body: (inout LinkHarness) throws -> Void
    ) throws -> String? {
        var link = LinkHarness()
        link.open()
        try link.apply(command, from: side)
        try body(&link)
        let found = link.core.shortfalls.first { $0.id == 0 }
        return found.map { "\($0.missingText): \($0.reason("from S to C"))" }
    }

    private func drop(_ kind: PacketKind, _ ordinals: ClosedRange<Int>?) -> LinkCommand<Resolved> {
        .packets(.drop, PacketSelection(kind: kind, ordinals: ordinals))
    }

    @Test func passedPacketsAreReported() throws {
        #expect(
            try shortfall(drop(.data, 4...4)) { for number in 1...2 { _ = $0.data(number) } }
                == ": 2 data packets passed from S to C")
        #expect(try shortfall(drop(.fin, nil)) { _ = $0.data(1) } == ": no FIN passed from S to C")
        #expect(try shortfall(drop(.data, 1...1)) { _ = $0.data(1) } == nil)
        #expect(
            try shortfall(drop(.data, 1...1), from: .right) { _ = $0.data(1) } == ": no data packet passed from S to C")
    }

    @Test func everySelectedPacketMustPass() throws {
        #expect(
            try shortfall(drop(.data, 2...9)) { for number in 1...3 { _ = $0.data(number) } }
                == "4 to 9: 3 data packets passed from S to C")
        #expect(try shortfall(drop(.data, 2...3)) { for number in 1...3 { _ = $0.data(number) } } == nil)
        // Another fault drops a packet in the middle of the selected range.
        var link = LinkHarness()
        link.open()
        try link.apply(drop(.data, 2...2))
        try link.apply(drop(.data, 1...4))
        for number in 1...4 { _ = link.data(number) }
        let found = try #require(link.core.shortfalls.first)
        #expect(found.id == 1 && found.missingText == "2")
        #expect(found.reason("%").hasSuffix("another fault acted on the selected one"))
    }

    @Test func selectedNumbersAreAddedAndRemoved() {
        let selection = PacketSelection<Resolved>(kind: .data, ordinals: 1...10)
        var effect = LinkEffect(.packets(.drop, selection), from: nil, LinkPair(LinkTally(), LinkTally()))
        for member in [3, 1, 5, 4, 10, 2, 2] { effect.add(member: member) }
        #expect(effect.members == [1...5, 10...10] && effect.missing == [6...9])
        effect.remove(member: 3)
        effect.remove(member: 10)
        effect.remove(member: 7)
        #expect(effect.members == [1...2, 4...5] && effect.missing == [3...3, 6...10])
        for member in [3, 6, 7, 8, 9, 10] { effect.add(member: member) }
        #expect(effect.members == [1...10] && effect.isMet)
    }

    @Test func swapNeedsAFollowingPacket() throws {
        let selection = PacketSelection<Resolved>(kind: .data, ordinals: 1...2)
        let both = try shortfall(.packets(.swap, selection)) { for number in 1...3 { _ = $0.data(number) } }
        #expect(
            both?.hasPrefix("1: 3 data packets passed") == true, "the packet after the first one is itself selected")
        let healed = try shortfall(.packets(.swap, PacketSelection(kind: .data, ordinals: 1...1))) {
            _ = $0.data(1)
            try $0.apply(.heal)
        }
        #expect(healed?.hasSuffix("none followed the selected one within 200 ms") == true)
    }

    @Test func unchangeablePacketsDoNotCount() throws {
        let acks = PacketSelection<Resolved>(kind: .ack, ordinals: 1...1)
        let ack = SegmentFrames().segment(from: .left, flags: 16, sequence: 500, acknowledgment: 100)
        #expect(
            try shortfall(.packets(.alter, acks)) { $0.pass(ack) }
                == ": 1 ACK without data passed from S to C, and the selected one has no payload")
        #expect(
            try shortfall(.truncate(PacketSelection(kind: .any, ordinals: 1...1), to: 200)) { _ = $0.data(1) }
                == ": 1 packet passed from S to C, and the selected one has 200 bytes or fewer")
    }

    @Test func resetAfterAPacketCountsOnceSent() throws {
        let first = PacketSelection<Resolved>(kind: .data, ordinals: 1...1)
        var link = LinkHarness()
        link.open()
        try link.apply(.delay(.milliseconds(50), jitter: .zero, seed: 1, mayReorder: false))
        let reset = try link.apply(.resetBehind(first))
        _ = link.data(1)
        #expect(link.core.unmet == [reset], "the reset waits with its packet")
        link.advance(.milliseconds(50))
        #expect(link.core.unmet == [])
    }

    @Test func rateMustDelayAPacket() throws {
        #expect(
            try shortfall(.rate(bytesPerSecond: 100 << 20, queue: nil)) { _ = $0.data(1) }
                == ": 1 packet passed from S to C, and none had to wait")
        #expect(try shortfall(.rate(bytesPerSecond: 10_000, queue: nil)) { _ = $0.data(1) } == nil)
        // A packet that is dropped because the queue is full is treated as a packet that had to wait.
        #expect(
            try shortfall(.rate(bytesPerSecond: 20 << 20, queue: 1)) { for number in 1...9 { _ = $0.data(number) } }
                == nil)
    }

    @Test func lossAndBurstsMustOccur() throws {
        func loss(_ percent: Double, _ burst: Int) -> LinkCommand<Resolved> {
            .loss(percent: percent, seed: 6, burst: burst)
        }
        #expect(
            try shortfall(loss(0.001, 1)) { _ = $0.data(1) } == ": 1 packet passed from S to C, and none was lost")
        #expect(try shortfall(loss(100, 1)) { _ = $0.data(1) } == nil)
        #expect(
            try shortfall(loss(100, 2)) { _ = $0.data(1) }
                == ": 1 packet passed from S to C, and no two in a row were lost")
        #expect(try shortfall(loss(100, 2)) { for number in 1...2 { _ = $0.data(number) } } == nil)
        var link = LinkHarness()
        link.open()
        try link.apply(loss(100, 1))
        let burst = try link.apply(.burst(2))
        _ = link.data(1)
        #expect(link.core.unmet == [burst])
        _ = link.data(2)
        #expect(link.core.unmet == [])
    }

    @Test func statesNeedAffectedPackets() throws {
        let ack = SegmentFrames().segment(from: .left, flags: 16, sequence: 500, acknowledgment: 100)
        #expect(try shortfall(.mtu(1280, isSilent: true)) { $0.pass(ack) } == ": no data packet passed from S to C")
        #expect(try shortfall(.mtu(1280, isSilent: true)) { _ = $0.data(1) } == nil)
        let syn = SegmentFrames().segment(
            from: .left, flags: 2, sequence: 7, acknowledgment: 0, options: [2, 4, 5, 0xb4])
        #expect(try shortfall(.clampMSS(1460)) { $0.pass(syn) } == nil)
        #expect(try shortfall(.clampMSS(536)) { _ = $0.data(1) } == nil)
        #expect(
            try shortfall(.clampMSS(536)) { $0.pass(ack) }
                == ": no SYN with an MSS and no data packet passed from S to C")
        #expect(
            try shortfall(.strip(.sack)) { $0.pass(syn) }
                == ": 1 SYN or SYN-ACK passed from S to C, none with the option")
        #expect(
            try shortfall(.window(65_535)) { $0.pass(ack) }
                == ": 1 packet passed from S to C, and none advertised a larger window")
    }

    @Test func endOfAStateNeedsAState() throws {
        #expect(try shortfall(.up) { _ in } == ": nothing was down from S to C")
        #expect(try shortfall(.heal) { _ in } == ": no fault and no state was in force from S to C")
        #expect(try shortfall(.release) { _ in } == ": no packet was held from S to C")
        #expect(try shortfall(.down) { _ in } == ": no packet passed from S to C")
    }

    /// Packets that cross the link after a state was replaced, or ended by `heal`, are not counted for that state.
    @Test func onlyPacketsDuringTheStateCount() throws {
        let found = try shortfall(.rate(bytesPerSecond: 100 << 20, queue: nil)) {
            _ = $0.data(1)
            try $0.apply(.heal)
            for number in 2...5 { _ = $0.data(number) }
        }
        #expect(found == ": 1 packet passed from S to C, and none had to wait")
    }

    private static let packetsOfTheKernel: [(next: UInt8, body: [UInt8])] = {
        let zeros = [UInt8](repeating: 0, count: 31)
        return [(0, [0] + zeros), (58, [135] + zeros), (58, [143] + zeros)]
    }()

    /// The kernel's own packets about neighbors and multicast groups are not subject to faults.
    @Test(arguments: packetsOfTheKernel)
    func kernelPacketsAreNotTraffic(_ next: UInt8, _ body: [UInt8]) throws {
        var frame = Array(SegmentFrames(isIPv6: true).data(1).prefix(54)) + body
        (frame[18], frame[19], frame[20]) = (0, UInt8(body.count), next)
        #expect(try shortfall(.down) { $0.pass(frame) } != nil)
        #expect(
            try shortfall(.delay(.milliseconds(1), jitter: .zero, seed: 1, mayReorder: false)) { $0.pass(frame) } != nil
        )
        #expect(try shortfall(drop(.any, 1...1)) { $0.pass(frame) } == ": no packet passed from S to C")
        frame[20] = 17
        #expect(try shortfall(.down) { $0.pass(frame) } == nil)
    }
}
