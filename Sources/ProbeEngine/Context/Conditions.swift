import ProbeEvents
import ProbeScenario

/// A fault, state, name or answer that a step or the header sets up, and whose effect the case is meant to test. If the
/// effect has not occurred by the end of the case, the case has not tested what its script claims to test.
struct Condition {
    /// The message about a condition that has not taken effect.
    struct Shortfall {
        var summary: String
        var hints: [String]

        init(_ summary: String, hints: [String] = []) { (self.summary, self.hints) = (summary, hints) }

        /// Creates the message for a statement that never took effect.
        ///
        /// - Parameters:
        ///   - text: the statement as written in the script.
        ///   - reason: what happened instead.
        static func never(_ text: String, _ reason: String, hints: [String] = []) -> Shortfall {
            Shortfall("`\(text)` had no effect: \(reason)", hints: hints)
        }
    }

    /// The key that identifies a statement's condition when the statement is executed repeatedly in a loop; `nil` if
    /// each execution sets up a separate condition.
    var key: String?
    var span: SourceSpan
    /// The attempt of a `retry` that set up the condition. Conditions of failed attempts are dropped.
    var attempt: RetryAttempt?
    /// Returns the message about the missing effect; `nil` if the condition has taken effect. Called at the end of the
    /// case.
    var shortfall: () -> Shortfall?
}

/// The conditions of a case, in the order in which they were set up. They are judged once, at the end of the case.
struct Conditions {
    private var all: [Condition] = []
    private var last = 0

    /// Returns a number that is unique among the conditions of the case.
    mutating func number() -> Int {
        last += 1
        return last
    }

    /// Adds a condition.
    ///
    /// - Parameter isOptional: whether `if needed` follows the statement, which allows the statement to have no effect.
    mutating func add(
        at span: SourceSpan, isOptional: Bool, key: String? = nil, _ shortfall: @escaping () -> Condition.Shortfall?
    ) {
        if isOptional { return }
        if let key, all.contains(where: { $0.key == key && $0.span == span }) { return }
        all.append(Condition(key: key, span: span, attempt: StepContext.attempt, shortfall: shortfall))
    }

    /// Drops the conditions that a failed attempt of a `retry` has set up.
    mutating func drop(of attempt: RetryAttempt) { all.removeAll { $0.attempt?.isPart(of: attempt) ?? false } }

    /// Returns an inconclusive finding for each condition that has not taken effect. Equal findings from several rounds
    /// of a loop are reported once.
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
