import ProbeBase
import ProbeScenario

/// The pauses between the pieces of a send.
extension Shrinker {
    private static let reliable = Duration.milliseconds(10)

    /// Makes pauses long enough that a program on a busy machine takes each piece alone, where the candidate does not fail less often then.
    func reliablePauses(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        for send in result.candidate.variation.cutSends {
            let count = result.candidate.variation.offsets(of: send).count
            guard Self.reliable > result.candidate.variation.pauses[send] ?? .zero,
                sites.contains(where: { $0.step == send && $0.allows(count, of: Self.reliable) })
            else { continue }
            // One miss of ten is chance: a longer pause is the surer one all the same.
            _ = await accept(Self.reliable, send, &result, atLeast: max(1, result.rate.failed - 1))
        }
        return result
    }

    /// Makes pauses longer where the candidate fails more often then.
    func longerPauses(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        for send in result.candidate.variation.cutSends {
            let count = result.candidate.variation.offsets(of: send).count
            for pause in [1, 3, 10, 30, 100] where result.rate.failed < result.rate.runs {
                let pause = Duration.milliseconds(pause)
                guard pause > result.candidate.variation.pauses[send] ?? .zero,
                    sites.contains(where: { $0.step == send && $0.allows(count, of: pause) })
                else { continue }
                _ = await accept(pause, send, &result, atLeast: result.rate.failed + 1)
            }
        }
        return result
    }

    /// Leaves pauses out, or halves them, as long as the candidate does not fail less often.
    func shortestPauses(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        for send in result.candidate.variation.cutSends {
            if let pause = result.candidate.variation.pauses[send] {
                if await accept(nil, send, &result, atLeast: result.rate.failed) { continue }
                var shorter = pause.half
                while shorter >= .milliseconds(1), await accept(shorter, send, &result, atLeast: result.rate.failed) {
                    shorter = shorter.half
                }
            }
        }
        return result
    }

    private func accept(
        _ pause: Duration?, _ send: Int, _ result: inout ShrinkResult, atLeast count: Int
    ) async -> Bool {
        var candidate = result.candidate
        candidate.variation.pauses[send] = pause
        let rate = await rate(of: candidate, atLeast: count)
        guard rate.runs == FailureRate.measured, rate.failed >= count, rate.failed > 0 else { return false }
        result.candidate = candidate
        result.rate = rate
        return true
    }
}

extension Duration {
    /// The half in whole milliseconds; zero of one millisecond.
    fileprivate var half: Duration { .milliseconds(Int(self / .milliseconds(1)) / 2) }
}
