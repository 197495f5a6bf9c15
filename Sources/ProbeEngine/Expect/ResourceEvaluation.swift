import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// An expectation about the resources that a program uses, with its values computed.
struct ResolvedResourceExpectation {
    enum Wanted {
        case amount(Comparison, Int)
        case time(Comparison, Duration)
        case any(name: String)
    }

    var resource: ResourceExpectation.Resource
    var wanted: Wanted

    /// The expected event, as a noun phrase.
    var description: String {
        switch wanted {
        case .amount(let comparison, let limit): "its \(resource.rawValue) \(comparison.rawValue) \(limit)"
        case .time(let comparison, let limit):
            "its \(resource.rawValue) \(comparison.rawValue) \(DurationText.script(limit))"
        case .any: "its \(resource.rawValue)"
        }
    }

    /// The name by which a message about timing refers to the expected event.
    var eventName: String { "a value that satisfies \(description)" }

    /// Whether a single measurement is enough to evaluate the expectation.
    var isMomentary: Bool { if case .amount = wanted { false } else { true } }

    func isMet(by measure: ResourceMeasure) -> Bool {
        switch wanted {
        case .amount(let comparison, let limit): comparison.holds(measure.amount, limit)
        case .time(let comparison, let limit): comparison.holds(measure.amount, Int(clamping: limit.nanoseconds))
        case .any: true
        }
    }
}

/// Compares the resources that a program uses with an expectation. Has no side effects: it consumes nothing.
struct ResourceEvaluation {
    /// The name of the program, for findings.
    var name: String
    var measure: ResourceMeasure
    var window: TimeWindow

    /// Evaluates the expectation against the measured resources.
    ///
    /// - Returns: an outcome whose match holds the variables that the expectation binds.
    func evaluate(
        _ expectation: ResolvedResourceExpectation, _ polling: inout PollingProgress
    ) -> Outcome<[(String, Value)]> {
        if case .any(let name) = expectation.wanted {
            // Processor time is measured in nanoseconds, but the variable is bound to the time in microseconds.
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

    /// Formats a duration rounded to milliseconds. A finding doesn't need more precision.
    private func milliseconds(_ duration: Duration) -> String {
        DurationText.script(.nanoseconds((duration.nanoseconds + 500_000) / 1_000_000 * 1_000_000))
    }
}
