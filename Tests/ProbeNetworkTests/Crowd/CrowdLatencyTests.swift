import ProbeBase
import Testing

@testable import ProbeCrowd

/// Tests the time from which members' waits are measured.
struct CrowdLatencyTests {
    private let second = Duration.seconds(1)

    @Test func waitIsMeasuredFromItsDueTime() {
        let crowd = FakeCrowd([
            .connect(within: second), .wait(.milliseconds(100)), .send(pieces: [[65]], pause: .zero),
            .expect(.line(.any), within: second),
        ])
        crowd.begin()
        // The thread does not run for 150 ms, although a send was due at 100 ms.
        crowd.stall(milliseconds: 150)
        crowd.core.advance(to: crowd.now)
        crowd.stall(milliseconds: 10)
        crowd.deliver("x\r\n")
        #expect(crowd.latencies(.line) == [60])
    }

    @Test func ratedMemberHasItsOwnDueTime() {
        let crowd = FakeCrowd([.connect(within: second)], members: 3, rate: 10)
        crowd.begin()
        crowd.stall(milliseconds: 250)
        crowd.core.advance(to: crowd.now)
        #expect(crowd.latencies(.connect) == [0, 50, 150])
    }

    @Test func delaysOfWaitsDoNotAccumulate() {
        let crowd = FakeCrowd([
            .connect(within: second), .wait(.milliseconds(10)), .jump(to: 1), .expect(.eof, within: second),
        ])
        crowd.begin()
        for _ in 0..<5 {
            crowd.stall(milliseconds: 13)
            crowd.core.advance(to: crowd.now)
        }
        // Each wait begins when the end of the previous one has been noticed (at 13, 26, … ms), and no wait is measured
        // as shorter than specified.
        #expect(crowd.core.nextMoment.map { $0 - crowd.now } == 10_000_000)
    }

    @Test func runningWaitsCountWithTheirElapsedTime() {
        let crowd = FakeCrowd([.connect(within: second), .expect(.line(.any), within: second)], members: 2)
        crowd.begin()
        crowd.pass(milliseconds: 5)
        crowd.deliver("a\r\n", to: 0)
        crowd.pass(milliseconds: 35)
        #expect(crowd.latencies(.line) == [5, 40])
        #expect(crowd.snapshot.latencies[.line]?.value(at: 50) == .milliseconds(5))
    }

    @Test func failedWaitsRankLongest() {
        let crowd = FakeCrowd(
            [.connect(within: second), .expect(.count(1), within: .milliseconds(100))], members: 2)
        crowd.begin()
        crowd.pass(milliseconds: 5)
        crowd.deliver("a", to: 0)
        crowd.pass(milliseconds: 100)
        let reason = "the expected input did not arrive in time"
        #expect(crowd.snapshot.failures == [.init(instruction: 1, reason: reason, count: 1)])
        let record = crowd.snapshot.latencies[.bytes]
        #expect((record?.count, record?.value(at: 50)) == (2, .milliseconds(5)))
        #expect(record?.value(at: 100) == .nanoseconds(Int64.max))
    }

    @Test func refusedConnectIsAFailedWait() {
        let crowd = FakeCrowd([.connect(within: second)])
        crowd.connections.answer = .failed("refused")
        crowd.begin()
        #expect(crowd.snapshot.latencies[.connect]?.failed == 1)
    }

    @Test func failureDuringASendIsNotAFailedWait() {
        let crowd = FakeCrowd([.connect(within: second), .send(pieces: [[65], [66]], pause: second)])
        crowd.begin()
        crowd.deliver(.failed("reset by the peer"))
        #expect(crowd.snapshot.failures.first == .init(instruction: 1, reason: "reset by the peer", count: 1))
        #expect(crowd.snapshot.latencies[.connect]?.failed == 0)
    }

    // MARK: Unfinished waits

