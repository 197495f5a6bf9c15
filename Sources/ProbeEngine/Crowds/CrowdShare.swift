import ProbeBase
package import ProbeEvents
import ProbeScenario

/// This run's share of each crowd of clients, if several runs share the members of the crowds.
///
/// Member `n` of the whole crowd belongs to share `n % total + 1`. The sizes of the shares therefore differ by at most
/// one member, and if members start at a given rate, the shares take turns. Numbers in steps apply to the whole crowd
/// and are divided in the same way: if an expectation is met in every share, it is met for the whole crowd.
package struct CrowdShare: Sendable, Equatable {
    package let share: Share

    package init(_ share: Share) { self.share = share }

    /// Returns how many of `number` members are in this share.
    package func part(of number: Int) -> Int {
        if number <= 0 { return number }
        return number / share.total + (number % share.total >= share.index ? 1 : 0)
    }

    /// Returns the comparison that must be true in this share; `nil` if the comparison can't be divided.
    func part(of comparison: Comparison, _ number: Int) -> (comparison: Comparison, number: Int)? {
        switch comparison {
        case .equal, .lessOrEqual, .greaterOrEqual: return (comparison, part(of: number))
        case .less:
            // For example, `< 3` is equivalent to `<= 2`, which can be divided into shares. `< 0` is never satisfied.
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

    /// Returns the number of members of this share that start per second, given the rate of the whole crowd.
    func part(ofRate rate: Int) -> Double { Double(rate) / Double(share.total) }

    /// Returns the delay of this share's first member after the start of the whole crowd.
    func delay(atRate rate: Int) -> Duration { .seconds(Double(share.index - 1) / Double(max(1, rate))) }

    /// Returns a sentence that states why the given cases can't be run in shares because a crowd has fewer members than
    /// there are shares; `nil` if they can.
    package func problem(in jobs: [RunJob]) -> String? {
        for job in jobs {
            let scenario = job.plan.scenario
            for actor in scenario.actors {
                guard case .crowd(let crowd) = actor.kind, case .clients = crowd.role else { continue }
                let evaluator = Evaluator(
                    scope: BoundNames(values: job.casePlan.bindings), sources: job.plan.sources,
                    framing: scenario.framing)
                // If the number of members is unknown before the case begins, the number is checked when the crowd is
                // created.
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

/// The names that are bound before a case begins.
private struct BoundNames: EvaluationScope {
    var values: [String: Value]

    func value(of name: String) -> Value? { values[name] }
    func property(_ property: String, of actor: String) -> [UInt8]? { nil }
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try FileAccess.load(file) }
}
