package import ProbeBase
package import ProbeScenario
import ProbeSystem

/// Finds the smallest candidate that fails in the same way: at the same step, and with the same expected and actual
/// values.
///
/// A candidate that passes is run again until the probability that it fails is below 1 %. An inconclusive run does not
/// count as a failure.
package struct Shrinker {
    /// The maximum length of a send for which every single cut is tried, in bytes.
    private static let longestForAll = 1024
    private static let longestForPairs = 48
    /// The number of candidates that are run in one batch, before the first failing candidate is determined.
    private static let batch = 32
    /// The number of runs that show whether a failure that occurs in every run still does.
    private static let quickRuns = 4

    let runner: any CandidateRunner
    /// A runner that runs candidates with the known-good program; `nil` if there is none.
    let good: (any CandidateRunner)?
    let sites: [SendSite]
    /// The failure that the smallest candidate must have.
    package private(set) var failure: ShownFailure
    /// Whether the smallest candidate must have exactly this failure. Otherwise, a smaller variation may cause another
    /// failure: the scenario passes without the variation, so the other failure is also a bug in the program.
    private let keepsFailure: Bool
    private let initialRate: FailureRate
    /// The number of times that a candidate must pass before it counts as passing.
    private var passes: Int { initialRate.passesForConfidence }
    /// The time after which no more parts of the scenario are removed. The variation is shrunk regardless of this
    /// limit.
    let deadline: MonotonicTime

    package init(
        runner: any CandidateRunner, good: (any CandidateRunner)? = nil, sites: [SendSite], failure: ShownFailure,
        keepsFailure: Bool = false, rate: FailureRate, deadline: MonotonicTime
    ) {
        self.runner = runner
        self.good = good
        self.sites = sites
        self.failure = failure
        self.keepsFailure = keepsFailure
        self.deadline = deadline
        initialRate = rate
    }

    /// Shrinks the variation, then the pauses of the variation, and then the scenario.
    ///
    /// - Parameter scenario: the scenario that candidates change.
    package mutating func shrink(_ candidate: Candidate, of scenario: Scenario) async -> ShrinkResult {
        var result = ShrinkResult(candidate: candidate, rate: initialRate)
        result = await reliablePauses(result)
        result = await smallestVariation(result)
        result = await shortestPauses(result)
        result = await longerPauses(result)
        result = await checkNeighbours(result)
        if runner.isOver {
            result.hasReachedDeadline = true
            return result
        }
        let reduction = Reduction(shrinker: self, scenario: scenario)
        result.keepsPremises = reduction.mustKeepPremises(result.candidate)
        let reduced = await reduction.reduced(result.candidate, rate: result.rate)
        result.hasReachedDeadline = MonotonicTime.now >= deadline
        if reduced != result.candidate {
            let rate = await rate(of: reduced)
            // A candidate that passed once or twice during the reduction may have passed by chance.
            let isSound = rate.failed > 0 ? await isSound(reduced) : false
            if runner.isOver {
                result.hasReachedDeadline = true
                return result
            }
            if isSound {
                result.candidate = reduced
                result.rate = rate
                result = await longerPauses(result)
            } else {
                result.hasUnsureReduction = true
            }
        }
        if result.rate.runs < FailureRate.measured {
            let rate = await rate(of: result.candidate)
            if !runner.isOver { result.rate = rate }
            result = await longerPauses(result)
        }
        return result
    }

    /// Returns whether a candidate passes in each of many runs in which it must pass: without its variation, and with
    /// the known-good program.
    private func isSound(_ candidate: Candidate) async -> Bool {
        let plain = Array(repeating: candidate.plain, count: Self.quickRuns + 1)
        if !candidate.variation.isEmpty, await !runner.settled(plain).allSatisfy(\.hasPassed) { return false }
        guard let good else { return true }
        return await good.settled(Array(repeating: candidate, count: FailureRate.measured)).allSatisfy(\.hasPassed)
    }

    // MARK: Running

    /// Returns how many of ten runs of a candidate have the same failure.
    package func rate(of candidate: Candidate) async -> FailureRate {
        let trials = await runner.settled(Array(repeating: candidate, count: FailureRate.measured))
        return FailureRate(failed: trials.count { $0.fails(like: failure) }, runs: FailureRate.measured)
    }

    /// Returns the failure rate of a candidate that may become the result. If the failure has occurred in every run so
    /// far, a few runs suffice; the rate of the final result is measured at the end.
    private func provisionalRate(of candidate: Candidate) async -> FailureRate {
        guard initialRate.failed == initialRate.runs else { return await rate(of: candidate) }
        let trials = await runner.settled(Array(repeating: candidate, count: Self.quickRuns))
        let failed = trials.count { $0.fails(like: failure) }
        if failed == trials.count { return FailureRate(failed: failed, runs: failed) }
        return await rate(of: candidate)
    }

    /// Returns the failure rate of a candidate. The measurement stops early once `count` failures can no longer be
    /// reached.
    func rate(of candidate: Candidate, atLeast count: Int) async -> FailureRate {
        let first = await runner.settled(Array(repeating: candidate, count: Self.quickRuns))
        let failed = first.count { $0.fails(like: failure) }
        if first.count - failed > FailureRate.measured - count { return FailureRate(failed: failed, runs: first.count) }
        let rest = await runner.settled(Array(repeating: candidate, count: FailureRate.measured - first.count))
        return FailureRate(
            failed: failed + rest.count { $0.fails(like: failure) }, runs: FailureRate.measured)
    }

    /// The combined outcome of all runs of a candidate.
    struct Outcome {
        /// Whether the candidate had the same failure in a run.
        var fails = false
        /// Whether the candidate passed in enough runs.
        var passes = true
        /// The signature of another failure, or of the same failure with other values; `nil` if there was none.
        var other: Signature?
    }

    /// Runs candidates until each of them has either had the same failure or passed in enough runs.
    func outcomes(of candidates: [Candidate]) async -> [Outcome] {
        var outcomes = Array(repeating: Outcome(), count: candidates.count)
        for _ in 0..<passes {
            let pending = candidates.indices.filter { !outcomes[$0].fails }
            if pending.isEmpty { break }
            for (index, trial) in zip(pending, await runner.settled(pending.map { candidates[$0] })) {
                if trial.fails(like: failure) {
                    outcomes[index].fails = true
                } else if let other = trial.signature {
                    outcomes[index].other = other
                }
                if !trial.hasPassed { outcomes[index].passes = false }
            }
        }
        return outcomes
    }

    /// Returns the signature of the other failure that is most similar to the current failure. The order of preference
    /// is: the same signature with other values, a signature at the same step, any other signature. Returns `nil` if
    /// the current failure must be kept.
    private func nearest(_ outcomes: [Outcome]) -> Signature? {
        if keepsFailure { return nil }
        let others = outcomes.lazy.compactMap(\.other)
        return others.first { $0 == failure.signature } ?? others.first { $0.span == failure.signature.span }
            ?? others.first
    }

    /// Returns the values and the rate of the failure with the given signature, measured by ten runs of a candidate.
    private func learned(_ signature: Signature, from candidate: Candidate) async -> (ShownFailure, FailureRate) {
        let trials = await runner.settled(Array(repeating: candidate, count: FailureRate.measured))
        let results = trials.compactMap(\.result)
        let failure = ShownFailure(signature, in: results)
        return (failure, FailureRate(failed: results.count { failure.matches($0) }, runs: trials.count))
    }

    /// Returns the first variation that has the same failure. If there is none, returns the first variation with
    /// another failure, which is then the failure that smaller candidates must have.
    private mutating func firstFailing(_ variations: [Variation], in candidate: Candidate) async -> Variation? {
        var others: [(variation: Variation, outcome: Outcome)] = []
        var rest = variations[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.batch))
            rest = rest.dropFirst(part.count)
            let outcomes = await outcomes(of: part.map { candidate.varied($0) })
            if let index = outcomes.firstIndex(where: \.fails) { return part[index] }
            others += zip(part, outcomes).map { ($0, $1) }
        }
        guard let nearest = nearest(others.map(\.outcome)),
            let found = others.first(where: { $0.outcome.other == nearest })?.variation
        else { return nil }
        let (other, rate) = await learned(nearest, from: candidate.varied(found))
        if rate.failed == 0 { return nil }
        failure = other
        return found
    }

    // MARK: The variation

    private mutating func smallestVariation(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        let candidate = start.candidate
        let variation = candidate.variation
        if variation.isEmpty { return result }
        let others = variation.changes.filter { if case .cut = $0 { false } else { true } }
        if let single = await firstFailing(others.map { variation.with([$0]) }, in: candidate) {
            return await measured(await fewestRecords(single, candidate), result)
        }
        for send in variation.cutSends {
            let (single, table) = await singleCuts(of: send, candidate)
            result.cutTables[send] = table
            if runner.isOver { return start }
            if let single {
                result.candidate.variation = single.variation
                result.rate = single.rate
                return result
            }
        }
        if let pair = await firstFailing(pairs(of: variation), in: candidate) { return await measured(pair, result) }
        let shrinker = self
        let changes = await DeltaDebugging.minimum(of: variation.changes) { lists in
            let outcomes = await shrinker.outcomes(of: lists.map { candidate.varied(variation.with($0)) })
            return outcomes.firstIndex(where: \.fails)
        }
        return await measured(variation.with(changes), result)
    }

    /// Returns a variation that divides a send into two TLS records instead of many, if the candidate still fails. The
    /// first record is as long as possible.
    private func fewestRecords(_ variation: Variation, _ candidate: Candidate) async -> Variation {
        guard case .records(let send, let size)? = variation.changes.first, variation.changes.count == 1,
            let site = sites.first(where: { $0.step == send }), size < site.bytes.count - 1
        else { return variation }
        let sizes = (max(size + 1, (site.bytes.count + 1) / 2)..<site.bytes.count).suffix(Self.batch).reversed()
        let variations = sizes.map { variation.with([.records(send: send, size: $0)]) }
        let outcomes = await outcomes(of: variations.map { candidate.varied($0) })
        return outcomes.firstIndex(where: \.fails).map { variations[$0] } ?? variation
    }

    private func measured(_ variation: Variation, _ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        result.candidate.variation = variation
        let rate = await provisionalRate(of: result.candidate)
        // The rate is stated for the variation, so both are kept or both are replaced.
        if runner.isOver { return start }
        result.rate = rate
        return result
    }

    /// Tries single cuts of a send, and returns the cut that causes the failure most often, or the first of several
    /// such cuts. Every cut of a short send is tried.
    private mutating func singleCuts(
        of send: Int, _ candidate: Candidate
    ) async -> ((variation: Variation, rate: FailureRate)?, ShrinkResult.CutTable) {
        var table = ShrinkResult.CutTable()
        guard let site = sites.first(where: { $0.step == send }), site.length > 1 else { return (nil, table) }
        let pause = candidate.variation.pauses[send]
        let offsets = singleOffsets(site, candidate.variation)
        let single = { offset in Variation(send: send, cutAt: [offset], pause: pause) }
        let outcomes = await outcomes(of: offsets.map { candidate.varied(single($0)) })
        let other = outcomes.contains(where: \.fails) ? nil : nearest(outcomes)
        for (offset, outcome) in zip(offsets, outcomes) {
            if outcome.fails || (other != nil && outcome.other == other) {
                table.failing.append(offset)
            } else if outcome.other != nil {
                table.failingDifferently.append(offset)
            } else if outcome.passes {
                table.passing.append(offset)
            }
        }
        var best: (variation: Variation, failure: ShownFailure, rate: FailureRate)?
        for offset in table.failing.prefix(6) {
            let varied = candidate.varied(single(offset))
            let found =
                if let other {
                    await learned(other, from: varied)
                } else {
                    (failure, await provisionalRate(of: varied))
                }
            if found.1.failed > best?.rate.failed ?? 0 { best = (single(offset), found.0, found.1) }
            if found.1.failed == found.1.runs { break }
        }
        if let best { failure = best.failure }
        return (best.map { ($0.variation, $0.rate) }, table)
    }

    private func singleOffsets(_ site: SendSite, _ variation: Variation) -> [Int] {
        if site.length <= Self.longestForAll { return Array(1..<site.length) }
        let own = variation.offsets(of: site.step).flatMap { [$0 - 1, $0, $0 + 1] }
        let likely = LikelyOffsets.of(site.bytes, length: site.length, framing: site.framing)
        return Set(own + likely).filter { $0 > 0 && $0 < site.length }.sorted()
    }

    /// Returns variations with two cuts of a send: pairs of its current cuts if there are few of them, all pairs of
    /// offsets in a short send, and pairs of neighboring offsets in a long send.
    private func pairs(of variation: Variation) -> [Variation] {
        if variation.changes.count < 2 { return [] }
        var result: [Variation] = []
        for site in sites where variation.cutSends.contains(site.step) {
            let own = variation.offsets(of: site.step)
            let offsets =
                site.length <= Self.longestForPairs ? Array(1..<site.length) : own.count <= 16 ? own : []
            var pairs = offsets.indices.flatMap { index in offsets[(index + 1)...].map { [offsets[index], $0] } }
            if offsets.isEmpty { pairs = (1..<max(1, min(site.length, 1024) - 1)).map { [$0, $0 + 1] } }
            let pause = variation.pauses[site.step]
            result += pairs.map { Variation(send: site.step, cutAt: $0, pause: pause) }
        }
        let changes = variation.changes
        if changes.count <= 8, changes.count > 2, variation.cutSends.count > 1 {
            result += changes.indices.flatMap { index in
                changes[(index + 1)...].map { variation.with([changes[index], $0]) }
            }
        }
        return result
    }

    // MARK: Neighbors of a cut

    /// Reruns, with the final pause, the cuts directly before and after a single cut, because the description of the
    /// failure mentions their outcomes.
    private func checkNeighbours(_ start: ShrinkResult) async -> ShrinkResult {
        let variation = start.candidate.variation
        guard variation.changes.count == 1, case .cut(let send, let offset)? = variation.changes.first,
            let table = start.cutTables[send]
        else { return start }
        let beside = table.passing(around: offset)
        let candidates = beside.map { offset in
            start.candidate.varied(Variation(send: send, cutAt: [offset], pause: variation.pauses[send]))
        }
        var result = start
        let trials = await runner.settled((0..<3).flatMap { _ in candidates })
        if runner.isOver { return start }
        for (index, offset) in beside.enumerated() {
            let own = stride(from: index, to: trials.count, by: beside.count).map { trials[$0] }
            if own.contains(where: { !$0.hasPassed }) {
                result.cutTables[send]?.passing.removeAll { $0 == offset }
                if own.contains(where: { $0.signature == failure.signature }) {
                    result.cutTables[send]?.failing.append(offset)
                    result.cutTables[send]?.failing.sort()
                }
            }
        }
        return result
    }
}

