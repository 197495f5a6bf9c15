import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

struct CaseTimeTests {
    private func caseTime(scale: Double = 1) -> CaseTime {
        CaseTime(start: time(1000), scale: scale, timeout: .milliseconds(50))
    }

    @Test(arguments: [(1.0, 50), (4.0, 200), (0.5, 25)])
    func scaleMultipliesDeadlines(_ scale: Double, _ milliseconds: Int64) {
        #expect(caseTime(scale: scale).scaledTimeout == .milliseconds(milliseconds))
        let deadline = caseTime(scale: scale).deadline(Timing(), from: time(1000), limit: nil)
        #expect(deadline == time(1000 + milliseconds))
    }

    @Test func scaledDurationIsClamped() {
        #expect(caseTime(scale: 0.01).scaled(.nanoseconds(1)) == .nanoseconds(1))
        #expect(caseTime(scale: 1000).scaled(.seconds(1_000_000_000_000)) == .nanoseconds(3_000_000_000_000_000_000))
    }

    @Test func withinReplacesTheTimeout() {
        let timing = Timing(within: .milliseconds(7))
        #expect(caseTime().deadline(timing, from: time(1000), limit: nil) == time(1007))
    }

    @Test func deadlineIsCappedByTheLimit() {
        #expect(caseTime().deadline(Timing(), from: time(1000), limit: time(1010)) == time(1010))
        #expect(caseTime().deadline(Timing(), from: time(1000), limit: time(2000)) == time(1050))
    }

    @Test func elapsedCountsFromTheStart() { #expect(caseTime().elapsed(time(1003)) == 3_000_000) }
}

struct StandstillJudgementTests {
    /// The stalls of a reactor whose thread was stalled from 100 ms to 160 ms.
    private static let stoodStill: Standstills = {
        var standstills = Standstills()
        standstills.ran(at: time(160), due: time(100), last: time(100))
        return standstills
    }()

    private func judge(
        _ moment: Int64, from start: Int64 = 90, deadline: Int64, after: Int64? = nil, own: Int64 = 0,
        isExact: Bool = false, _ standstills: Standstills = Standstills()
    ) -> Finding? {
        do throws(Finding) {
            try standstills.requireTiming(
                time(moment), "the reply", deadline: time(deadline), after: after.map { .milliseconds($0) },
                from: time(start), own: .milliseconds(own), isExact: isExact)
            return nil
        } catch {
            return error
        }
    }

    @Test func eventAtTheDeadlineIsInTime() { #expect(judge(120, deadline: 120) == nil) }

    @Test func eventAfterTheDeadlineFails() {
        let finding = judge(121, deadline: 120)
        #expect(finding?.verdict == .failed)
        #expect(finding?.summary == "the reply missed the deadline of 30ms by 1ms")
    }

    @Test func lateEventAfterAStandstillIsInconclusive() {
        let finding = judge(165, deadline: 120, Self.stoodStill)
        #expect(finding?.verdict == .inconclusive)
        #expect(
            finding?.summary
                == "the reply missed the deadline of 30ms by 45ms, but the harness itself stood still for 60ms in the meantime: "
                + "the time of the event is unknown")
    }

    @Test func eventLongAfterTheStandstillFails() {
        #expect(judge(300, deadline: 120, Self.stoodStill)?.verdict == .failed)
    }

    @Test func eventBeforeItsLowerBoundFails() {
        #expect(
            judge(95, deadline: 120, after: 10)?.summary
                == "the reply was too early: 5ms after the previous step, expected 10ms or more")
        #expect(
            judge(89, deadline: 120, after: 10)?.summary
                == "the reply was too early: before the step began, expected 10ms or more")
        #expect(judge(100, deadline: 120, after: 10) == nil)
    }

    @Test func lowerBoundHiddenByAStandstillIsInconclusive() {
        #expect(judge(162, deadline: 1000, after: 20, Self.stoodStill)?.verdict == .inconclusive)
        #expect(judge(162, deadline: 1000, after: 20, isExact: true, Self.stoodStill) == nil)
    }

    /// The previous step ended at 162 ms, because the harness was stalled from 100 ms to 160 ms.
    @Test(arguments: [true, false])
    func lowerBoundAfterADelayedStepIsInconclusive(isExact: Bool) {
        let finding = judge(200, from: 162, deadline: 1000, after: 90, isExact: isExact, Self.stoodStill)
        #expect(finding?.verdict == .inconclusive)
        #expect(
            finding?.summary
                == "the reply was too early: 38ms after the previous step, expected 90ms or more, but the harness itself stood still for 60ms "
                + "in the meantime: the time of the event is unknown")
        // The event is too early even if the previous step ended when the stall began.
        #expect(judge(200, from: 162, deadline: 1000, after: 101, Self.stoodStill)?.verdict == .failed)
        #expect(judge(250, from: 200, deadline: 1000, after: 90, Self.stoodStill)?.verdict == .failed)
    }

    @Test func silenceIncludesItsEnd() throws {
        let none = Standstills()
        #expect(try none.breaksSilence("a line came", at: time(120), from: time(90), to: time(120)))
        #expect(try !none.breaksSilence("a line came", at: time(121), from: time(90), to: time(120)))
        #expect(throws: Finding.self) {
            try Self.stoodStill.breaksSilence("a line came", at: time(162), from: time(90), to: time(120))
        }
    }

    @Test func durationIsExtendedByTheStandstill() {
        #expect(!Standstills().isOver(time(120), from: time(90), now: time(119)))
        #expect(Standstills().isOver(time(120), from: time(90), now: time(120)))
        #expect(!Self.stoodStill.isOver(time(120), from: time(90), now: time(165)))
        #expect(Self.stoodStill.isOver(time(120), from: time(90), now: time(300)))
    }
}
