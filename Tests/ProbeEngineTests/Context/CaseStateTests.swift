import ProbeEvents
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

struct CaseTimelineTests {
    private func texts(_ timeline: CaseTimeline) -> [String] {
        timeline.entries.map { if case .note(let text) = $0.kind { text } else { "?" } }
    }

    @Test func longTimelineKeepsItsFirstAndLastEntries() {
        var timeline = CaseTimeline(keeping: 2)
        for number in 0..<8 { timeline.record(.note("\(number)"), at: Int64(number)) }
        #expect(texts(timeline) == ["0", "1", "4 entries omitted", "6", "7"])
        #expect(timeline.entries[2].time == 2)
    }

    @Test func lastEventOfEachActorIsKept() {
        var timeline = CaseTimeline(keeping: 2)
        for number in 0..<101 {
            timeline.record(number == 3 ? .event(actor: "T", "stopped eof") : .note("\(number)"), at: Int64(number))
        }
        let kept = texts(timeline)
        #expect(kept[3] == "?")
        #expect(kept[2] == "\(101 - (kept.count - 1)) entries omitted")
    }

    @Test func omittedEntriesAreCountedOnce() {
        var timeline = CaseTimeline(keeping: 2)
        for number in 0..<101 { timeline.record(.note("\(number)"), at: Int64(number)) }
        let kept = texts(timeline)
        #expect(kept[2] == "\(101 - (kept.count - 1)) entries omitted")
        #expect(kept.last == "100")
    }
}

struct FaultStateTests {
    private func text(_ state: FaultState, isCancelled: Bool = false) -> String? {
        do throws(Finding) { try state.check(isCancelled: isCancelled) } catch { return error.summary }
        return nil
    }

    @Test func firstFaultCounts() {
        var state = FaultState()
        #expect(text(state) == nil)
        let raised = [state.raise(Finding(.failed, "a")), state.raise(Finding(.error, "b"))]
        #expect(raised == [true, false])
        #expect(text(state) == "a")
        state.clear()
        #expect(text(state) == nil)
    }

    @Test func interruptionCountsOnlyWithoutAFault() {
        var state = FaultState()
        let isFirst = state.interrupt()
        #expect(isFirst && state.wasInterrupted)
        var failed = FaultState()
        _ = failed.raise(Finding(.failed, "a"))
        let counts = failed.interrupt()
        #expect(!counts && !failed.wasInterrupted)
    }

    @Test func nothingIsRaisedDuringTeardown() {
        var state = FaultState()
        state.isTearingDown = true
        let raised = state.raise(Finding(.failed, "a"))
        #expect(!raised && state.fault == nil)
        #expect(text(state) == "the case has ended")
    }

    @Test func cancelledLineNamesItsCause() {
        #expect(text(FaultState(), isCancelled: true) == "another line of the `together` block failed")
    }
}

struct StepProgressTests {
    @Test func positionIsTheFirstRunningStep() {
        var progress = StepProgress()
        #expect(progress.position == 0)
        progress.enter(3)
        progress.enter(5)
        #expect(progress.position == 3)
        progress.leave(3)
        #expect(progress.position == 5)
    }

    @Test func positionBetweenTwoStepsIsTheNextOne() {
        var progress = StepProgress()
        progress.enter(3)
        progress.enter(4)
        progress.leave(4)
        progress.leave(3)
        #expect(progress.position == 5)
    }
}
