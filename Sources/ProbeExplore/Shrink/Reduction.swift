import ProbeBase
import ProbeScenario
import ProbeSystem

/// Removes the parts of a scenario that a failure does not depend on: connections, steps, and parts of the data that is
/// sent.
///
/// What a program receives before the failing step may be the reason why the expected answer is correct. For example,
/// `=2` can be expected only after `SET a 2`. Without that line, a program that ignores the second SET still fails, but
/// so does a correct program. A smaller scenario is therefore accepted only with evidence that a correct program passes
/// it: the scenario passes without its variation, or the known-good program passes it. If neither is available, only
/// two kinds of steps are removed: steps after the failing step, and steps that no program can observe.
struct Reduction {
    let shrinker: Shrinker
    let scenario: Scenario

    /// Returns whether there can be no evidence that a correct program passes a smaller scenario.
    func mustKeepPremises(_ candidate: Candidate) -> Bool { candidate.variation.isEmpty && shrinker.good == nil }

    func reduced(_ start: Candidate, rate: FailureRate) async -> Candidate {
        var current = start
        let removable = scenario.actors.map(\.name.value).filter { !scenario.actorsOfNetworks.contains($0) }
        if start.variation.isEmpty, let candidate = endedAtFailure(current) {
            await accept([candidate], &current, rate)
        }
        if mustKeepPremises(start) {
            await removeUnnoticed(&current, rate)
            for actor in removable where !isUsed(actor, in: current) {
                await accept([without(actor, current)], &current, rate)
            }
            return current
        }
        for actor in removable { await accept([without(actor, current)], &current, rate) }
        await removePassive(&current, rate)
        await removeSteps(&current, rate)
        await removeUnits(&current, rate)
        for actor in removable {
            var candidate = current
            candidate.removedActors.insert(actor)
            await accept([candidate], &current, rate)
        }
        return current
    }

    // MARK: Acceptance of candidates

    /// Replaces the current candidate with the first of the given candidates that fails in the same way and passes
    /// without its variation.
    ///
    /// - Returns: whether the current candidate was replaced.
    @discardableResult
    private func accept(_ candidates: [Candidate], _ current: inout Candidate, _ rate: FailureRate) async -> Bool {
        let varied = !current.variation.isEmpty
        let needed = needed(by: current.variation)
        let allowed = candidates.filter {
            $0 != current && $0.removedSteps.isDisjoint(with: needed) && shrinker.runner.isAllowed($0)
        }
        for candidate in allowed {
            if MonotonicTime.now >= shrinker.deadline { return false }
            let plain = varied ? [candidate.plain] : []
            // The candidate is run once, and then twice more if it is not rejected, because most candidates are
            // rejected after a single run.
            guard await accepts(plain, [candidate], rate), await accepts(plain, [candidate, candidate], rate) else {
                continue
            }
            current = candidate
            return true
        }
        return false
    }

    private func accepts(_ plain: [Candidate], _ varied: [Candidate], _ rate: FailureRate) async -> Bool {
        let trials = await shrinker.runner.settled(plain + varied)
        guard trials.prefix(plain.count).allSatisfy(\.hasPassed) else { return false }
        let failed = trials.dropFirst(plain.count).count { $0.fails(like: shrinker.failure) }
        guard failed == varied.count || (failed > 0 && rate.failed < rate.runs) else { return false }
        guard let good = shrinker.good else { return true }
        return await good.settled(varied).allSatisfy(\.hasPassed)
    }

    // MARK: Reduction without evidence

    /// Returns the candidate without the steps after the failing step. Data that a correct program would still send in
    /// these steps is ignored. Returns `nil` if there are no such steps, or if something that is judged at the end of
    /// the case may depend on such a step.
    private func endedAtFailure(_ current: Candidate) -> Candidate? {
        guard scenario.links.isEmpty, scenario.names.isEmpty, !hasConditions,
            let span = shrinker.failure.signature.span,
            let index = scenario.steps.firstIndex(where: { Self.holds($0, span) })
        else { return nil }
        switch scenario.steps[index].kind {
        case .act, .check, .loop, .sequence, .together, .either, .retry: break
        case .wait, .note, .assign, .invoke, .finally, .whenever, .wire, .link, .name: return nil
        }
        var candidate = current
        var ignored: Set<String> = []
        for step in scenario.steps[(index + 1)...] {
            switch step.kind {
            case .act(let name, .connection(.expect), _) where ignored.insert(name.value).inserted:
                candidate.ignoredRests.insert(step.id)
            case .act(_, .connection(.expect), _), .act(_, .connection(.send), _), .act(_, .connection(.close), _),
                .act(_, .connection(.halfClose), _), .act(_, .connection(.reset), _), .act(_, .client, _),
                .act(_, .process, _), .wait, .note, .assign, .check, .wire:
                candidate.removedSteps.insert(step.id)
            case .act(_, .connection(let action), _) where action.ignoresRest: break
            case .finally: break
            case .act, .loop, .invoke, .sequence, .together, .either, .retry, .whenever, .link, .name: return nil
            }
        }
        return candidate
    }

