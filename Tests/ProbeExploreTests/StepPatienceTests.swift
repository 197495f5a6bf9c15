import ProbeEngine
import ProbeExplore
import ProbeScenario
import Testing

/// Tests the deadlines of steps while variations are tried.
struct StepPatienceTests {
    /// The deadlines of the steps that wait for data.
    private static func deadlines(of scenario: Scenario) -> [Duration] {
        scenario.allSteps.compactMap { step in
            if case .act(_, .connection(.expect), let timing) = step.kind {
                timing.within ?? scenario.timeout
            } else {
                nil
            }
        }
    }

    private static func deadlines(
        _ patience: StepPatience, of scenario: Scenario, pauses: Duration = .zero
    ) -> [Duration] {
        deadlines(of: patience.applied(to: scenario, pauses: pauses))
    }

    private static func observations(of scenario: Scenario, _ times: [Duration]) -> [StepObservation] {
        scenario.allSteps.flatMap { step in
            times.map { StepObservation(step: step.id, actor: "", event: .ended(after: $0)) }
        }
    }

    @Test func stepMayTakeTwentyTimesItsMedian() throws {
        let scenario = try ScenarioSample.echoed().explored().scenario
        let slow = StepPatience(Self.observations(of: scenario, [.milliseconds(9), .milliseconds(20), .seconds(1)]))
        let own = Self.deadlines(of: scenario)
        #expect(own.contains { $0 > .milliseconds(500) })
        #expect(Self.deadlines(slow, of: scenario) == own.map { min($0, .milliseconds(400)) })
        #expect(
            Self.deadlines(slow, of: scenario, pauses: .milliseconds(30)) == own.map { min($0, .milliseconds(430)) })
        let fast = StepPatience(Self.observations(of: scenario, [.microseconds(50)]))
        #expect(Self.deadlines(fast, of: scenario) == own.map { min($0, .milliseconds(150)) })
    }

    @Test func deadlinesOfTheScriptAreNeverExtended() throws {
        let scenario = try ScenarioSample.echoed().explored().scenario
        let slow = StepPatience(Self.observations(of: scenario, [.seconds(10)]))
        #expect(Self.deadlines(slow, of: scenario) == Self.deadlines(of: scenario))
        #expect(Self.deadlines(StepPatience([]), of: scenario) == Self.deadlines(of: scenario))
    }

    @Test func longerDeadlinesHaveALimit() throws {
        var patience = StepPatience([])
        var count = 0
        while let longer = patience.longer {
            patience = longer
            count += 1
        }
        #expect(count == 2)
        #expect(StepPatience([], fixed: .seconds(1)).longer == nil)
    }
}
