import ProbeBase
import ProbeWire
import Testing

/// Tests of the classification of repeated segments by elapsed time, by duplicate acknowledgments and by earlier
/// repetitions.
struct RepeatTests {
    /// Returns a connection with a round-trip time of 50 ms and two segments in flight.
    private func connected(at time: UInt64? = nil) -> TestConnection {
        var connection = TestConnection()
        if let time { connection.time = time }
        var options = TCPOptions()
        options.isSACKPermitted = true
        connection.send(.client, .syn, at: -1, ack: nil, options: options)
        connection.send(.server, .syn, at: -1, ack: 0, options: options)
        connection.wait(50)
        connection.send(.client, at: 0, ack: 0)
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 3, "def")
        return connection
    }

    /// A probe may be sent until two round trips plus 200 ms for a delayed acknowledgment have passed. After 200 ms,
    /// the retransmission timer may have expired as well.
    @Test(
        arguments: [
            (20, .retransmission), (60, .retransmission), (110, .tailLossProbe), (180, .tailLossProbe),
            (250, .retransmissionOrProbe), (300, .retransmissionOrProbe), (400, .retransmission),
            (5_500, .retransmission),
        ] as [(Double, SegmentKind)])
    func probeIsRecognizedByItsDelay(milliseconds: Double, kind: SegmentKind) {
        var connection = connected()
        connection.wait(milliseconds)
        #expect(connection.send(.server, at: 3, "def").kind == kind)
        let isCertain = kind == .retransmission
        let verdict = connection.judge(.retransmissions(.equal, 0)).outcome
        #expect(verdict == (isCertain ? .failed : .inconclusive))
        #expect(connection.judge(.retransmissions(.lessOrEqual, 1)) == .passed)
        let flow = connection.conversation.fromServer
        #expect(flow.retransmissionCount + flow.probeCount + flow.undecidedCount == 1)
    }

    @Test func probesDoNotPredate2012() {
        var connection = connected(at: 1_262_304_000_000_000_000)
        connection.wait(150)
        #expect(connection.send(.server, at: 3, "def").kind == .retransmission)
    }

    /// Each repeated segment is counted once, whatever the peer's response reveals about it.
    @Test(arguments: [150, 250] as [Double], [true, false])
    func answerIdentifiesTheRepetition(milliseconds: Double, wasLost: Bool) {
        var connection = connected()
        connection.wait(milliseconds)
        var own = TCPOptions()
        own.timestamp = TCPTimestamp(value: 9, echo: 1)
        connection.send(.server, at: 3, "def", options: own)
        var answer = TCPOptions()
        answer.timestamp = TCPTimestamp(value: 2, echo: wasLost ? 9 : 8)
        connection.send(.client, at: 0, ack: 6, options: answer)
        let flow = connection.conversation.fromServer
        #expect(flow.retransmissionCount == (wasLost ? 1 : 0) && flow.probeCount == (wasLost ? 0 : 1))
        #expect(flow.undecidedCount == 0 && flow.doubtfulCount == 0)
        #expect(connection.conversation.judge(.noRetransmission).outcome == (wasLost ? .failed : .passed))
    }

    @Test func noProbeFollowsARetransmissionBeforeTheRecoveryEnds() {
        var connection = connected()
        connection.wait(600)
        #expect(connection.send(.server, at: 0, "abc").kind == .retransmission)
        connection.wait(1)
        connection.send(.client, at: 0, ack: 3)
        connection.wait(120)
        #expect(connection.send(.server, at: 3, "def").kind == .retransmission)
    }

    /// The arguments are the number of duplicate acknowledgments, the time in milliseconds until the segment is
    /// repeated, and the expected kind.
    @Test(
        arguments: [
            (2, 1, .retransmission), (3, 1, .fastRetransmission), (3, 60, .fastRetransmission),
            (3, 300, .retransmission),
            (5, 1_000, .retransmission),
        ] as [(Int, Double, SegmentKind)])
    func fastRetransmissionNeedsThreeDuplicatesAndNoDelay(duplicates: Int, milliseconds: Double, kind: SegmentKind) {
        var connection = connected()
        for number in 2..<6 { connection.send(.server, at: Int64(number * 3), "xyz") }
        connection.wait(50)
        connection.send(.client, at: 0, ack: 3)
        for _ in 0..<duplicates { connection.send(.client, at: 0, ack: 3) }
        connection.wait(milliseconds)
        #expect(connection.send(.server, at: 3, "def").kind == kind)
    }

    /// If a fast retransmission is followed by another retransmission of the same segment after a timeout, the latter
    /// is not counted as a fast retransmission. An acknowledgment of new data resets the count of duplicates.
    @Test func timeoutRetransmissionIsNotFast() {
        var connection = connected()
        for number in 2..<6 { connection.send(.server, at: Int64(number * 3), "xyz") }
        connection.send(.client, at: 0, ack: 3)
        for _ in 0..<3 { connection.send(.client, at: 0, ack: 3) }
        #expect(connection.send(.server, at: 3, "def").kind == .fastRetransmission)
        connection.wait(10)
        #expect(connection.send(.server, at: 3, "def").kind == .retransmission)
        connection.send(.client, at: 0, ack: 6)
        connection.send(.client, at: 0, ack: 6)
        #expect(connection.send(.server, at: 6, "xyz").kind == .retransmission)
    }

    @Test func retransmittedHandshakeHasNoRoundTripTime() {
        var connection = TestConnection()
        connection.send(.client, .syn, at: -1, ack: nil)
        connection.wait(1_000)
        connection.send(.client, .syn, at: -1, ack: nil)
        connection.send(.server, .syn, at: -1, ack: 0)
        connection.send(.client, at: 0, ack: 0)
        #expect(connection.conversation.handshakeTime != nil && connection.conversation.handshakeRoundTrip == nil)
        let details = connection.conversation.judge(.noRetransmission).failure?.details ?? []
        #expect(details.count == 1 && details[0].hasSuffix("retransmission, SYN"))
        #expect(connected().conversation.handshakeRoundTrip == 50_000_000)
    }

    /// If the packets captured at the sender do not show whether a segment was lost, the packets captured at the
    /// receiver do.
    @Test(arguments: [true, false])
    func arrivedPacketsShowWhetherTheSegmentWasLost(wasLost: Bool) {
        var sent = connected()
        var arrived = connected()
        if wasLost {
            arrived = TestConnection()
            arrived.handshake()
            arrived.send(.server, at: 0, "abc")
        }
        sent.wait(250)
        arrived.time = sent.time + 1_000_000
        sent.send(.server, at: 3, "def")
        arrived.send(.server, at: 3, "def")
        #expect(sent.conversation.judge(.noRetransmission).outcome == .inconclusive)
        #expect(sent.conversation.hasDoubtfulRepeats)
        sent.conversation.settleRepeats(by: arrived.conversation)
        #expect(sent.conversation.judge(.noRetransmission).outcome == (wasLost ? .failed : .passed))
        #expect(sent.judge(.retransmissions(.equal, 0)).outcome == (wasLost ? .failed : .passed))
    }
}
