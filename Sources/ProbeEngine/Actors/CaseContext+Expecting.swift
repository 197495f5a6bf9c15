import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The loop over the evaluation of an expectation.
extension CaseContext {
    /// What a wait for an expectation comes to.
    enum Conclusion<Match> {
        case satisfied(Match, at: MonotonicTime?)
        case impossible(Impossibility)
    }

    /// Looks until an expectation is met or can't be met any more, each time that something has changed.
    ///
    /// - Parameters:
    ///   - name: the actor; it waits from the first look on that finds nothing, and the caller ends that.
    ///   - start: when the step before ended.
    /// - Throws: the fault that ends the case, or what keeps the harness from looking.
    func conclude<Expectation: PendingExpectation>(
        _ expectation: inout Expectation, of name: String, from start: MonotonicTime, until deadline: MonotonicTime
    ) async throws(Finding) -> Conclusion<Expectation.Match> {
        var isAnnounced = false
        while true {
            try checkFault()
            let window = window(from: start, until: deadline, measuresProgress: expectation.measuresProgress)
            switch try expectation.evaluate(window) {
            case .satisfied(let match, let moment): return .satisfied(match, at: moment)
            case .impossible(var why):
                // What the evaluation itself takes is no cause of its result.
                why.finding.decided = window.now
                return .impossible(why)
            case .pending(let next):
                if !isAnnounced { actors.waits[name] = expectation.description }
                isAnnounced = true
                await pause(until: next)
            }
        }
    }

    /// Listens on a little after a deadline: late is another thing than never.
    ///
    /// - Returns: a hint that says by how much it came too late; nil where it has not come.
    func hintOfLateness<Expectation: PendingExpectation>(
        _ expectation: inout Expectation, of name: String, after deadline: MonotonicTime
    ) async throws(Finding) -> String? {
        let now = MonotonicTime.now
        let end = max(deadline, now) + CaseTime.lateness
        guard
            case .satisfied(_, let moment?) = try await conclude(&expectation, of: name, from: now, until: end)
        else { return nil }
        return "it came \(DurationText.script(moment - deadline)) after the deadline"
    }

    /// What a line or a message has to be.
    func text(of pattern: Pattern) throws(Finding) -> ExpectedText {
        switch pattern {
        case .any: return .any
        case .regex(let literal): return .regex(try regex(literal))
        case .value(let expression):
            let value = try value(of: expression)
            if case .regex(let regex) = value { return .regex(regex) }
            return .value(try bytes(of: expression))
        }
    }

    /// Computes the values of an expectation of what a program uses.
    func resolve(_ expectation: ResourceExpectation) throws(Finding) -> ResolvedResourceExpectation {
        let wanted: ResolvedResourceExpectation.Wanted =
            switch expectation.wanted {
            case .amount(let comparison, let expression): .amount(comparison, try integer(of: expression))
            case .time(let comparison, let time): .time(comparison, time)
            case .any(let name): .any(name: name.value)
            }
        return ResolvedResourceExpectation(resource: expectation.resource, wanted: wanted)
    }

    /// The present moment of a step.
    func window(
        from start: MonotonicTime, until deadline: MonotonicTime, measuresProgress: Bool = false
    ) -> TimeWindow {
        let now = MonotonicTime.now
        let needsStandstills = now >= deadline || measuresProgress
        return TimeWindow(
            start: start, deadline: deadline, now: now,
            standstills: needsStandstills ? reactor.currentStandstills() : Standstills())
    }
}