/// Adjusts the pauses between the pieces of a send.
extension Shrinker {
    private static let reliable = Duration.milliseconds(10)
    private static let shortest = Duration.milliseconds(5)

    /// Increases the pauses so that a program on a busy machine receives each piece separately. The longer pauses are
    /// used only if the candidate fails as often with them.
    func reliablePauses(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        for send in result.candidate.variation.cutSends {
            let count = result.candidate.variation.offsets(of: send).count
            guard Self.reliable > result.candidate.variation.pauses[send] ?? .zero,
                sites.contains(where: { $0.step == send && $0.allows(count, of: Self.reliable) })
            else { continue }
            // One failure fewer in ten runs is accepted: it may be due to chance, and the longer pause is more
            // reliable.
            _ = await accept(Self.reliable, send, &result, atLeast: max(1, result.rate.failed - 1))
        }
        return result
    }

    /// Increases the pauses if the candidate fails more often with longer pauses.
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

    /// Removes or halves the pauses repeatedly, as long as the candidate still fails as often. A pause of less than 5 ms is
    /// not tried, because a busy machine would merge the pieces.
    func shortestPauses(_ start: ShrinkResult) async -> ShrinkResult {
        var result = start
        for send in result.candidate.variation.cutSends {
            guard let pause = result.candidate.variation.pauses[send] else { continue }
            if await accept(nil, send, &result, atLeast: result.rate.failed) { continue }
            var shorter = pause.half
            while shorter >= Self.shortest, await accept(shorter, send, &result, atLeast: result.rate.failed) {
                shorter = shorter.half
            }
        }
        return result
    }

    private func accept(
        _ pause: Duration?, _ send: Int, _ result: inout ShrinkResult, atLeast count: Int
    ) async -> Bool {
        var candidate = result.candidate
        candidate.variation.pauses[send] = pause
        if result.rate.failed == result.rate.runs {
            // A few runs show whether a failure that occurs in every run still does. The rate is measured at the end.
            let trials = await runner.settled(Array(repeating: candidate, count: Self.quickRuns))
            guard trials.allSatisfy({ $0.fails(like: failure) }) else { return false }
            result.candidate = candidate
            result.rate = FailureRate(failed: trials.count, runs: trials.count)
            return true
        }
        let rate = await rate(of: candidate, atLeast: count)
        guard rate.runs == FailureRate.measured, rate.failed >= count, rate.failed > 0 else { return false }
        result.candidate = candidate
        result.rate = rate
        return true
    }
}

extension Duration {
    /// Half of the duration, in whole milliseconds; zero for a duration of one millisecond.
    fileprivate var half: Duration { .milliseconds(Int(self / .milliseconds(1)) / 2) }
}
