import ProbeBase
@testable import ProbeCrowd
import Testing

/// Tests the actions and states of members.
struct CrowdCoreTests {
    private let second = Duration.seconds(1)

    @Test func scriptRunsInOrder() {
        let crowd = FakeCrowd([
            .connect(within: second), .send(pieces: [Array("GET\r\n".utf8)], pause: .zero),
            .expect(.line(.equal(Array("OK".utf8))), within: second),
            .send(pieces: [Array("QUIT\r\n".utf8)], pause: .zero),
        ])
        crowd.begin()
        #expect(crowd.connections.text(of: 0) == "GET\r\n")
        crowd.deliver("O")
        crowd.deliver("K\r")
        #expect(crowd.snapshot.done == 0)
        crowd.deliver("\nrest")
        #expect(crowd.connections.text(of: 0) == "GET\r\nQUIT\r\n")
        #expect((crowd.snapshot.done, crowd.snapshot.alive, crowd.snapshot.failed) == (1, 1, 0))
        crowd.deliver(.end)
        #expect((crowd.snapshot.done, crowd.snapshot.alive, crowd.snapshot.failed) == (1, 0, 0))
    }

    @Test func membersStartAtTheirRate() {
        let crowd = FakeCrowd([.connect(within: second)], members: 10, rate: 100)
        crowd.begin()
        #expect(crowd.snapshot.started == 1)
        crowd.pass(milliseconds: 49)
        #expect(crowd.snapshot.started == 5)
        crowd.pass(milliseconds: 1000)
        #expect((crowd.snapshot.started, crowd.snapshot.connected) == (10, 10))
        #expect(crowd.core.nextMoment == nil)
    }

    @Test func concurrentConnectsAreLimited() {
        let crowd = FakeCrowd([.connect(within: second)], members: 1000)
        crowd.connections.answer = .pending
        crowd.begin()
        #expect(crowd.connections.connects.count == 256)
        crowd.connections.answer = .connected
        for member in 0..<200 { crowd.core.writable(member, at: crowd.now) }
        crowd.connections.answer = .pending
        crowd.pass(milliseconds: 1)
        #expect((crowd.snapshot.connected, crowd.connections.connects.count) == (200, 456))
    }

