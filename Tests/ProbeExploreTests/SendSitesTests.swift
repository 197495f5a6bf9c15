import ProbeEngine
import ProbeExplore
import ProbeScenario
import Testing

struct SendSitesTests {
    private static func sites(_ steps: String, header: String = "", sent: [[String]]) throws -> [SendSite] {
        let text =
            "scenario \"a\"\ntimeout 1s\n\(header)\nserver S\nclient C -> S\nC connect\nS accept\n\(steps)\nnote \"end\"\n"
        return try ScenarioSample(text, sent: sent).explored().sites
    }

    @Test func cutOrPacedSendsAreNotVaried() throws {
        let sites = try Self.sites(
            "C send \"ab\" | \"cd\"\nC send \"abcd\" cut at 2\nC send \"abcd\" at 100B/s\nC send \"abcd\"\nS expect 16 bytes",
            sent: [["ab", "cd"], ["ab", "cd"], ["abcd"], ["abcd"]])
        #expect(sites.map(\.bytes) == [Array("abcd".utf8)])
    }

    @Test func shortestExecutionLimitsTheOffsets() throws {
        var sample = try ScenarioSample(
            "scenario \"a\"\nserver S\nclient C -> S\nC connect\nS accept\nfor i in 9..10 {\n    C send line \"${i}\"\n    S expect line \"${i}\"\n}\n",
            sent: [["9\r\n"]])
        sample.observations.append(
            StepObservation(step: sample.sends[0], actor: "C", event: .sent([Array("10\r\n".utf8)])))
        let site = try #require(sample.explored().sites.first)
        #expect(site.length == 3)
        #expect(!site.isConstant)
    }

    @Test(arguments: [
        ("S expect line \"b\"", false), ("wait 10ms", true), ("note \"x\"", true), ("wire no rst", true),
        ("wire C -> S bytes \"a\\r\\n\"", false), ("C expect nothing for 10ms", false),
    ])
    func sendsAreJoinedOnlyWithoutAWaitBetweenThem(between: String, isJoined: Bool) throws {
        let sites = try Self.sites(
            "C send line \"a\"\n\(between)\nC send line \"b\"\nS ignore rest", sent: [["a\r\n"], ["b\r\n"]])
        #expect((sites[0].next == sites[1].step) == isJoined)
    }

    @Test func sendsOverTLSHaveTheLengthOfTheirRecords() throws {
        let text =
            "scenario \"a\"\nserver S tls\nclient C -> S tls\nC connect\nS accept\nC send line \"ab\"\nC send \"cd\" in records of 1B\nS ignore rest\n"
        var sample = try ScenarioSample(text, sent: [])
        for (send, bytes, length) in [(0, "ab\r\n", 27), (0, "ab\r\n", 26), (1, "cd", 46)] {
            sample.observations.append(
                StepObservation(
                    step: sample.sends[send], actor: "C", event: .sealed(Array(bytes.utf8), length: length)))
        }
        let sites = sample.explored().sites
        #expect(sites.map(\.step) == [sample.sends[0]])
        #expect(sites[0].isSealed && sites[0].isConstant && sites[0].length == 26)
        #expect(sites[0].bytes == Array("ab\r\n".utf8))
        let variation = Variation([.records(send: sites[0].step, size: 3), .cut(send: sites[0].step, at: 25)])
        #expect(sample.text(Candidate(variation)).contains("C send line \"ab\" in records of 3B cut at 25\n"))
        let scenario = Candidate(variation).scenario(of: sample.explored().scenario)
        guard
            case .act(_, .connection(.send(let statement)), _)? = scenario.allSteps.first(where: {
                $0.id == sites[0].step
            })?.kind,
            case .integer(3)? = statement.recordLength?.kind
        else {
            Issue.record("the scenario has no records of 3 bytes")
            return
        }
    }

    @Test(arguments: [
        ("C half-close", true), ("C close", true), ("wait 10ms\nC half-close", true), ("wire no rst\nC close", true),
        ("S half-close", false), ("C reset", false), ("C expect nothing for 10ms\nC half-close", false),
        ("C send line \"b\"\nC half-close", false), ("wire C -> S bytes \"a\\r\\n\"\nC close", false),
    ])
    func lastSendCarriesTheFINOnlyWithoutALaterWait(next: String, isCarried: Bool) throws {
        let sites = try Self.sites("C send line \"a\"\n\(next)\nS ignore rest", sent: [["a\r\n"], ["b\r\n"]])
        #expect((sites[0].end != nil) == isCarried)
    }

    @Test(arguments: ["server Q tls\nclient D -> Q tls\n", "server Q on unix\nclient D -> Q\n"])
    func noSendCarriesTheFINWithTLSOrUnixSockets(header: String) throws {
        let sites = try Self.sites(
            "D connect\nQ accept\nC send line \"a\"\nC half-close\nS ignore rest", header: header, sent: [["a\r\n"]])
        #expect(sites.map(\.end) == [nil])
    }

    @Test(arguments: [
        ("S expect line \"a\"", 100), ("S expect line \"a\" within 200ms", 20),
        ("S expect line \"a\"\nS expect nothing for 50ms", 100),
        ("S expect line \"a\" within 5s", 100),
    ])
    func pausesTakeATenthOfTheNextBound(steps: String, milliseconds: Int) throws {
        let sites = try Self.sites("C send line \"a\"\n\(steps)", sent: [["a\r\n"]])
        #expect(sites[0].pauseBudget == .milliseconds(milliseconds))
    }

    @Test func stepsAboutCutsAreRemovedAndListed() throws {
        let base = try ScenarioSample.echoed().explored()
        #expect(base.leftOutTexts == ["a.scn:16:1: wire C -> S segments 3"])
        #expect(base.scenario.allSteps.count == base.original.allSteps.count - 1)
    }

    @Test func slowReadingRespectsDeadlines() throws {
        var sample = try ScenarioSample.echoed()
        let expect = try #require(
            sample.plan.scenario.allSteps.first {
                if case .act(_, .connection(.expect), _) = $0.kind { true } else { false }
            })
        sample.observations.append(StepObservation(step: expect.id, actor: "S", event: .took(3330)))
        let reading = sample.explored().reading
        #expect(reading.slowReading.contains { if case .slowReading("S", _, 10...11) = $0 { true } else { false } })
        #expect(reading.options.contains(.option(actor: "S", .receiveBuffer)))
    }
}
