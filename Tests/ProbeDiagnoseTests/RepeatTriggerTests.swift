import Testing

@testable import ProbeDiagnose

/// Tests the distinction between retransmissions by the timer and those that an acknowledgment triggers.
@Suite struct RepeatTriggerTests {
    private let millisecond: Int64 = 1_000_000

    private func isTimer(_ trigger: RepeatTrigger, at time: Int64, acknowledged: Int64 = 0, roundTrip: Int64 = 0)
        -> Bool
    {
        trigger.isTimer(
            at: time * millisecond, since: 0, acknowledged: acknowledged * millisecond,
            roundTrip: roundTrip * millisecond)
    }

    @Test func silenceIsTimer() {
        #expect(isTimer(RepeatTrigger(), at: 200))
        #expect(!isTimer(RepeatTrigger(), at: 190))
    }

    /// An acknowledgment of new data restarts the timer.
    @Test func newAcknowledgmentRestartsTimer() {
        #expect(!isTimer(RepeatTrigger(), at: 400, acknowledged: 300))
        #expect(isTimer(RepeatTrigger(), at: 500, acknowledged: 300))
    }

    @Test func timerIsLongerThanRoundTrip() {
        #expect(!isTimer(RepeatTrigger(), at: 400, roundTrip: 500))
    }

    /// A request is answered at once, and expires.
    @Test func requestExpires() {
        var trigger = RepeatTrigger()
        trigger.noteRequest(at: 300 * millisecond, delay: 0, latestDelay: 0)
        #expect(!isTimer(trigger, at: 305))
        #expect(isTimer(trigger, at: 600))
    }

    /// The segments of a burst have the same trigger.
    @Test func burstIsRequested() {
        var trigger = RepeatTrigger()
        trigger.noteRequest(at: 300 * millisecond, delay: 0, latestDelay: 0)
        for time in stride(from: Int64(302), through: 320, by: 2) {
            #expect(!isTimer(trigger, at: time))
            trigger.noteSegment(at: time * millisecond)
        }
    }

    /// Away from the sender, the answer to a request takes the time of the way to the sender and back.
    @Test func requestReachesSenderLater() {
        var trigger = RepeatTrigger()
        trigger.noteRequest(at: 300 * millisecond, delay: 250 * millisecond, latestDelay: 0)
        #expect(!isTimer(trigger, at: 600))
        trigger = RepeatTrigger()
        trigger.noteRequest(at: 300 * millisecond, delay: 10 * millisecond, latestDelay: 400 * millisecond)
        #expect(!isTimer(trigger, at: 750))
    }

    /// One timer sends one segment.
    @Test func timerExpiresOnce() {
        var trigger = RepeatTrigger()
        trigger.noteExpiry(at: 300 * millisecond)
        #expect(!isTimer(trigger, at: 301))
        #expect(isTimer(trigger, at: 900))
    }
}
