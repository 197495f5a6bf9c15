import ProbeBase
import Testing

@testable import ProbeLink

/// Tests the states of an entire link: delay, rate, loss and silence.
@Suite struct LinkShapeTests {
    @Test func delayAppliesInBothDirections() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(.delay(.milliseconds(20), jitter: .zero, seed: 1, mayReorder: false), from: nil)
        #expect(link.data(1).isEmpty)
        link.advance(.milliseconds(10))
        #expect(link.data(2).isEmpty)
        link.advance(.milliseconds(10))
        #expect(link.core.takeOutgoing().map(\.bytes) == [SegmentFrames().data(1)])
        link.advance(.milliseconds(10))
        #expect(link.core.takeOutgoing().map(\.bytes) == [SegmentFrames().data(2)])
    }

    /// Returns the arrival times of 200 packets that are sent at intervals of 1 ms.
    private func arrivals(jitter: Duration, seed: UInt64, mayReorder: Bool) throws -> [Int] {
        var link = LinkHarness()
        link.open()
        try link.apply(.delay(.milliseconds(20), jitter: jitter, seed: seed, mayReorder: mayReorder))
        var order: [Int] = []
        for number in 1...260 {
            if number <= 200 { _ = link.data(number) }
            link.advance(.milliseconds(1))
            order += link.core.takeOutgoing().compactMap { LinkFrame($0.bytes).tcp }.map {
                Int($0.sequence - 500) / 10 + 1
            }
        }
        return order
    }

    @Test func jitterKeepsTheOrderUnlessAllowedToReorder() throws {
        let ordered = try arrivals(jitter: .milliseconds(15), seed: 7, mayReorder: false)
        #expect(ordered == Array(1...200))
        let mixed = try arrivals(jitter: .milliseconds(15), seed: 7, mayReorder: true)
        #expect(mixed != ordered && mixed.sorted() == ordered)
        #expect(try arrivals(jitter: .milliseconds(15), seed: 7, mayReorder: true) == mixed)
        #expect(try arrivals(jitter: .milliseconds(15), seed: 8, mayReorder: true) != mixed)
    }

    @Test func rateIsAnAverageAndTheQueueIsBounded() throws {
        let frames = SegmentFrames(size: 960)
        var link = LinkHarness()
        link.open()
        // IP packets of 1,000 bytes are sent every 10 ms, and the queue has room for two and a half packets.
        try link.apply(.rate(bytesPerSecond: 100_000, queue: 2500))
        var sent: [Int] = []
        for number in 1...5 { sent += link.pass(frames.data(number)).map { _ in number } }
        #expect(sent.isEmpty)
        var arrived: [Int] = []
        for _ in 1...6 {
            link.advance(.milliseconds(10))
            arrived.append(link.core.takeOutgoing().count)
        }
        #expect(arrived == [1, 1, 0, 0, 0, 0])
        #expect(link.core.records.filter { $0.view == .left }.count == 5)
    }

    @Test func lossHasTheGivenRateAndIsSeeded() throws {
        func lost(_ percent: Double, seed: UInt64, burst: Int) throws -> [Bool] {
            var link = LinkHarness()
            link.open()
            try link.apply(.loss(percent: percent, seed: seed, burst: burst))
            return (1...4000).map { link.data($0).isEmpty }
        }
        let plain = try lost(5, seed: 7, burst: 1)
        #expect((120...280).contains(plain.count { $0 }))
        #expect(try lost(5, seed: 7, burst: 1) == plain)
        #expect(try lost(5, seed: 8, burst: 1) != plain)
        let runs = try lost(5, seed: 7, burst: 4)
        #expect((100...320).contains(runs.count { $0 }))
        let begins = zip(runs, [false] + runs).count { $0 && !$1 }
        #expect(runs.count { $0 } >= begins * 4 - 3)
        #expect(try lost(100, seed: 1, burst: 1).allSatisfy { $0 })
    }

    @Test func downUpAndHealControlTheLink() throws {
        var link = LinkHarness()
        link.open()
        try link.apply(.down)
        #expect(link.data(1).isEmpty)
        #expect(
            link.pass(
                SegmentFrames().segment(from: .right, flags: 16, sequence: 100, acknowledgment: 500), from: .right
            ).count == 1)
        try link.apply(.up)
        #expect(link.data(2).count == 1)
        try link.apply(.packets(.hold, PacketSelection(kind: .data, ordinals: nil)))
        try link.apply(.delay(.seconds(9), jitter: .zero, seed: 1, mayReorder: false))
        #expect(link.data(3).isEmpty && link.data(4).isEmpty)
        try link.apply(.heal, from: nil)
        #expect(link.core.takeOutgoing().map(\.bytes) == [3, 4].map { SegmentFrames().data($0) })
        #expect(link.data(5).count == 1)
        #expect(link.core.unmet.count == 1, "the delay applied to no packet, because all were held before it")
    }
}
