import ProbeBase
import Testing

@testable import ProbeLink

/// Tests how each fault in the language's table affects packets.
@Suite struct LinkFaultTests {
    private func selection(_ number: Int) -> PacketSelection<Resolved> {
        PacketSelection(kind: .data, ordinals: number...number)
    }

    @Test(arguments: [false, true]) func packetsAreDamagedAsOrdered(_ isIPv6: Bool) throws {
        let frames = SegmentFrames(isIPv6: isIPv6)
        var link = LinkHarness()
        link.open(frames)
        try link.apply(.packets(.breakChecksum, selection(1)))
        try link.apply(.packets(.alter, selection(2)))
        try link.apply(.truncate(selection(3), to: 45))
        let broken = try #require(link.pass(frames.data(1)).first)
        #expect(!SegmentFrames.isSound(broken.bytes) && broken.bytes.count == frames.data(1).count)
        let altered = try #require(link.pass(frames.data(2)).first)
        #expect(SegmentFrames.isSound(altered.bytes) && altered.bytes != frames.data(2))
        #expect(altered.bytes.dropLast().suffix(9) == frames.data(2).dropLast().suffix(9))
        let cut = try #require(link.pass(frames.data(3)).first)
        #expect(cut.bytes == Array(frames.data(3).prefix(14 + 45)))
        #expect(link.core.unmet == [])
        #expect(
            link.core.records.suffix(6).map(\.view) == [.left, .arrived, .left, .arrived, .left, .arrived])
    }

    @Test func delayedSwappedAndHeldPacketsAreReordered() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(.packets(.delay(.milliseconds(40)), selection(1)))
        try link.apply(.packets(.swap, selection(2)))
        try link.apply(.packets(.hold, selection(4)))
        let frames = SegmentFrames()
        #expect(link.data(1).isEmpty)
        #expect(link.data(2).isEmpty)
        #expect(link.data(3).map(\.bytes) == [frames.data(3), frames.data(2)])
        #expect(link.data(4).isEmpty)
        #expect(link.core.nextDeadline == link.now + .milliseconds(40))
        link.advance(.milliseconds(39))
        #expect(link.core.takeOutgoing().isEmpty)
        link.advance(.milliseconds(1))
        #expect(link.core.takeOutgoing().map(\.bytes) == [frames.data(1)])
        try link.apply(.release)
        #expect(link.core.takeOutgoing().map(\.bytes) == [frames.data(4)])
        #expect(link.core.unmet == [])
    }

    @Test func swapWithoutANextPacketHasNoEffect() throws {
        var link = LinkHarness()
        link.open()
        let id = try link.apply(.packets(.swap, selection(1)))
        #expect(link.data(1).isEmpty)
        link.advance(.milliseconds(200))
        #expect(link.core.takeOutgoing().count == 1)
        #expect(link.core.unmet == [id])
    }

    @Test func duplicateIsMarked() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(.packets(.duplicate, selection(1)))
        #expect(link.data(1).count == 2)
        #expect(link.core.records.suffix(2).map(\.isDuplicate) == [false, true])
        #expect(link.core.records.suffix(2).map(\.view) == [.both, .arrived])
    }

    @Test(arguments: [false, true]) func resetsHaveTheExpectedSequenceNumber(_ isIPv6: Bool) throws {
        let frames = SegmentFrames(isIPv6: isIPv6)
        var link = LinkHarness()
        link.open(frames)
        _ = link.pass(frames.data(1))
        // Data after a gap does not change the sequence number that the receiver expects, which is that of the second
        // packet.
        _ = link.pass(frames.data(3))
        try link.apply(.reset(.outsideWindow))
        let outside = try #require(link.core.takeOutgoing().first)
        try link.apply(.reset(.now))
        let exact = try #require(link.core.takeOutgoing().first)
        #expect(exact.to == .right && SegmentFrames.isSound(exact.bytes))
        #expect(LinkFrame(exact.bytes).tcp?.sequence == 510)
        #expect(LinkFrame(exact.bytes).tcp?.hasRST == true)
        #expect(LinkFrame(outside.bytes).tcp?.sequence == 510 &+ 0x8000_0000)
        try link.apply(.reset(.now))
        #expect(link.core.takeOutgoing().isEmpty, "the connection has ended")
        #expect(link.core.records.last?.isMadeByLink == true)
    }

    @Test func resetFollowsItsPacket() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(.delay(.milliseconds(20), jitter: .zero, seed: 1, mayReorder: false))
        try link.apply(.resetBehind(selection(2)))
        #expect(link.data(1).isEmpty && link.data(2).isEmpty)
        link.advance(.milliseconds(20))
        let sent = link.core.takeOutgoing().map { LinkFrame($0.bytes).tcp }
        #expect(sent.map { $0?.hasRST } == [false, false, true])
        #expect(sent.last??.sequence == 520)
    }

    @Test func injectedBytesAreInTheWindow() throws {
        let stamps: [UInt8] = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9]
        let frames = SegmentFrames()
        var link = LinkHarness()
        link.open()
        link.pass(
            frames.segment(
                from: .left, flags: 24, sequence: 500, acknowledgment: 100, options: stamps, payload: [1, 2, 3]))
        try link.apply(.inject(Array("evil".utf8)))
        let made = try #require(link.core.takeOutgoing().first)
        let tcp = try #require(LinkFrame(made.bytes).tcp)
        #expect(tcp.sequence == 503 && tcp.acknowledgment == 100 && SegmentFrames.isSound(made.bytes))
        #expect(Array(made.bytes[tcp.payload..<tcp.end]) == Array("evil".utf8))
        #expect(Array(made.bytes[tcp.start + 20..<tcp.payload]) == stamps)
    }

    @Test func windowsAreBounded() throws {
        let frames = SegmentFrames()
        var link = LinkHarness()
        let scale: [UInt8] = [3, 3, 7, 1]
        link.pass(frames.segment(from: .right, flags: 2, sequence: 99, acknowledgment: 0, options: scale), from: .right)
        link.pass(frames.segment(from: .left, flags: 18, sequence: 499, acknowledgment: 100, options: scale))
        func window(_ sent: [LinkCore.Outgoing]) -> UInt16? { sent.first.flatMap { LinkFrame($0.bytes).tcp?.window } }
        try link.apply(.window(640))
        #expect(window(link.data(1)) == 5)
        try link.apply(.window(1))
        #expect(window(link.data(2)) == 1)
        try link.apply(.window(0))
        #expect(window(link.data(3)) == 0)
        try link.apply(.heal)
        #expect(window(link.data(4)) == 1000)
    }

    @Test func handshakeOptionsAreChanged() throws {
        let options: [UInt8] = [2, 4, 5, 0xb4, 4, 2, 3, 3, 7, 1, 1, 1]
        let frames = SegmentFrames()
        var link = LinkHarness()
        try link.apply(.clampMSS(536), from: .right)
        try link.apply(.strip(.sack), from: .right)
        let syn = frames.segment(from: .right, flags: 2, sequence: 99, acknowledgment: 0, options: options)
        let sent = try #require(link.pass(syn, from: .right).first)
        let tcp = try #require(LinkFrame(sent.bytes).tcp)
        #expect(Array(sent.bytes[tcp.start + 20..<tcp.payload]) == [2, 4, 2, 24, 1, 1, 3, 3, 7, 1, 1, 1])
        #expect(SegmentFrames.isSound(sent.bytes))
        #expect(link.core.unmet == [])
    }

    @Test(arguments: [false, true]) func senderReceivesICMPErrors(_ isIPv6: Bool) throws {
        let frames = SegmentFrames(isIPv6: isIPv6, size: 1300)
        var link = LinkHarness()
        link.open(frames)
        try link.apply(.mtu(1280, isSilent: false))
        let large = link.pass(frames.data(1))
        #expect(large.map(\.to) == [.left])
        let type = 14 + (isIPv6 ? 40 : 20)
        #expect(large.first.map { Array($0.bytes[type..<type + 2]) } == (isIPv6 ? [2, 0] : [3, 4]))
        try link.apply(.mtu(1280, isSilent: true))
        #expect(link.pass(frames.data(2)).isEmpty)
        try link.apply(.heal)
        try link.apply(.unreachable(nil))
        let answer = link.pass(frames.data(3))
        #expect(answer.first.map { Array($0.bytes[type..<type + 2]) } == (isIPv6 ? [1, 3] : [3, 1]))
    }

    @Test func packetsWithoutDontFragmentAreFragmented() throws {
        let frames = SegmentFrames(mayFragment: true, size: 1300)
        var link = LinkHarness()
        link.open(frames)
        try link.apply(.mtu(700, isSilent: false))
        let pieces = link.pass(frames.data(1))
        #expect(pieces.map(\.to) == [.right, .right])
        #expect(pieces.allSatisfy { $0.bytes.count <= 14 + 700 })
        let bodies = pieces.flatMap { Array($0.bytes[34...]) }
        #expect(bodies == Array(frames.data(1)[34...]))
        #expect(pieces.map { $0.bytes[20] & 0x20 } == [0x20, 0])
    }

    @Test func randomBytesNeverTrap() throws {
        var generator = SplitMix64(seed: 11)
        var link = LinkHarness()
        for command: LinkCommand<Resolved> in [
            .strip(.mss), .clampMSS(100), .window(3), .mtu(200, isSilent: false), .loss(percent: 10, seed: 1, burst: 2),
            .packets(.alter, PacketSelection(kind: .any, ordinals: 1...200)),
            .truncate(PacketSelection(kind: .any, ordinals: 200...400), to: 20),
            .resetBehind(PacketSelection(kind: .any, ordinals: nil)),
        ] { try link.apply(command, from: nil) }
        let model = SegmentFrames(size: 300).data(1)
        for round in 0..<4000 {
            var frame = round % 3 == 0 ? [] : model
            let length = Int(generator.next() % 400)
            frame = frame.isEmpty ? (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) } : frame
            for _ in 0..<Int(generator.next() % 8) where !frame.isEmpty {
                frame[Int(generator.next() % UInt64(min(frame.count, 80)))] = UInt8(
                    truncatingIfNeeded: generator.next())
            }
            link.pass(Array(frame.prefix(Int(generator.next() % 500))), from: round % 2 == 0 ? .left : .right)
            if round % 50 == 0 { try link.apply(.inject([1]), from: nil) }
        }
        link.advance(.seconds(1))
        #expect(link.core.met(0) != nil)
    }
}