    @Test func openWaitsWidenTheBounds() throws {
        let crowd = FakeCrowd(
            [.connect(within: second), .expect(.line(.any), within: second)], members: 10, rate: 100)
        crowd.begin()
        crowd.pass(milliseconds: 45)
        crowd.deliver("a\r\n", to: 0)
        crowd.pass(milliseconds: 5)
        // Of ten waits, one has ended, five are in progress, and four have not begun.
        let record = try #require(crowd.snapshot.latencies[.line])
        #expect((record.count, record.running.count, record.open) == (6, 5, 4))
        #expect(record.bounds(at: 50) == .zero ... .nanoseconds(Int64.max))
        #expect(record.bounds(at: 10) == .zero ... .milliseconds(45))
        #expect(record.bounds(at: 100)?.lowerBound == .milliseconds(45))
    }

    @Test func boundsCoincideOnceAllWaitsHaveEnded() throws {
        let crowd = FakeCrowd([.connect(within: second), .expect(.line(.any), within: second)], members: 2)
        crowd.begin()
        crowd.pass(milliseconds: 3)
        for member in 0..<2 { crowd.deliver("a\r\n", to: member) }
        #expect(crowd.snapshot.latencies[.line]?.bounds(at: 99) == .milliseconds(3) ... .milliseconds(3))
    }

    @Test func failureBeforeAWaitLeavesItOpen() throws {
        let crowd = FakeCrowd([
            .connect(within: second), .send(pieces: [[65]], pause: .zero), .expect(.eof, within: second),
        ])
        crowd.connections.answer = .failed("refused")
        crowd.begin()
        let record = try #require(crowd.snapshot.latencies[.eof])
        #expect((record.count, record.open, record.value(at: 50)) == (0, 1, nil))
        #expect(record.bounds(at: 50)?.upperBound == .nanoseconds(Int64.max))
    }

    @Test func stopLosesPendingWaits() throws {
        let crowd = FakeCrowd(
            [.connect(within: second), .expect(.line(.any), within: second), .expect(.eof, within: second)], members: 2)
        crowd.begin()
        crowd.pass(milliseconds: 5)
        crowd.deliver("a\r\n", to: 0)
        crowd.core.stop(at: crowd.now)
        let line = try #require(crowd.snapshot.latencies[.line])
        #expect((line.count, line.failed, line.running.isEmpty) == (2, 1, true))
        let end = try #require(crowd.snapshot.latencies[.eof])
        #expect((end.failed, end.open) == (1, 1))
    }

    @Test func laterRoundsCountWithTheirElapsedTime() throws {
        let crowd = FakeCrowd([
            .connect(within: second), .expect(.line(.any), within: second), .wait(.milliseconds(10)), .jump(to: 1),
        ])
        crowd.begin()
        crowd.deliver("a\r\n")
        #expect(crowd.snapshot.latencies[.line]?.unfinishedCount == 0)
        crowd.pass(milliseconds: 14)
        let record = try #require(crowd.snapshot.latencies[.line])
        #expect((record.count, record.unfinishedCount, crowd.latencies(.line)) == (2, 0, [0, 4]))
    }

    // MARK: Records

    @Test(arguments: [(50.0, 5), (90, 9), (99, 10), (99.9, 10), (100, 10), (10, 1), (10.1, 2), (0.1, 1)])
    func percentileIsTheSmallestSufficientTime(percentile: Double, milliseconds: Int) {
        var record = LatencyRecord()
        for value in 1...10 { record.add(nanoseconds: Int64(value) * 1_000_000, count: 1) }
        #expect(record.value(at: percentile) == .milliseconds(milliseconds))
    }

    @Test func recordsAreMerged() {
        var left = LatencyRecord()
        left.add(nanoseconds: 5, count: 2)
        var right = LatencyRecord()
        right.add(nanoseconds: 5, count: 1)
        right.add(nanoseconds: 7, count: 1)
        right.failed = 1
        left.merge(right)
        #expect(left.counts == [5: 3, 7: 1])
        #expect((left.count, left.value(at: 60), left.value(at: 80)) == (5, .nanoseconds(5), .nanoseconds(7)))
    }

    @Test func emptyRecordHasNoPercentile() {
        #expect(LatencyRecord().value(at: 50) == nil)
        #expect(LatencyRecord().percentiles().isEmpty)
    }
}
