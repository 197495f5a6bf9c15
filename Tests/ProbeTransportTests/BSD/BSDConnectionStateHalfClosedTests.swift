import ProbeBase
import ProbeSystem
import Glibc
import Testing

@testable import ProbeTransport

/// Tests the peer's FIN on a connection that stays open, and the events `full` and `drained`.
@Suite struct BSDConnectionStateHalfClosedTests {
    typealias Action = BSDConnectionState.Action

    private func started(_ configure: (inout BSDConnectionState.Limits) -> Void) throws -> BSDConnectionState {
        var limits = BSDConnectionState.Limits(linger: 20, drain: 10)
        configure(&limits)
        var state = BSDConnectionState(limits: limits)
        try state.start(now: 0)
        #expect(state.connected(now: 0) == [.report(.started)])
        return state
    }

    private static func stopped(_ reason: StopReason) -> Action { .report(.stopped(reason, detail: nil)) }

    @Test func writingContinuesAfterThePeersFIN() throws {
        var state = try started { $0.allowsHalfClose = true }
        #expect(state.readReachedEOF(now: 1) == [.report(.halfClosed)])
        #expect(state.isHalfClosed && !state.wantsRead)
        #expect(state.settle(now: 1_000_000).isEmpty)
        try state.send([1, 2], now: 2)
        #expect(state.wantsWrite)
        #expect(state.wrote(2, now: 2) == [.report(.sent(2))])
        try state.halfClose()
        #expect(state.settle(now: 3) == [.shutdownWrite, .close, Self.stopped(.eof)])
    }

    @Test func halfCloseAfterTheFINWritesFirst() throws {
        var state = try started { $0.allowsHalfClose = true }
        _ = state.readReachedEOF(now: 1)
        try state.send([1, 2], now: 2)
        try state.halfClose()
        #expect(state.settle(now: 3).isEmpty)
        #expect(state.wrote(2, now: 3) == [.report(.sent(2))])
        #expect(state.settle(now: 3) == [.shutdownWrite, .close, Self.stopped(.eof)])
    }

    @Test func stopAfterTheFINWritesFirst() throws {
        var state = try started { $0.allowsHalfClose = true }
        _ = state.readReachedEOF(now: 1)
        try state.send([1], now: 2)
        state.stop(now: 2)
        #expect(state.settle(now: 3).isEmpty)
        #expect(state.wrote(1, now: 3).isEmpty)
        #expect(state.settle(now: 3) == [.shutdownWrite, .close, Self.stopped(.stopped)])
    }

    @Test func finAfterOurOwnIsTheEnd() throws {
        var state = try started { $0.allowsHalfClose = true }
        try state.halfClose()
        #expect(state.settle(now: 1) == [.shutdownWrite])
        #expect(state.readReachedEOF(now: 2).isEmpty)
        #expect(state.settle(now: 2) == [.close, Self.stopped(.eof)])
    }

    @Test func withoutHalfCloseTheFINIsTheEnd() throws {
        var state = try started { _ in }
        #expect(state.readReachedEOF(now: 1).isEmpty)
        #expect(state.settle(now: 1) == [.shutdownWrite, .close, Self.stopped(.eof)])
    }

    @Test func failedWriteAfterTheFINIsTheEnd() throws {
        var state = try started { $0.allowsHalfClose = true }
        _ = state.readReachedEOF(now: 1)
        try state.send([1], now: 2)
        state.writeFailed(SystemError("send", code: EPIPE))
        #expect(state.settle(now: 2) == [.close, Self.stopped(.brokenPipe)])
    }

    @Test func fullAndDrainedAlternate() throws {
        var state = try started { $0.highWater = 10 }
        try state.send(Array(repeating: 0, count: 9), now: 0)
        #expect(state.writeBlocked().isEmpty)
        try state.send(Array(repeating: 0, count: 3), now: 0)
        #expect(state.writeBlocked() == [.report(.full)])
        #expect(state.writeBlocked().isEmpty)
        #expect(state.wrote(6, now: 1) == [.report(.sent(6))])
        #expect(state.wrote(1, now: 1) == [.report(.sent(1)), .report(.drained)])
        #expect(state.wrote(1, now: 1) == [.report(.sent(1))])
        try state.send(Array(repeating: 0, count: 8), now: 2)
        #expect(state.writeBlocked() == [.report(.full)])
    }

    @Test func withoutAHighWaterMarkNothingIsFull() throws {
        var state = try started { _ in }
        try state.send(Array(repeating: 0, count: 1 << 20), now: 0)
        #expect(state.writeBlocked().isEmpty)
        #expect(state.wrote(1 << 20, now: 1) == [.report(.sent(1 << 20))])
    }
}
