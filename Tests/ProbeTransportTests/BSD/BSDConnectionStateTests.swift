import ProbeSystem
import ProbeBase
import Glibc
import Testing

@testable import ProbeTransport

@Suite struct BSDConnectionStateTests {
    typealias Action = BSDConnectionState.Action

    private static let limits = BSDConnectionState.Limits(connect: 100, idle: 50, linger: 20, drain: 10)
    private static func stopped(_ reason: StopReason) -> Action { .report(.stopped(reason, detail: nil)) }

    private func starting() throws -> BSDConnectionState {
        var state = BSDConnectionState(limits: Self.limits)
        try state.start(now: 0)
        return state
    }

    private func started() throws -> BSDConnectionState {
        var state = try starting()
        #expect(state.connected(now: 0) == [.report(.started)])
        return state
    }

    // MARK: Operations

    @Test func startingTwiceIsAnError() throws {
        var state = try starting()
        #expect(throws: TransportError.alreadyStarted) { try state.start(now: 1) }
        #expect(state.connected(now: 1) == [.report(.started)])
        #expect(throws: TransportError.alreadyStarted) { try state.start(now: 1) }
        state.stop(now: 1)
        #expect(throws: TransportError.alreadyStarted) { try state.start(now: 1) }
    }

    @Test func operationsBeforeStartAreErrors() {
        var state = BSDConnectionState(limits: Self.limits)
        #expect(throws: TransportError.notStarted) { try state.send([1], now: 0) }
        #expect(throws: TransportError.notStarted) { try state.halfClose() }
        #expect(throws: TransportError.notStarted) { try state.stopReading() }
        #expect(throws: TransportError.notStarted) { try state.resumeReading(now: 0) }
        #expect(state.settle(now: 1000).isEmpty)
    }

    @Test func stopBeforeStartForbidsTheStart() {
        var state = BSDConnectionState(limits: Self.limits)
        state.stop(now: 0)
        #expect(state.settle(now: 0).isEmpty)
        #expect(throws: TransportError.stopped) { try state.start(now: 0) }
        #expect(throws: TransportError.stopped) { try state.send([1], now: 0) }
    }

    @Test func cancelledStartCanBeRepeated() throws {
        var state = try starting()
        state.cancelStart()
        #expect(throws: TransportError.notStarted) { try state.send([1], now: 0) }
        try state.start(now: 0)
        #expect(state.isConnecting)
    }

    @Test func sendWhileStartingIsQueued() throws {
        var state = try starting()
        try state.send([1, 2], now: 0)
        #expect(!state.wantsWrite)
        _ = state.connected(now: 0)
        #expect(state.wantsWrite)
        #expect(state.wrote(2, now: 1) == [.report(.sent(2))])
        #expect(!state.wantsWrite)
    }

    @Test func nothingIsSentAfterAHalfClose() throws {
        var state = try started()
        try state.send([1], now: 0)
        try state.halfClose()
        #expect(throws: TransportError.other("half-closed")) { try state.send([1], now: 0) }
        #expect(state.settle(now: 0).isEmpty)
        _ = state.wrote(1, now: 0)
        #expect(state.settle(now: 0) == [.shutdownWrite])
        try state.halfClose()
        #expect(state.settle(now: 0).isEmpty)
        #expect(state.wantsRead)
    }

    @Test func operationsAfterStopAreErrors() throws {
        var state = try started()
        state.stop(now: 0)
        #expect(throws: TransportError.stopped) { try state.send([1], now: 0) }
        #expect(throws: TransportError.stopped) { try state.halfClose() }
        #expect(throws: TransportError.stopped) { try state.stopReading() }
        #expect(throws: TransportError.stopped) { try state.resumeReading(now: 0) }
    }

    // MARK: Connecting

    @Test func connectTimesOutOnceAtItsDeadline() throws {
        var state = try starting()
        #expect(state.deadline == 100)
        #expect(state.settle(now: 99).isEmpty)
        #expect(state.settle(now: 100) == [Self.stopped(.timeout)])
        #expect(state.isEnded)
        #expect(state.connected(now: 101) == nil)
        #expect(state.settle(now: 200).isEmpty)
    }

    @Test func stopWhileConnectingAborts() throws {
        var state = try starting()
        try state.send([1], now: 0)
        state.stop(now: 1)
        #expect(state.connected(now: 1) == nil)
        #expect(state.connectFailed(.init(reason: .refused, detail: "")).isEmpty)
        #expect(state.settle(now: 1) == [Self.stopped(.stopped)])
        #expect(state.isEnded)
    }

    @Test func refusalIsReportedOnce() throws {
        var state = try starting()
        #expect(state.connectFailed(.init(reason: .refused, detail: "")) == [Self.stopped(.refused)])
        state.stop(now: 1)
        #expect(state.settle(now: 1).isEmpty)
    }

