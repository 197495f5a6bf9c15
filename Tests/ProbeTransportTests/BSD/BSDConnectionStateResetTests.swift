import ProbeBase
import Testing

@testable import ProbeTransport

/// Tests `reset()` in each phase, and messages that were queued before the connection was established.
@Suite struct BSDConnectionStateResetTests {
    private static let limits = BSDConnectionState.Limits(connect: 100, idle: 50, linger: 20, drain: 10)
    private static let stopped = BSDConnectionState.Action.report(.stopped(.stopped, detail: nil))

    private func started() throws -> BSDConnectionState {
        var state = BSDConnectionState(limits: Self.limits)
        try state.start(now: 0)
        #expect(state.connected(now: 0) == [.report(.started)])
        return state
    }

    @Test func resetBeforeStartIsAnError() {
        var state = BSDConnectionState(limits: Self.limits)
        #expect(throws: TransportError.notStarted) { try state.reset() }
        #expect(throws: Never.self) { try state.start(now: 0) }
    }

    @Test func resetWhileConnectingAborts() throws {
        var state = BSDConnectionState(limits: Self.limits)
        try state.start(now: 0)
        try state.reset()
        #expect(state.connected(now: 1) == nil)
        #expect(state.settle(now: 1) == [Self.stopped])
        #expect(state.isEnded)
    }

    @Test func resetDiscardsTheQueue() throws {
        var state = try started()
        try state.send([1, 2, 3], now: 0)
        #expect(state.wantsWrite)
        try state.reset()
        #expect(!state.wantsWrite && !state.wantsRead)
        #expect(throws: TransportError.stopped) { try state.send([4], now: 0) }
        #expect(state.settle(now: 0) == [.abort, Self.stopped])
        #expect(state.settle(now: 0).isEmpty)
    }

    @Test func resetEndsAPendingStop() throws {
        var state = try started()
        try state.send([1, 2, 3], now: 0)
        state.stop(now: 0)
        #expect(state.settle(now: 1).isEmpty)
        try state.reset()
        #expect(state.settle(now: 1) == [.abort, Self.stopped])
        // Neither `stop` nor `reset` causes a second `stopped`.
        state.stop(now: 2)
        try state.reset()
        #expect(state.settle(now: 3).isEmpty)
    }

    @Test func earlyMessagesWaitForTheConnection() throws {
        var state = BSDConnectionState(limits: Self.limits)
        #expect(throws: TransportError.notStarted) { try state.send([1], now: 0) }
        try state.start(now: 0)
        try state.send([1], now: 0)
        try state.send([2, 3], now: 0)
        #expect(!state.wantsWrite)
        _ = state.connected(now: 5)
        #expect(state.wantsWrite && state.outgoing.count == 3)
        #expect(state.outgoing.queue.withFront(limit: 10) { Array($0) } == [1, 2, 3])
    }
}
