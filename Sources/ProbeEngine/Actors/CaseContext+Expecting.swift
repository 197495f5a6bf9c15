import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The loop that evaluates an expectation until the expectation has a result.
extension CaseContext {
    /// The result of waiting for an expectation.
    enum Conclusion<Match> {
        case satisfied(Match, at: MonotonicTime?)
        case impossible(Impossibility)
    }

    /// Evaluates an expectation each time something in the case changes, until the expectation is met or can no longer
    /// be met.
    ///
    /// - Parameters:
    ///   - name: the actor's name. The actor is recorded as waiting from the first evaluation without a result until
    ///     the caller removes the record.
    ///   - start: the time at which the previous step ended.
    /// - Throws: the fault that ends the case, or the error that prevents the evaluation.
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
                // The finding records the time at which the evaluation began, because the duration of the evaluation
                // must not affect the result.
                why.finding.decided = window.now
                return .impossible(why)
            case .pending(let next):
                if !isAnnounced { actors.waits[name] = expectation.description }
                isAnnounced = true
                await pause(until: next)
            }
        }
    }

    /// Keeps waiting briefly after a deadline, to distinguish a late event from one that never happens.
    ///
    /// - Returns: a hint that states how late the event was; `nil` if it hasn't happened.
    func latenessHint<Expectation: PendingExpectation>(
        _ expectation: inout Expectation, of name: String, after deadline: MonotonicTime
    ) async throws(Finding) -> String? {
        let now = MonotonicTime.now
        let end = max(deadline, now) + CaseTime.lateness
        guard
            case .satisfied(_, let moment?) = try await conclude(&expectation, of: name, from: now, until: end)
        else { return nil }
        return "it arrived \(DurationText.script(moment - deadline)) after the deadline"
    }

    /// Returns the text that a line or a message must match.
    func text(of pattern: Pattern) throws(Finding) -> ExpectedText {
        do throws(EvaluationError) { return try evaluator().text(of: pattern) } catch { throw Finding(error) }
    }

    /// Computes the values of the expressions in an expectation about a program's resource usage.
    func resolve(_ expectation: ResourceExpectation) throws(Finding) -> ResolvedResourceExpectation {
        let wanted: ResolvedResourceExpectation.Wanted =
            switch expectation.wanted {
            case .amount(let comparison, let expression): .amount(comparison, try integer(of: expression))
            case .time(let comparison, let time): .time(comparison, time)
            case .any(let name): .any(name: name.value)
            }
        return ResolvedResourceExpectation(resource: expectation.resource, wanted: wanted)
    }

    /// Returns the time window of a step, evaluated at the current time.
    func window(
        from start: MonotonicTime, until deadline: MonotonicTime, measuresProgress: Bool = false
    ) -> TimeWindow {
        let now = MonotonicTime.now
        let needsStandstills = now >= deadline || measuresProgress
        return TimeWindow(
            start: start, deadline: deadline, now: now,
            standstills: needsStandstills ? reactor.currentStandstills() : Standstills(),
            scaledTimeout: time.scaledTimeout)
    }
}
