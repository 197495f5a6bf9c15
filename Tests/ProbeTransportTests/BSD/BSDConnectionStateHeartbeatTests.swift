import Testing

@testable import ProbeTransport

/// Tests heartbeats and the peer's silence, with times passed as arguments.
@Suite struct BSDConnectionStateHeartbeatTests {
    private static let frame: [UInt8] = [0x50, 0x0d, 0x0a]

    private func started(
        beat: Int64? = 20, silence: Int64? = nil, onlyAnswers: Bool = false
    ) throws -> BSDConnectionState {
        var limits = BSDConnectionState.Limits(linger: 20, drain: 10)
        limits.beat = beat.map { BSDConnectionState.Limits.Beat(interval: $0, frame: Self.frame) }
        limits.silence = silence
        limits.onlyAnswersCountAsAlive = onlyAnswers
        var state = BSDConnectionState(limits: limits)
        try state.start(now: 0)
        _ = state.connected(now: 100)
        return state
    }

    @Test func heartbeatIsSentWhenIdle() throws {
        var state = try started()
        #expect(state.deadline == 120)
        #expect(state.settle(now: 119) == [])
        #expect(!state.wantsWrite)
        #expect(state.settle(now: 120) == [])
        #expect(state.wantsWrite && state.outgoing.count == 3)
        // No second heartbeat is queued while the first one is waiting to be written.
        #expect(state.settle(now: 150) == [])
        #expect(state.outgoing.count == 3 && state.deadline == nil)
        // The bytes of a heartbeat are not reported by `sent`.
        #expect(state.wrote(3, now: 151) == [])
        #expect(state.deadline == 171)
    }

    @Test func messageReplacesTheHeartbeat() throws {
        var state = try started()
        try state.send([1, 2], now: 115)
        #expect(state.wrote(2, now: 116) == [.report(.sent(2))])
        #expect(state.deadline == 136)
        _ = state.settle(now: 136)
        try state.send([1, 2], now: 137)
        // The heartbeat and the message are written together, but only the message is reported.
        #expect(state.wrote(5, now: 138) == [.report(.sent(2))])
    }

    @Test func noHeartbeatFollowsOurFIN() throws {
        var state = try started(silence: 50)
        try state.halfClose()
        #expect(state.settle(now: 500) == [.shutdownWrite])
        #expect(!state.wantsWrite && state.deadline == nil)
    }

    @Test func silenceStopsTheConnection() throws {
        var state = try started(beat: nil, silence: 50)
        #expect(state.deadline == 150)
        state.received(now: 140)
        #expect(state.deadline == 190)
        #expect(!state.isIdleDue(now: 189) && state.settle(now: 189) == [])
        #expect(state.isIdleDue(now: 190))
        #expect(state.settle(now: 190) == [.abort, .report(.stopped(.heartbeat, detail: nil))])
        #expect(state.isEnded)
    }

    @Test func onlyHeartbeatAnswersCount() throws {
        var state = try started(beat: nil, silence: 50, onlyAnswers: true)
        state.received(now: 140)
        #expect(state.deadline == 150)
        state.noteAnswer(now: 145)
        #expect(state.deadline == 195)
    }

    @Test func silenceIsNotMeasuredWhileReadingIsStopped() throws {
        var state = try started(beat: nil, silence: 50)
        try state.stopReading()
        #expect(state.deadline == nil && state.settle(now: 1000) == [])
        try state.resumeReading(now: 1000)
        #expect(state.deadline == 1050)
        // Resuming a connection whose reading is not stopped changes nothing.
        try state.resumeReading(now: 1040)
        #expect(state.deadline == 1050)
    }
}