    @Test func withoutATimeoutConnectingHasNoDeadline() throws {
        var state = BSDConnectionState(limits: .init(connect: nil, idle: nil))
        try state.start(now: 5)
        #expect(state.deadline == .max)
        #expect(state.settle(now: .max - 1).isEmpty)
    }

    // MARK: EOF

    @Test func eofEndsAtOnceWithNothingToWrite() throws {
        var state = try started()
        #expect(state.wouldEndByEOF)
        #expect(state.readReachedEOF(now: 1).isEmpty)
        #expect(state.settle(now: 1) == [.shutdownWrite, .close, Self.stopped(.eof)])
        #expect(state.settle(now: 2).isEmpty)
    }

    @Test func queuedBytesAreWrittenAfterEOF() throws {
        var state = try started()
        try state.send([1, 2, 3], now: 0)
        _ = state.readReachedEOF(now: 1)
        #expect(state.settle(now: 1).isEmpty)
        #expect(state.wantsWrite && !state.wantsRead)
        #expect(state.wrote(2, now: 15) == [.report(.sent(2))])
        #expect(state.deadline == 35)
        try state.send([4], now: 16)
        #expect(state.wrote(2, now: 17) == [.report(.sent(2))])
        #expect(state.settle(now: 17) == [.shutdownWrite, .close, Self.stopped(.eof)])
    }

    @Test func nonReadingPeerIsAbandonedAfterEOF() throws {
        var state = try started()
        try state.send([1], now: 0)
        _ = state.readReachedEOF(now: 1)
        #expect(state.settle(now: 20).isEmpty)
        #expect(state.settle(now: 21) == [.abort, Self.stopped(.timeout)])
    }

    @Test func failedWriteAfterEOFIsReportedOnce() throws {
        var state = try started()
        try state.send([1], now: 0)
        _ = state.readReachedEOF(now: 1)
        state.writeFailed(SystemError.subject(EPIPE))
        #expect(state.settle(now: 1) == [.close, Self.stopped(.brokenPipe)])
        #expect(state.settle(now: 1).isEmpty)
    }

    // MARK: Reset

    @Test func resetReportedByRecvEndsTheConnection() throws {
        var state = try started()
        #expect(state.readFailed(SystemError.subject(ECONNRESET)) == [.close, Self.stopped(.reset)])
        #expect(state.settle(now: 1).isEmpty)
    }

    @Test(arguments: [(ECONNRESET, StopReason.reset), (EPIPE, .brokenPipe), (ETIMEDOUT, .timeout), (EIO, .other)])
    func failedWriteIsRememberedWhileReadingContinues(_ code: CInt, _ reason: StopReason) throws {
        for endsByEOF in [true, false] {
            var state = try started()
            try state.send([1, 2], now: 0)
            state.writeFailed(SystemError.subject(code))
            #expect(!state.wantsWrite && state.wantsRead && state.deliversMessages)
            try state.send([3], now: 0)
            #expect(!state.wantsWrite)
            #expect(!state.wouldEndByEOF)
            let actions = endsByEOF ? state.readReachedEOF(now: 1) : state.readWouldBlock()
            #expect(actions == [.close, Self.stopped(reason)])
            #expect(state.settle(now: 100).isEmpty)
        }
    }

    @Test func blockedReadIsNotAnEndWithoutAFailedWrite() throws {
        var state = try started()
        #expect(state.readWouldBlock().isEmpty)
        #expect(state.wantsRead)
    }

    // MARK: Stop

    @Test func stopWritesThenClosesThenReports() throws {
        var state = try started()
        try state.send([1, 2], now: 0)
        state.stop(now: 5)
        state.stop(now: 6)
        #expect(!state.delivers && state.discardsInput && state.wantsRead && state.wantsWrite)
        #expect(state.settle(now: 6).isEmpty)
        #expect(state.wrote(2, now: 7).isEmpty)
        #expect(state.settle(now: 7) == [.shutdownWrite, Self.stopped(.stopped)])
        #expect(state.wantsRead && !state.isEnded)
        #expect(state.readReachedEOF(now: 8).isEmpty)
        #expect(state.settle(now: 8) == [.close])
        #expect(state.isEnded)
    }

    @Test func stopWithANonReadingPeerAborts() throws {
        var state = try started()
        try state.send([1, 2], now: 0)
        state.stop(now: 5)
        _ = state.wrote(1, now: 20)
        #expect(state.settle(now: 39).isEmpty)
        #expect(state.settle(now: 40) == [.abort, Self.stopped(.stopped)])
        #expect(state.isEnded)
    }

