import Testing

@testable import ProbeDiagnose

/// Tests that every instant of a flow is in exactly one state.
@Suite struct TimeBudgetTests {
    @Test func timeIsAddedInOrder() {
        var budget = TimeBudget()
        budget.add(.handshake, until: 10)
        budget.add(.serverThinks, until: 40)
        budget.add(.serverThinks, until: 50)
        budget.add(.clientThinks, until: 45)
        #expect(budget[.handshake] == 10 && budget[.serverThinks] == 40 && budget[.clientThinks] == 0)
        #expect(budget.total == 50)
    }

    /// A retransmission shows in hindsight that the time before it was a timeout, except for the time in a state that
    /// takes precedence.
    @Test func reassignedTimeIsMovedNotAdded() {
        var budget = TimeBudget()
        budget.add(.handshake, until: 10)
        budget.add(.transferCongestionWindow, until: 30)
        budget.add(.closedWindow, until: 40)
        budget.add(.silent, until: 100)
        let moved = budget.reassign(.timeout, from: 5, until: 90)
        #expect(moved == 70)
        #expect(budget[.handshake] == 10 && budget[.closedWindow] == 10 && budget[.silent] == 10)
        #expect(budget[.timeout] == 70 && budget.total == 100)
    }

    /// However many intervals there are, the sum stays exact.
    @Test(arguments: 1...20)
    func sumStaysExact(seed: Int64) {
        var budget = TimeBudget()
        var end: Int64 = 0
        var random = UInt64(seed)
        func next(_ limit: UInt64) -> Int64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((random >> 33) % limit)
        }
        let states = FlowState.allCases
        for _ in 0..<400 {
            end += next(1_000)
            budget.add(states[Int(next(UInt64(states.count)))], until: end)
            if next(4) == 0 {
                let state = states[Int(next(UInt64(states.count)))]
                budget.reassign(state, from: end - next(9_000), until: end - next(900))
            }
            #expect(budget.total == budget.end && states.allSatisfy { budget[$0] >= 0 })
        }
    }

    @Test func missingTimeIsTakenFromTheLongestState() {
        var budget = TimeBudget()
        budget.add(.silent, until: 70)
        budget.add(.recovery, until: 100)
        budget.correct(by: -80)
        #expect(budget.total == 20 && budget[.silent] == 0 && budget[.recovery] == 20)
        budget.correct(by: 5)
        #expect(budget[.unknown] == 5)
    }
}
