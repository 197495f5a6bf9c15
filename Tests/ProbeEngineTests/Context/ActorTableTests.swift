import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport
import Testing

@testable import ProbeEngine

@Suite struct ActorTableTests {
    @Test(arguments: [
        (1, #"has reported line "a""#), (3, #"has reported line "a", line "a", line "a""#),
        (3000, #"has reported line "a", line "a", line "a", line "a", line "a" and 2995 more"#),
    ])
    func pendingReportsAreCounted(count: Int, state: String) {
        var table = ActorTable()
        let subject = SubjectActor(
            name: "T", number: 1, target: nil, configuration: SubjectOptions(), isListener: false)
        subject.reports.pending = Array(repeating: (.line([0x61]), .now), count: count)
        table.enter("T", .subject(subject))
        #expect(table.describe(Finding(.failed, "x")).actors.map(\.state) == [state])
    }
}
