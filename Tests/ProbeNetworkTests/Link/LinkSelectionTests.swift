import ProbeBase
import Testing

@testable import ProbeLink

/// Tests which packets a fault selects by kind, by ordinal, or as retransmissions.
@Suite struct LinkSelectionTests {
    private func drop(_ kind: PacketKind, _ ordinals: ClosedRange<Int>?, again: Bool = false) -> LinkCommand<Resolved> {
        .packets(.drop, PacketSelection(kind: kind, ordinals: ordinals, isAgain: again))
    }

    @Test(arguments: 1...5) func oneDataSegmentIsDropped(_ number: Int) throws {
        var link = LinkHarness()
        try link.apply(drop(.data, number...number))
        link.open()
        let passed = (1...5).filter { !link.data($0).isEmpty }
        #expect(passed == (1...5).filter { $0 != number })
        #expect(link.core.unmet == [])
    }

    @Test func copiesAreNotCounted() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(drop(.data, 3...3))
        #expect(link.data(1).count == 1)
        #expect(link.data(1).count == 1)
        #expect(link.data(2).count == 1)
        #expect(link.data(2).count == 1)
        #expect(link.data(3).isEmpty)
        #expect(link.data(3).count == 1)
    }

    @Test func againSelectsTheNextCopy() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(drop(.data, 2...2))
        try link.apply(drop(.data, 2...2, again: true))
        try link.apply(drop(.data, 2...2, again: true))
        #expect(link.data(1).count == 1)
        #expect(link.data(2).isEmpty)
        #expect(link.data(1).count == 1)
        #expect(link.data(2).isEmpty)
        #expect(link.data(2).isEmpty)
        #expect(link.data(2).count == 1)
        #expect(link.core.unmet == [])
    }

    @Test func countingBeginsAtTheStep() throws {
        var link = LinkHarness()
        link.open()
        #expect(link.data(1).count == 1)
        try link.apply(drop(.data, 1...1))
        #expect(link.data(2).isEmpty)
        #expect(link.data(3).count == 1)
    }

    @Test func rangesAndAllAreSelected() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(drop(.data, 2...3))
        #expect((1...4).map { link.data($0).count } == [1, 0, 0, 1])
        try link.apply(drop(.data, nil))
        #expect((4...6).map { link.data($0).count } == [0, 0, 0])
    }

    @Test func everyRuleCountsEveryPacket() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(drop(.data, 1...1))
        let late = try link.apply(.packets(.duplicate, PacketSelection(kind: .data, ordinals: 2...2)))
        #expect(link.data(1).isEmpty)
        #expect(link.data(2).count == 2)
        #expect(link.core.met(late) == 1)
    }

    @Test func handshakeAndEndPacketsAreSelectedByKind() throws {
        let frames = SegmentFrames()
        let syn = frames.segment(from: .right, flags: 2, sequence: 99, acknowledgment: 0)
        let synack = frames.segment(from: .left, flags: 18, sequence: 499, acknowledgment: 100)
        for (kind, isKept) in [(PacketKind.syn, [false, true]), (.synack, [true, false])] {
            var link = LinkHarness()
            try link.apply(drop(kind, nil), from: nil)
            #expect([link.pass(syn, from: .right), link.pass(synack)].map { !$0.isEmpty } == isKept)
        }
        var link = LinkHarness()
        link.open()
        let last = frames.segment(
            from: .left, flags: 25, sequence: 500, acknowledgment: 100, payload: Array("end".utf8))
        try link.apply(drop(.fin, 1...1))
        #expect(link.pass(last).isEmpty, "data with a FIN belongs to both kinds")
        try link.apply(drop(.fin, 1...1, again: true))
        #expect(link.pass(last).count == 1, "its first transmission was before the step")
        let reset = frames.segment(from: .left, flags: 4, sequence: 504, acknowledgment: 0)
        try link.apply(drop(.rst, 1...1))
        #expect(link.pass(reset).isEmpty)
    }

    @Test func keepAliveIsAnAck() throws {
        let frames = SegmentFrames()
        var link = LinkHarness()
        link.open()
        _ = link.data(1)
        link.pass(frames.segment(from: .right, flags: 16, sequence: 100, acknowledgment: 510), from: .right)
        try link.apply(drop(.data, nil))
        let probe = frames.segment(from: .left, flags: 16, sequence: 509, acknowledgment: 100, payload: [0])
        #expect(link.pass(probe).count == 1)
        try link.apply(drop(.ack, 1...1))
        #expect(link.pass(probe).isEmpty)
    }

    @Test func unmetFaultsAreReported() throws {
        var link = LinkHarness()
        link.open()
        let first = try link.apply(drop(.data, 9...9))
        let second = try link.apply(.delay(.milliseconds(1), jitter: .zero, seed: 1, mayReorder: false), from: .right)
        let third = try link.apply(.down)
        try link.apply(.up)
        let fourth = try link.apply(.release)
        #expect(link.core.unmet == [first, second, third, fourth])
        #expect(throws: LinkError.self) { try link.apply(.burst(3)) }
    }

    @Test func countingRestartsForANewConnection() throws {
        let frames = SegmentFrames()
        var link = LinkHarness()
        link.open()
        _ = link.data(1)
        try link.apply(drop(.data, 1...1))
        link.pass(frames.segment(from: .right, flags: 2, sequence: 9_099, acknowledgment: 0), from: .right)
        link.pass(frames.segment(from: .left, flags: 18, sequence: 100, acknowledgment: 9_100))
        let data = frames.segment(from: .left, flags: 24, sequence: 101, acknowledgment: 9_100, payload: [1])
        #expect(link.pass(data).isEmpty)
    }
}