    @Test func stopWaitsForThePeersFINForALimitedTime() throws {
        var state = try started()
        state.stop(now: 0)
        #expect(state.settle(now: 0) == [.shutdownWrite, Self.stopped(.stopped)])
        #expect(state.settle(now: 9, unacknowledged: 1).isEmpty)
        // While data is unacknowledged, the deadline is extended once, and again only if the peer has acknowledged
        // further data.
        #expect(state.settle(now: 10, unacknowledged: 500).isEmpty)
        #expect(state.settle(now: 20, unacknowledged: 400).isEmpty)
        #expect(state.settle(now: 30, unacknowledged: 400) == [.close])
    }

    @Test func stopDuringEOFReportsStopped() throws {
        var state = try started()
        try state.send([1], now: 0)
        _ = state.readReachedEOF(now: 1)
        state.stop(now: 2)
        _ = state.wrote(1, now: 3)
        #expect(state.settle(now: 3) == [.shutdownWrite, .close, Self.stopped(.stopped)])
    }

    @Test func resetDuringStopIsStillAStop() throws {
        var state = try started()
        try state.send([1], now: 0)
        state.stop(now: 1)
        #expect(state.readFailed(SystemError.subject(ECONNRESET)) == [.close, Self.stopped(.stopped)])
        #expect(state.settle(now: 1).isEmpty)
    }

    @Test func failedWriteDuringStopIsStillAStop() throws {
        var state = try started()
        try state.send([1], now: 0)
        state.stop(now: 1)
        state.writeFailed(SystemError.subject(EPIPE))
        #expect(state.settle(now: 1) == [.close, Self.stopped(.stopped)])
    }

    // MARK: Framing, idle, pause

    @Test func tooLongIsReportedBeforeQueuedBytesAreWritten() throws {
        var state = try started()
        try state.send([1], now: 0)
        #expect(state.inputFailed(.tooLong, "", now: 1) == [Self.stopped(.tooLong)])
        #expect(state.discardsInput && state.wantsWrite)
        #expect(state.wrote(1, now: 2).isEmpty)
        #expect(state.settle(now: 2) == [.shutdownWrite])
        #expect(state.settle(now: 11).isEmpty)
        #expect(state.settle(now: 12) == [.close])
        #expect(state.inputFailed(.tooLong, "", now: 13).isEmpty)
    }

    @Test func lingeringWithANonReadingPeerAborts() throws {
        var state = try started()
        try state.send([1], now: 0)
        _ = state.inputFailed(.tooLong, "", now: 1)
        #expect(state.settle(now: 20).isEmpty)
        #expect(state.settle(now: 21) == [.abort])
    }

    @Test func idleTimeoutRestartsWithBytesInEitherDirection() throws {
        var state = try started()
        #expect(state.deadline == 50)
        state.received(now: 30)
        #expect(state.deadline == 80)
        try state.send([1], now: 40)
        _ = state.wrote(1, now: 60)
        #expect(state.settle(now: 109).isEmpty)
        #expect(state.settle(now: 110) == [Self.stopped(.timeout), .shutdownWrite])
        #expect(state.deadline == 120)
        #expect(state.settle(now: 120) == [.close])
    }

    @Test func idleTimeoutWithUnwrittenBytesAborts() throws {
        var state = try started()
        try state.send([1], now: 10)
        #expect(state.settle(now: 60) == [.abort, Self.stopped(.timeout)])
    }

    @Test func idleTimeoutAppliesWhileReadingIsStopped() throws {
        var state = try started()
        try state.stopReading()
        #expect(state.deadline == 50 && !state.wantsRead && !state.deliversMessages && state.delivers)
        try state.resumeReading(now: 0)
        #expect(state.deadline == 50)
        try state.stopReading()
        try state.send([1], now: 40)
        _ = state.wrote(1, now: 45)
        #expect(state.settle(now: 94).isEmpty)
        #expect(state.settle(now: 95) == [Self.stopped(.timeout), .shutdownWrite])
    }

    @Test func timersAreCancelledAtTheEnd() throws {
        var state = try started()
        _ = state.readFailed(SystemError.subject(ECONNRESET))
        #expect(state.deadline == nil)
        #expect(state.settle(now: .max).isEmpty)
    }

    // MARK: Releasing the transport

    @Test func releaseWhileConnectingReportsNothing() throws {
        var state = try starting()
        state.abandon(now: 1)
        #expect(state.settle(now: 1).isEmpty)
        #expect(state.isEnded)
    }

    @Test func releaseWritesQueuedBytesSilently() throws {
        var state = try started()
        try state.send([1], now: 0)
        state.abandon(now: 1)
        #expect(!state.delivers)
        #expect(state.wrote(1, now: 2).isEmpty)
        #expect(state.settle(now: 2) == [.shutdownWrite])
        _ = state.readReachedEOF(now: 3)
        #expect(state.settle(now: 3) == [.close])
    }

    @Test func releaseAfterStopStillReportsTheStop() throws {
        var state = try started()
        state.stop(now: 1)
        state.abandon(now: 1)
        #expect(state.settle(now: 1) == [.shutdownWrite, Self.stopped(.stopped)])
    }
}
