import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// An `expect` of the resources that a program uses, with its values computed.
struct ResolvedResourceExpectation {
    enum Wanted {
        case amount(Comparison, Int)
        case time(Comparison, Duration)
        case any(name: String)
    }

    var resource: ResourceExpectation.Resource
    var wanted: Wanted

    /// What the step waits for, as a noun phrase.
    var description: String {
        switch wanted {
        case .amount(let comparison, let limit): "its \(resource.rawValue) \(comparison.rawValue) \(limit)"
        case .time(let comparison, let limit):
            "its \(resource.rawValue) \(comparison.rawValue) \(DurationText.script(limit))"
        case .any: "its \(resource.rawValue)"
        }
    }

    /// The name of the event when its time is judged.
    var eventName: String { "a value that satisfies \(description)" }

    /// Whether a single look decides.
    var isMomentary: Bool { if case .amount = wanted { false } else { true } }

    func isMet(by measure: ResourceMeasure) -> Bool {
        switch wanted {
        case .amount(let comparison, let limit): comparison.holds(measure.amount, limit)
        case .time(let comparison, let limit): comparison.holds(measure.amount, Int(clamping: limit.nanoseconds))
        case .any: true
        }
    }
}

/// Compares the resources that a program uses with what is expected. Pure: it only looks and consumes nothing.
struct ResourceEvaluation {
    /// The name of the program in findings.
    var name: String
    var measure: ResourceMeasure
    var window: TimeWindow

    /// Evaluates the expectation.
    ///
    /// - Returns: the variables that it binds.
    func evaluate(
        _ expectation: ResolvedResourceExpectation, _ polling: inout PollingProgress
    ) -> Outcome<[(String, Value)]> {
        if case .any(let name) = expectation.wanted {
            // Processor time in microseconds.
            let number = expectation.resource == .cpu ? measure.amount / 1000 : measure.amount
            return .satisfied([(name, .integer(number))], at: nil)
        }
        if expectation.isMet(by: measure) {
            return .satisfied([], at: expectation.isMomentary ? nil : measure.at)
        }
        let text = difference(expectation)
        if expectation.isMomentary { return .mismatch(Finding(.failed, "\(name) \(text)"), text) }
        if polling.isOver(window) {
            return .impossible(Finding(.failed, "\(name) \(text) within \(window.allowed)"), .missed)
        }
        return .pending(until: polling.planNext(window.now, deadline: window.deadline, earliest: nil))
    }

    private func difference(_ expectation: ResolvedResourceExpectation) -> String {
        let amount = measure.amount
        let what =
            switch expectation.resource {
            case .descriptors: "has \(amount) descriptor\(amount == 1 ? "" : "s") open"
            case .threads: "has \(amount) thread\(amount == 1 ? "" : "s")"
            case .memory: "uses \(ByteText.count(amount, "byte")) of memory"
            case .cpu:
                "has used \(milliseconds(.nanoseconds(Int64(amount)))) of processor time within \(milliseconds(measure.over))"
            }
        switch expectation.wanted {
        case .amount(let comparison, let limit): return "\(what), expected \(comparison.phrase(limit))"
        case .time(let comparison, let limit):
            return "\(what), expected \(comparison.phrase(DurationText.script(limit)))"
        case .any: return what
        }
    }

    /// Formats a duration rounded to milliseconds, because nanoseconds are of no use in a finding.
    private func milliseconds(_ duration: Duration) -> String {
        DurationText.script(.nanoseconds((duration.nanoseconds + 500_000) / 1_000_000 * 1_000_000))
    }
}