    /// Whether the scenario contains something that takes effect during later steps: a proxy or a `whenever` block.
    private var hasConditions: Bool {
        let hasProxy = scenario.actors.contains { if case .proxy = $0.kind { true } else { false } }
        return hasProxy || scenario.allSteps.contains { if case .whenever = $0.kind { true } else { false } }
    }

    private static func holds(_ step: Step, _ span: SourceSpan) -> Bool {
        let end = step.kind.bodies.map(\.span.end).max() ?? step.span.end
        return step.span.file == span.file && step.span.start <= span.start && span.end <= max(step.span.end, end)
    }

    /// Removes the steps that no program can observe, except for the failing step.
    private func removeUnnoticed(_ current: inout Candidate, _ rate: FailureRate) async {
        var candidate = current
        for step in scenario.allSteps {
            switch step.kind {
            case .note, .wire:
                if shrinker.failure.signature.span.map({ Self.holds(step, $0) }) != true {
                    candidate.removedSteps.insert(step.id)
                }
            case .wait, .assign, .check, .loop, .invoke, .sequence, .together, .either, .retry, .finally, .whenever,
                .act,
                .link, .name:
                break
            }
        }
        await accept([candidate], &current, rate)
    }

    /// Returns whether the candidate still contains a step of the actor.
    private func isUsed(_ actor: String, in candidate: Candidate) -> Bool {
        scenario.allSteps.contains { step in
            guard case .act(let name, _, _) = step.kind, name.value == actor else { return false }
            return !candidate.removedSteps.contains(step.id)
        }
    }

    // MARK: Steps

    /// Returns the candidate without an actor and without the steps of this actor.
    private func without(_ actor: String, _ current: Candidate) -> Candidate {
        var candidate = current
        candidate.removedActors.insert(actor)
        for step in scenario.allSteps {
            if case .act(let name, _, _) = step.kind, name.value == actor { candidate.removedSteps.insert(step.id) }
        }
        return candidate
    }

    /// Removes all steps that only wait, write a note or observe, in a single attempt.
    private func removePassive(_ current: inout Candidate, _ rate: FailureRate) async {
        var candidate = current
        for step in scenario.allSteps {
            switch step.kind {
            case .wait, .note, .wire, .link, .name: candidate.removedSteps.insert(step.id)
            case .assign, .check, .loop, .invoke, .sequence, .together, .either, .retry, .finally, .whenever, .act:
                break
            }
        }
        await accept([candidate], &current, rate)
    }

    private func removeSteps(_ current: inout Candidate, _ rate: FailureRate) async {
        let kept = needed(by: current.variation)
        let essential = essentialSteps(current)
        var steps = scenario.allSteps.map(\.id).filter {
            !current.removedSteps.contains($0) && !kept.contains($0) && !essential.contains($0)
        }
        // Most of what a scenario does after the failing step and before the varied send is not needed.
        let failing = shrinker.failure.signature.span.flatMap { span in
            scenario.allSteps.last { Self.holds($0, span) }?.id
        }
        for range in [steps.filter { $0 > failing ?? Int.max }, steps.filter { $0 < kept.min() ?? 0 }]
        where range.count > 1 {
            var candidate = current
            candidate.removedSteps.formUnion(range)
            if await accept([candidate], &current, rate) { steps.removeAll { current.removedSteps.contains($0) } }
        }
        var size = max(1, steps.count / 2)
        while !steps.isEmpty {
            var start = steps.count
            while start > 0 {
                start = max(0, start - size)
                var candidate = current
                candidate.removedSteps.formUnion(steps[start..<min(start + size, steps.count)])
                if await accept([candidate], &current, rate) {
                    steps.removeAll { current.removedSteps.contains($0) }
                    start = min(start, steps.count)
                }
            }
            if size == 1 { break }
            size = max(1, size / 2)
        }
    }

