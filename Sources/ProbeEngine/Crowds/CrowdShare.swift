import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The part of each crowd of clients that this run has, where several runs share its members.
///
/// Member `n` of the whole crowd belongs to share `n % total + 1`, so that the parts differ by one member at most, and members that start
/// at a rate start in turn. Numbers that steps say are of the whole crowd. They are divided in the same way: if a step holds in every
/// share, it holds for the whole.
package struct CrowdShare: Sendable, Equatable {
    package let share: Share

    package init(_ share: Share) { self.share = share }

    /// How many of so many members are in this share.
    package func part(of number: Int) -> Int {
        if number <= 0 { return number }
        return number / share.total + (number % share.total >= share.index ? 1 : 0)
    }

    /// What has to hold in this share; nil: the comparison can't be divided.
    func part(of comparison: Comparison, _ number: Int) -> (comparison: Comparison, number: Int)? {
        switch comparison {
        case .equal, .lessOrEqual, .greaterOrEqual: return (comparison, part(of: number))
        case .less:
            // Fewer than 3 are at most 2, and these are divided. Fewer than none is never met.
            if number <= 0 { return (comparison, number) }
            return (Comparison.lessOrEqual, part(of: number - 1))
        case .greater:
            if number == .max { return (comparison, number) }
            return (Comparison.greaterOrEqual, part(of: number + 1))
        case .notEqual:
            if number != 0 { return nil }
            return (Comparison.greaterOrEqual, part(of: 1))
        }
    }

    /// How many members of this share start in a second, where of the whole crowd it is so many.
    func part(ofRate rate: Int) -> Double { Double(rate) / Double(share.total) }

    /// How long after the whole crowd the first member of this share starts.
    func delay(atRate rate: Int) -> Duration { .seconds(Double(share.index - 1) / Double(max(1, rate))) }

    /// Why these cases can't be run in shares, as a sentence: a crowd of one of them has fewer members than there are shares. Nil: they can.
    package func problem(in jobs: [RunJob]) -> String? {
        for job in jobs {
            let scenario = job.plan.scenario
            for actor in scenario.actors {
                guard case .crowd(let crowd) = actor.kind, case .clients = crowd.role else { continue }
                let evaluator = Evaluator(
                    scope: BoundNames(values: job.casePlan.bindings), sources: job.plan.sources,
                    framing: scenario.framing)
                // A number that is not known before the case begins is looked at then.
                guard let count = try? evaluator.integer(of: crowd.count), count > 0 else { continue }
                if count < share.total {
                    let members = count == 1 ? "1 member" : "\(count) members"
                    return
                        "the crowd \(actor.name.value) of \(job.id) has \(members), too few for \(share.total) shares"
                }
            }
        }
        return nil
    }
}

/// The names of a case before it begins.
private struct BoundNames: EvaluationScope {
    var values: [String: Value]

    func value(of name: String) -> Value? { values[name] }
    func property(_ property: String, of actor: String) -> [UInt8]? { nil }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try FileAccess.load(file) }
}
