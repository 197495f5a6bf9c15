import ProbeScenario
import Testing

@Suite struct FirstExampleTests {
    static let script = #"""
        # A reply cut inside its CRLF is still one line.
        scenario "a reply that is cut inside its CRLF"

        server  S
        subject T -> S

        T start
        S accept
        S send "220 rea" | "dy\r" | "\n"  every 30ms
        T expect line "220 ready"
        T send line "QUIT"
        S expect "QUIT\r\n"
        S close
        T expect stopped eof

        wire S -> T segments "220 rea", "dy\r", "\n"
        wire S -> T gap >= 25ms
        wire T -> S bytes "QUIT\r\n"
        wire no rst
        """#

    @Test func exampleCompiles() throws {
        let result = compile(Self.script)
        #expect(result.rendered == "")
        let plan = try #require(result.plan)
        #expect(plan.scenario.title.value == "a reply that is cut inside its CRLF")
        #expect(plan.scenario.actors.map(\.name.value) == ["S", "T"])
        #expect(plan.scenario.steps.count == 12)
        #expect(plan.cases.map(\.label) == [""])
        guard case .act(let actor, .connection(.send(let send)), _) = plan.scenario.steps[2].kind else {
            Issue.record("the third step is not a send")
            return
        }
        #expect(actor.value == "S")
        let evaluator = Evaluator(scope: BoundScope(), sources: plan.sources, framing: plan.scenario.framing)
        #expect(try evaluator.pieces(of: send) == [Array("220 rea".utf8), Array("dy\r".utf8), Array("\n".utf8)])
    }
}