    /// Returns the steps without which the actors that are still used can't act: a program must be started, and a
    /// connection must be set up.
    private func essentialSteps(_ current: Candidate) -> Set<Int> {
        var essential: Set<Int> = []
        for step in scenario.steps where !current.removedSteps.contains(step.id) {
            guard case .act(let name, let action, _) = step.kind, !current.removedActors.contains(name.value) else {
                continue
            }
            switch action {
            case .process(.start), .process(.expect(.listening)): essential.insert(step.id)
            case .client(.connect), .server(.accept):
                let isUsed = scenario.allSteps.contains { other in
                    guard other.id != step.id, !current.removedSteps.contains(other.id) else { return false }
                    if case .act(let used, .connection, _) = other.kind { return used.value == name.value }
                    return false
                }
                if isUsed { essential.insert(step.id) }
            default: break
            }
        }
        return essential
    }

    /// Returns the numbers of the steps that a variation refers to.
    private func needed(by variation: Variation) -> Set<Int> {
        var steps: Set<Int> = []
        for change in variation.changes {
            switch change {
            case .cut(let send, _), .records(let send, _), .earlyEnd(let send): steps.insert(send)
            case .join(let first, let second): steps.formUnion([first, second])
            case .fin(let send, let end): steps.formUnion([send, end])
            case .slowReading(_, let step, _): steps.insert(step)
            case .option: break
            }
        }
        return steps
    }

    // MARK: Data that is sent

    /// Removes lines or messages from the data that is sent. If necessary, a later expectation is removed together with
    /// the line or message.
    private func removeUnits(_ current: inout Candidate, _ rate: FailureRate) async {
        let joined = Set(current.variation.joined.flatMap(\.self))
        for site in shrinker.sites where site.isConstant && site.destination == nil && !joined.contains(site.step) {
            if current.removedSteps.contains(site.step) { continue }
            // The offsets of the cuts are counted in TLS records and do not correspond to offsets in the plaintext.
            if site.isSealed, !current.variation.offsets(of: site.step).isEmpty { continue }
            var index = 0
            while true {
                let units = Self.units(of: current.payloads[site.step] ?? site.bytes, site.framing)
                guard units.count > 1, index < units.count else { break }
                let candidates = Self.without(index, of: units, site.step, current).map { base in
                    [base]
                        + expectations(after: site.step).map { id in
                            var candidate = base
                            candidate.removedSteps.insert(id)
                            return candidate
                        }
                }
                if await !accept(candidates ?? [], &current, rate) { index += 1 }
            }
        }
    }

    /// Returns the first few expectations after a send, in the order of the script.
    private func expectations(after send: Int) -> [Int] {
        scenario.allSteps.drop { $0.id != send }.dropFirst().filter { step in
            if case .act(_, .connection(.expect), _) = step.kind { true } else { false }
        }.prefix(4).map(\.id)
    }

    static func units(of bytes: [UInt8], _ framing: Framing) -> [[UInt8]] {
        guard let terminator = framing.terminator, !terminator.isEmpty else { return [bytes] }
        var units: [[UInt8]] = []
        var unit: [UInt8] = []
        for byte in bytes {
            unit.append(byte)
            if unit.suffix(terminator.count).elementsEqual(terminator) {
                units.append(unit)
                unit = []
            }
        }
        if !unit.isEmpty { units.append(unit) }
        return units
    }

    /// Returns the candidate without one unit, with the cuts between the same bytes as before; `nil` if a cut is inside
    /// the unit.
    static func without(_ index: Int, of units: [[UInt8]], _ send: Int, _ current: Candidate) -> Candidate? {
        let start = units[..<index].reduce(0) { $0 + $1.count }
        let end = start + units[index].count
        var changes: [Change] = []
        for change in current.variation.changes {
            guard case .cut(send, let offset) = change else {
                changes.append(change)
                continue
            }
            if offset > start && offset < end { return nil }
            let moved = offset >= end ? offset - units[index].count : offset
            if moved == 0 || moved == units.joined().count - units[index].count { return nil }
            changes.append(.cut(send: send, at: moved))
        }
        var candidate = current
        candidate.variation = current.variation.with(changes)
        candidate.payloads[send] = Array((units[..<index] + units[(index + 1)...]).joined())
        return candidate
    }
}