    @Test func unansweredConnectFails() {
        let crowd = FakeCrowd([.connect(within: .milliseconds(50))])
        crowd.connections.answer = .pending
        crowd.begin()
        crowd.pass(milliseconds: 49)
        #expect(crowd.snapshot.failed == 0)
        crowd.pass(milliseconds: 1)
        #expect(
            crowd.snapshot.failures == [.init(instruction: 0, reason: "no answer in time", count: 1)])
        #expect(crowd.connections.ended[0] == .reset)
    }

    @Test func refusedConnectIsReported() {
        let crowd = FakeCrowd([.connect(within: second)], members: 3)
        crowd.connections.answer = .failed("refused")
        crowd.begin()
        #expect(crowd.snapshot.failures == [.init(instruction: 0, reason: "refused", count: 3)])
        #expect((crowd.snapshot.connected, crowd.snapshot.alive) == (0, 0))
    }

    @Test func piecesAreSentOneByOne() {
        let crowd = FakeCrowd([
            .connect(within: second), .send(pieces: [[65], [66], [67]], pause: .milliseconds(10)), .close,
        ])
        crowd.begin()
        #expect(crowd.connections.text(of: 0) == "A")
        crowd.pass(milliseconds: 10)
        #expect(crowd.connections.text(of: 0) == "AB")
        crowd.pass(milliseconds: 9)
        #expect(crowd.connections.text(of: 0) == "AB")
        crowd.pass(milliseconds: 1)
        #expect(crowd.connections.text(of: 0) == "ABC")
        #expect(crowd.connections.ended[0] == .closed)
        #expect((crowd.snapshot.alive, crowd.snapshot.done) == (0, 1))
    }

    @Test func unwrittenBytesAreSentLater() {
        let crowd = FakeCrowd([.connect(within: second), .send(pieces: [Array("abcdef".utf8)], pause: .zero)])
        crowd.connections.room[0] = 4
        crowd.begin()
        #expect(crowd.connections.text(of: 0) == "abcd")
        #expect(crowd.snapshot.done == 0)
        crowd.connections.room[0] = 100
        crowd.core.writable(0, at: crowd.now)
        #expect(crowd.connections.text(of: 0) == "abcdef")
        #expect((crowd.snapshot.done, crowd.snapshot.sent) == (1, 6))
    }

    @Test func endlessSendContinues() {
        let crowd = FakeCrowd([.connect(within: second), .sendEndlessly([120], every: .milliseconds(10))])
        crowd.begin()
        crowd.pass(milliseconds: 95)
        #expect(crowd.connections.text(of: 0).count == 10)
        // The sends that a thread missed during a stall are not made up for in a burst.
        crowd.stall(milliseconds: 100)
        crowd.pass(milliseconds: 0)
        let count = crowd.connections.text(of: 0).count
        #expect(count <= 12)
        crowd.pass(milliseconds: 30)
        #expect(crowd.connections.text(of: 0).count <= count + 4)
    }

    @Test func closedPeerEndsAnEndlessSend() {
        let crowd = FakeCrowd([.connect(within: second), .sendEndlessly([120], every: second)])
        crowd.begin()
        crowd.deliver(.end)
        #expect((crowd.snapshot.alive, crowd.snapshot.failed) == (0, 1))
        #expect(crowd.snapshot.failures.first?.reason == "closed by the peer")
        crowd.pass(milliseconds: 5000)
        #expect(crowd.connections.text(of: 0) == "x")
    }

    @Test func endWithNothingLeftToDoIsNotAFailure() {
        let crowd = FakeCrowd([
            .connect(within: second), .send(pieces: [[65]], pause: .zero), .wait(.milliseconds(100)), .close,
        ])
        crowd.begin()
        crowd.deliver(.end)
        #expect((crowd.snapshot.alive, crowd.snapshot.failed, crowd.snapshot.done) == (0, 0, 0))
        crowd.pass(milliseconds: 100)
        #expect((crowd.snapshot.alive, crowd.snapshot.failed, crowd.snapshot.done) == (0, 0, 1))
    }

    @Test func endBeforeASendIsAFailure() {
        let crowd = FakeCrowd([
            .connect(within: second), .wait(.milliseconds(100)), .send(pieces: [[65]], pause: .zero),
        ])
        crowd.begin()
        crowd.deliver(.end)
        #expect(crowd.snapshot.failures == [.init(instruction: 1, reason: "closed by the peer", count: 1)])
    }

    @Test func expectedEndIsNotAFailure() {
        let crowd = FakeCrowd([
            .connect(within: second), .wait(.milliseconds(100)), .expect(.eof, within: second), .close,
        ])
        crowd.begin()
        crowd.deliver(.end)
        #expect(crowd.snapshot.failed == 0)
        crowd.pass(milliseconds: 100)
        #expect((crowd.snapshot.failed, crowd.snapshot.done) == (0, 1))
    }

    @Test func bytesInsteadOfAnEndAreAFailure() {
        let crowd = FakeCrowd([.connect(within: second), .expect(.eof, within: second)])
        crowd.begin()
        crowd.deliver("abc")
        #expect(crowd.snapshot.failures.first?.reason == "received 3 bytes")
    }

    @Test func unexpectedLineFails() {
        let crowd = FakeCrowd(
            [.connect(within: second), .expect(.line(.regex("^2", flags: "")), within: second)],
            matchers: [1: { $0.first == UInt8(ascii: "2") }])
        crowd.begin()
        crowd.deliver("500 no\r\n")
        #expect(crowd.snapshot.failures == [.init(instruction: 1, reason: "the line was \"500 no\"", count: 1)])
    }

    @Test func stoppedReadingLeavesBytesUnread() {
        let crowd = FakeCrowd([.connect(within: second), .stopReading])
        crowd.begin()
        crowd.deliver("abc")
        #expect(crowd.snapshot.received == 0)
        crowd.core.ended(0, at: crowd.now)
        #expect(crowd.snapshot.alive == 0)
    }

    @Test func slowReadingReadsTheGivenAmount() {
        let crowd = FakeCrowd([.connect(within: second), .read(count: 1, every: .milliseconds(10))])
        crowd.begin()
        crowd.pass(milliseconds: 1)
        crowd.deliver("abcdef")
        crowd.pass(milliseconds: 9)
        #expect(crowd.snapshot.received == 1)
        crowd.pass(milliseconds: 30)
        #expect(crowd.snapshot.received == 4)
    }

    @Test func busyRepeatYieldsToOthers() {
        let crowd = FakeCrowd([.connect(within: second), .close, .jump(to: 0)], members: 2)
        crowd.begin()
        for _ in 0..<10 { crowd.core.advance(to: crowd.now) }
        #expect(crowd.connections.connects.contains(1))
        #expect((crowd.snapshot.connected, crowd.snapshot.done) == (2, 0))
        #expect(crowd.core.nextMoment == 0)
    }

    @Test func stopClosesMembersAndStartsNoMore() {
        let crowd = FakeCrowd([.connect(within: second), .wait(second)], members: 4, rate: 2)
        crowd.begin()
        crowd.core.stop(at: crowd.now)
        crowd.pass(milliseconds: 5000)
        #expect((crowd.snapshot.started, crowd.snapshot.alive, crowd.snapshot.failed) == (1, 0, 0))
        #expect(crowd.connections.ended[0] == .closed)
        #expect(crowd.core.nextMoment == nil)
    }

    @Test func acceptedConnectionsAreMembers() {
        let crowd = FakeCrowd([.expect(.line(.any), within: second), .send(pieces: [[65]], pause: .zero)], members: 0)
        crowd.begin()
        #expect(crowd.core.accept(at: crowd.now) == 0)
        #expect(crowd.core.accept(at: crowd.now) == 1)
        crowd.deliver("hi\r\n", to: 1)
        crowd.pass(milliseconds: 1)
        #expect((crowd.snapshot.started, crowd.snapshot.alive, crowd.snapshot.done) == (2, 2, 1))
        #expect(crowd.connections.text(of: 1) == "A")
    }

    @Test func newMembersConnectBeforeReconnectingOnes() {
        let crowd = FakeCrowd([.connect(within: second), .close, .jump(to: 0)], members: 300)
        crowd.connections.answer = .pending
        crowd.begin()
        crowd.connections.answer = .connected
        for _ in 0..<20 {
            for member in 0..<300 { crowd.core.writable(member, at: crowd.now) }
            crowd.core.advance(to: crowd.now)
        }
        #expect((crowd.snapshot.started, crowd.snapshot.connected) == (300, 300))
    }

    @Test func stalledSendIsReported() {
        let crowd = FakeCrowd([.connect(within: second), .send(pieces: [Array("abcdef".utf8)], pause: .zero)])
        crowd.connections.room[0] = 2
        crowd.begin()
        crowd.pass(milliseconds: 4000)
        crowd.connections.room[0] = 2
        crowd.core.writable(0, at: crowd.now)
        crowd.pass(milliseconds: 4900)
        #expect(crowd.snapshot.failed == 0)
        crowd.pass(milliseconds: 200)
        #expect(crowd.snapshot.failures == [.init(instruction: 1, reason: "the peer does not read", count: 1)])
    }

    @Test func nonReadingMemberMayBlockIndefinitely() {
        let crowd = FakeCrowd([
            .connect(within: second), .stopReading, .send(pieces: [Array("abcdef".utf8)], pause: .zero),
        ])
        crowd.connections.room[0] = 2
        crowd.begin()
        crowd.pass(milliseconds: 60_000)
        #expect((crowd.snapshot.failed, crowd.snapshot.alive) == (0, 1))
    }

    @Test func endTogetherWithTheLastLineIsSeen() {
        let crowd = FakeCrowd([.connect(within: second), .expect(.line(.any), within: second)])
        crowd.begin()
        crowd.connections.deliver("hello\r\n", to: 0)
        crowd.deliver(.end)
        #expect((crowd.snapshot.done, crowd.snapshot.alive, crowd.snapshot.failed) == (1, 0, 0))
    }

    @Test(arguments: [(1 << 18) - 1, 1 << 18])
    func longLineInOnePieceIsTooLong(length: Int) {
        let crowd = FakeCrowd([.connect(within: second), .expect(.line(.any), within: second)])
        crowd.begin()
        crowd.deliver(String(repeating: "x", count: length) + "\r\n")
        #expect(crowd.snapshot.failed == (length < 1 << 18 ? 0 : 1))
        #expect(crowd.snapshot.done == (length < 1 << 18 ? 1 : 0))
    }
}
