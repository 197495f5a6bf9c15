import ProbeBase
import ProbeEvents
import ProbeExplore
import ProbeScenario
import ProbeSystem
import Testing

struct ShrinkerTests {
    /// Simulates runs: the candidates that match a rule fail.
    private struct RuleRunner: CandidateRunner {
        var fails: @Sendable (Candidate) -> Bool
        var passesPlain: @Sendable (Candidate) -> Bool = { _ in true }

        func isAllowed(_ candidate: Candidate) -> Bool { true }

        func run(_ candidates: [Candidate]) async -> [Trial] {
            candidates.map { candidate in
                if candidate.variation.isEmpty {
                    return passesPlain(candidate) ? .passed : .failed(Self.signature, Self.result)
                }
                return fails(candidate) ? .failed(Self.signature, Self.result) : .passed
            }
        }

        static let result = failedResult(at: SourceSpan(start: 0, end: 1))
        static let signature = Signature(span: SourceSpan(start: 0, end: 1), verdict: .failed, reason: "wrong")
        static let failure = ShownFailure(signature, in: [result])
    }

    private static func shrink(
        _ variation: Variation, _ sample: ScenarioSample, _ runner: RuleRunner,
        until deadline: MonotonicTime = .distantFuture
    ) async -> ShrinkResult {
        let base = sample.explored()
        var shrinker = Shrinker(
            runner: runner, sites: base.sites, failure: RuleRunner.failure,
            rate: FailureRate(failed: 10, runs: 10), deadline: deadline)
        return await shrinker.shrink(Candidate(variation), of: base.scenario)
    }

    private static func manyCuts(_ send: Int) -> Variation {
        Variation(send: send, cutAt: [1, 2, 3, 4], pause: .milliseconds(30))
    }

    @Test func singleCutIsFoundAndItsNeighboursPass() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let result = await Self.shrink(
            Self.manyCuts(send), sample, RuleRunner { $0.variation.offsets(of: send).contains(4) })
        #expect(result.candidate.variation == Variation(send: send, cutAt: [4]))
        #expect(result.cutTables[send] == ShrinkResult.CutTable(failing: [4], passing: [1, 2, 3]))
    }

    @Test func pairOfCutsIsFoundIfNoSingleCutFails() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let result = await Self.shrink(
            Self.manyCuts(send), sample, RuleRunner { Set($0.variation.offsets(of: send)).isSuperset(of: [2, 4]) })
        #expect(result.candidate.variation == Variation(send: send, cutAt: [2, 4]))
    }

    @Test func pauseIsHalvedWhileItFails() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let result = await Self.shrink(
            Self.manyCuts(send), sample,
            RuleRunner {
                $0.variation.offsets(of: send).contains(2) && $0.variation.pauses[send] ?? .zero >= .milliseconds(5)
            })
        #expect(result.candidate.variation == Variation(send: send, cutAt: [2], pause: .milliseconds(7)))
    }

    @Test func unneededStepsAreRemoved() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let result = await Self.shrink(
            Self.manyCuts(send), sample, RuleRunner { $0.variation.offsets(of: send).contains(4) })
        #expect(!result.candidate.removedSteps.contains(send))
        #expect(result.candidate.removedSteps.isSuperset(of: sample.sends.dropFirst()))
        #expect(!result.hasReachedDeadline)
    }

    @Test func expiredDeadlineIsReported() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let result = await Self.shrink(
            Self.manyCuts(send), sample, RuleRunner { $0.variation.offsets(of: send).contains(4) },
            until: .now)
        #expect(result.candidate.variation == Variation(send: send, cutAt: [4]))
        #expect(result.candidate.removedSteps.isEmpty && result.hasReachedDeadline)
    }

    @Test func failureWithoutTheVariationIsADifferentOne() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let runner = RuleRunner(
            fails: { $0.variation.offsets(of: send).contains(4) },
            passesPlain: { $0.removedSteps.isEmpty && $0.removedActors.isEmpty })
        let result = await Self.shrink(Self.manyCuts(send), sample, runner)
        #expect(result.candidate.removedSteps.isEmpty)
    }

    @Test func sentenceNamesFailingAndPassingCuts() async throws {
        let sample = try ScenarioSample.echoed()
        let send = sample.sends[0]
        let runner = RuleRunner { $0.variation.offsets(of: send).contains(4) && $0.payloads.isEmpty }
        let result = await Self.shrink(Self.manyCuts(send), sample, runner)
        #expect(
            MinimumSentence(sample.explored(), result).text
                == "fails when \"one\\r\\n\" is cut at 4, between CR and LF; 3 passes; 10 of 10 runs")
    }
}
