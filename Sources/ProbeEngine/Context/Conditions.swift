import ProbeEvents
import ProbeScenario

/// Something that a step or the header sets up and that the case is about: a fault, a state, a name, an answer. If it has not taken effect by
/// the end, the case does not show what it says.
struct Condition {
    /// What is reported if it has not taken effect.
    struct Shortfall {
        var summary: String
        var hints: [String]

        init(_ summary: String, hints: [String] = []) { (self.summary, self.hints) = (summary, hints) }

        /// - Parameters:
        ///   - text: the statement as it is written.
        ///   - reason: what happened instead.
        static func never(_ text: String, _ reason: String, hints: [String] = []) -> Shortfall {
            Shortfall("`\(text)` was never met: \(reason)", hints: hints)
        }
    }

    /// Tells apart what one statement sets up when it runs again in a loop; nil if each run counts by itself.
    var key: String?
    var span: SourceSpan
    /// The attempt of a `retry` that set it up. One that failed is not what the case is about.
    var attempt: RetryAttempt?
    /// `nil` once it has taken effect. Asked at the end of the case.
    var shortfall: () -> Shortfall?
}

/// The conditions of a case, in the order in which they were set up. They are judged once, at its end.
struct Conditions {
    private var all: [Condition] = []
    private var last = 0

    /// A number that no other condition of the case has.
    mutating func number() -> Int {
        last += 1
        return last
    }

    /// - Parameter isOptional: `if needed` follows the statement: it may be left without effect.
    mutating func add(
        at span: SourceSpan, isOptional: Bool, key: String? = nil, _ shortfall: @escaping () -> Condition.Shortfall?
    ) {
        if isOptional { return }
        if let key, all.contains(where: { $0.key == key && $0.span == span }) { return }
        all.append(Condition(key: key, span: span, attempt: StepContext.attempt, shortfall: shortfall))
    }

    /// What a failed attempt of a `retry` has set up is not judged.
    mutating func drop(of attempt: RetryAttempt) { all.removeAll { $0.attempt?.isPart(of: attempt) ?? false } }

    /// The case is inconclusive for each one that has not taken effect. The rounds of a loop say the same once.
    func findings() -> [Finding] {
        var findings: [Finding] = []
        for condition in all {
            guard let shortfall = condition.shortfall() else { continue }
            let finding = Finding(.inconclusive, at: condition.span, shortfall.summary, hints: shortfall.hints)
            if !findings.contains(where: { $0.span == finding.span && $0.summary == finding.summary }) {
                findings.append(finding)
            }
        }
        return findings
    }
}
