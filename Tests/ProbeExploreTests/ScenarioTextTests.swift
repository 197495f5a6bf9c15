import ProbeExplore
import ProbeScenario
import Testing

struct ScenarioTextTests {
    private static func line(_ text: String, _ number: Int) -> String {
        String(text.split(separator: "\n", omittingEmptySubsequences: false)[number - 1])
    }

    @Test func cutsFollowTheValue() throws {
        let sample = try ScenarioSample.echoed()
        let text = sample.text(Candidate(Variation(send: sample.sends[0], cutAt: [2, 4], pause: .milliseconds(30))))
        #expect(Self.line(text, 9) == "C send line \"one\" cut at 2, 4 every 30ms")
    }

    @Test func manyEqualPiecesAreWrittenAsPieces() throws {
        let sample = try ScenarioSample.echoed()
        let text = sample.text(Candidate(Variation(send: sample.sends[2], cutAt: [1, 2, 3, 4, 5, 6])))
        #expect(text.contains("C send line \"three\" in pieces of 1B\n"))
    }

    @Test func joinedSendsReplaceTheFirst() throws {
        let sample = try ScenarioSample.echoed()
        let text = sample.text(Candidate(Variation([.join(first: sample.sends[0], second: sample.sends[1])])))
        #expect(text.contains("C send line(\"one\") + \"two\\r\\n\"\nwait 10ms\nS expect line \"one\"\n"))
    }

    @Test(arguments: [
        ("half-close", "C send \"ab\" with fin\nnote \"x\"\n"),
        ("close", "C send \"ab\" with fin\nnote \"x\"\nC close\n"),
    ])
    func sendCarriesTheFINOfTheNextEnd(end: String, expected: String) throws {
        let text =
            "scenario \"a\"\nserver S\nclient C -> S\nC connect\nS accept\nC send line \"first\"\nC send \"ab\"\nnote \"x\"\nC \(end)\nS ignore rest\n"
        let sample = try ScenarioSample(text, sent: [["first\r\n"], ["ab"]])
        let base = sample.explored()
        let site = base.sites[1]
        let fin = Change.fin(send: site.step, end: try #require(site.end))
        #expect(sample.text(Candidate(Variation([fin]))).contains(expected))
        let join = Change.join(first: sample.sends[0], second: sample.sends[1])
        for changes in [[fin], [join, fin], [fin, .cut(send: site.step, at: 1)]] {
            let candidate = Candidate(Variation(changes))
            let again = try ScenarioSample(sample.text(candidate), sent: [])
            let scenario = candidate.scenario(of: base.scenario)
            #expect(scenario.allSteps.map(Self.shape) == again.plan.scenario.allSteps.map(Self.shape))
        }
        #expect(sample.text(Candidate(Variation([join, fin]))).contains("C send line(\"first\") + \"ab\" with fin\n"))
    }

    /// Returns a description of the step, which includes whether a send carries the FIN.
    private static func shape(_ step: Step) -> String {
        switch step.kind {
        case .act(let name, .connection(.send(let statement)), _): "\(name.value) send \(statement.carriesFIN)"
        case .act(let name, .connection(.halfClose), _): "\(name.value) half-close"
        case .act(let name, .connection(.close), _): "\(name.value) close"
        default: "other"
        }
    }

    @Test func optionsAndSlowReadingAreWritten() throws {
        let sample = try ScenarioSample.echoed()
        let connect = sample.plan.scenario.steps[0].id
        let text = sample.text(
            Candidate(
                Variation([
                    .option(actor: "C", .receiveBuffer), .option(actor: "C", .noDelayOff),
                    .slowReading(actor: "C", step: connect, bytes: 1),
                ])))
        #expect(text.contains("client  C -> S with receive-buffer 2KiB, nodelay off\n"))
        #expect(text.contains("C read 1B every 1ms\nC connect\n"))
    }

    @Test func removedStepsLoseTheirLines() throws {
        let sample = try ScenarioSample.echoed()
        var candidate = Candidate()
        candidate.removedSteps = [sample.sends[1]]
        candidate.payloads = [sample.sends[0]: Array("x\r\n".utf8)]
        let text = sample.text(candidate, about: "it says \"why\"")
        #expect(text.hasPrefix("scenario \"echo\"\nabout \"it says \\\"why\\\"\"\ntimeout 1s\n"))
        #expect(text.contains("C send \"x\\r\\n\"\nwait 10ms\nS expect line \"one\"\n"))
        #expect(!text.contains("segments"))
    }

    @Test func everyVariationCompiles() throws {
        let sample = try ScenarioSample.echoed()
        let base = sample.explored()
        var order = SearchOrder(
            sites: base.sites, options: base.reading.options, slowReading: base.reading.slowReading, seed: 3)
        let written = ScenarioText(base)
        for _ in 0..<120 {
            guard let variation = order.next() else { break }
            let text = String(decoding: written.text(of: Candidate(variation), about: "x"), as: UTF8.self)
            #expect(throws: Never.self) { try ScenarioSample(text, sent: []) }
        }
    }

    @Test func caseValuesReplaceEach() throws {
        let sample = try ScenarioSample(
            "scenario \"a\"\neach x = 1, 2\nserver S\nclient C -> S\nC connect\nS accept\nC send line \"${x}\"\nS expect line \"${x}\"\n",
            sent: [["1\r\n"]])
        #expect(Self.line(sample.text(Candidate()), 2) == "let x = 1")
    }

    @Test func scriptedCutsBecomeTheVariation() throws {
        let text =
            "scenario \"a\"\nserver S\nclient C -> S\nC connect\nS accept\nC send line \"ab\" | \"cd\" every 5ms\nC send \"efgh\" cut at 2\nS ignore rest\n"
        let sample = try ScenarioSample(text, sent: [["ab", "cd\r\n"], ["ef", "gh"]])
        let base = sample.explored(takesCutsOff: true)
        #expect(base.ownVariation.offsets(of: sample.sends[0]) == [2])
        #expect(base.ownVariation.pauses == [sample.sends[0]: .milliseconds(5)])
        let plain = sample.text(Candidate(), takesCutsOff: true)
        #expect(plain.contains("C send line \"ab\" + \"cd\"\nC send \"efgh\"\n"))
        let cut = sample.text(Candidate(base.ownVariation), takesCutsOff: true)
        #expect(cut.contains("C send line \"ab\" + \"cd\" cut at 2 every 5ms\nC send \"efgh\" cut at 2\n"))
    }

    @Test func scenarioMatchesItsText() throws {
        let sample = try ScenarioSample.echoed()
        let candidate = Candidate(
            Variation([.join(first: sample.sends[0], second: sample.sends[1]), .cut(send: sample.sends[2], at: 3)]))
        let scenario = candidate.scenario(of: sample.explored().scenario)
        let again = try ScenarioSample(sample.text(candidate), sent: [])
        #expect(scenario.allSteps.count == again.plan.scenario.allSteps.count)
    }
}
