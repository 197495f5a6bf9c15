import ProbeBase
import ProbeEvents
import ProbeExplore
import ProbeScenario
import ProbeSystem
import Testing

/// Tests which steps of a failing scenario are removed: only steps that a correct program does not depend on.
struct ReductionTests {
    /// Simulates a key-value server that runs the candidates of ``script``. It either forgets overwrites or is correct.
    private struct StoreRunner: CandidateRunner {
        let scenario: Scenario
        let forgets: Bool
        /// The number of upcoming runs that will be inconclusive.
        let unknown = Counter(0)

        func isAllowed(_ candidate: Candidate) -> Bool { true }

        func run(_ candidates: [Candidate]) async -> [Trial] { candidates.map(trial) }

        private func trial(_ candidate: Candidate) -> Trial {
            if unknown.takeOne() { return .unknown(failedResult(at: nil)) }
            var store: [String: String] = [:]
            var replies: [String] = []
            for step in candidate.scenario(of: scenario).allSteps {
                guard case .act(_, .connection(let action), _) = step.kind else { continue }
                switch action {
                case .send(let statement):
                    let words = Self.text(statement.pieces[0]).split(separator: " ").map(String.init)
                    if words[0] == "SET" {
                        if !forgets || store[words[1]] == nil { store[words[1]] = words[2] }
                        replies.append("OK")
                    } else {
                        replies.append("=" + (store[words[1]] ?? "-"))
                    }
                case .expect(.line(.value(let value), _)):
                    let (expected, actual) = (Self.text(value), replies.isEmpty ? nil : replies.removeFirst())
                    if actual != expected {
                        return Trial(failedResult(at: step.span, "another line", expected: expected, actual: actual))
                    }
                case .ignoreRest: replies = []
                default: break
                }
            }
            return replies.isEmpty ? .passed : Trial(failedResult(at: nil, "a line was not read"))
        }

        private static func text(_ value: Expression) -> String {
            guard case .string(let pieces) = value.kind, case .text(let bytes)? = pieces.first else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static let script = """
        scenario "a value is overwritten"
        process P = kv ${P.port}
        client C -> P
        P start
        C connect
        note "not needed"
        C send line "SET b 1"
        C expect line "OK"
        C send line "SET a 1"
        C expect line "OK"
        C send line "SET a 2"
        C expect line "OK"
        C send line "GET a"
        C expect line "=2"
        C send line "GET b"
        C send line "GET a"
        C expect line "=1"
        C expect line "=2"
        C close

        """

    private static func shrunk(
        _ text: String = script, hasGood: Bool, inconclusive: Int = 0
    ) async throws -> (text: String, result: ShrinkResult, sample: ScenarioSample) {
        let sample = try ScenarioSample(text, sent: [])
        let base = sample.explored()
        let runner = StoreRunner(scenario: base.scenario, forgets: true)
        let first = try #require(await runner.run([Candidate()]).first?.result)
        let good = StoreRunner(scenario: base.scenario, forgets: false)
        runner.unknown.set(inconclusive)
        good.unknown.set(inconclusive)
        var shrinker = Shrinker(
            runner: runner, good: hasGood ? good : nil, sites: base.sites,
            failure: ShownFailure(try #require(Signature(first)), in: [first]), keepsFailure: true,
            rate: FailureRate(failed: 10, runs: 10), deadline: .distantFuture)
        let result = await shrinker.shrink(Candidate(), of: base.scenario)
        let passes = try #require(await good.run([result.candidate]).first).hasPassed
        #expect(passes, "a correct program passes the smallest scenario")
        return (sample.text(result.candidate), result, sample)
    }

    @Test func earlierStepsAreKeptWithoutACorrectProgram() async throws {
        let (text, result, _) = try await Self.shrunk(hasGood: false)
        let before = Self.script.replacing("note \"not needed\"\n", with: "")
        let end = try #require(before.firstRange(of: "C expect line \"=2\"\n"))
        #expect(text == before[..<end.upperBound] + "C ignore rest\n")
        #expect(result.keepsPremises && !result.hasUnsureReduction)
    }

    @Test func correctProgramAllowsReduction() async throws {
        let (text, result, _) = try await Self.shrunk(hasGood: true)
        #expect(!text.contains("SET b") && !text.contains("GET b") && !text.contains("note"))
        for line in ["SET a 1", "SET a 2", "GET a", "expect line \"=2\""] { #expect(text.contains(line)) }
        #expect(!result.keepsPremises)
    }

    @Test func inconclusiveRunsAreRepeated() async throws {
        let (text, _, _) = try await Self.shrunk(hasGood: true, inconclusive: 3)
        #expect(!text.contains("SET b") && text.contains("SET a 1"))
    }

    @Test func stepsThatAConditionMayNeedAreKept() async throws {
        let place = "note \"not needed\"\n"
        let script = Self.script.replacing(place, with: "whenever C gets line /x/ { note \"y\" }\n" + place)
        let (text, _, _) = try await Self.shrunk(script, hasGood: false)
        #expect(text.contains("GET b") && text.contains("C close"))
    }

    @Test func ignoreRestIsWrittenAndRun() async throws {
        let (text, result, sample) = try await Self.shrunk(hasGood: false)
        let scenario = result.candidate.scenario(of: sample.plan.scenario)
        let again = try ScenarioSample(text, sent: [])
        #expect(scenario.allSteps.count == again.plan.scenario.allSteps.count)
        if case .act(_, .connection(.ignoreRest), _)? = scenario.allSteps.last?.kind {
        } else {
            Issue.record("no `ignore rest`")
        }
    }
}
