import ProbeBase
package import ProbeEngine
package import ProbeScenario

/// The deadlines of steps while variations are tried. They are derived from how long each step takes without
/// variations, so that a program that stops answering is noticed long before the script's own deadline.
///
/// A step that fails at such a deadline may merely be slow, so a failure counts only if it also occurs with deadlines
/// ten times as long, or with the script's own deadlines if the deadlines can't be longer.
package struct StepPatience: Sendable, Equatable {
    /// The time that each step takes, keyed by the number of the step: the median of the runs without variations.
    private var times: [Int: Duration] = [:]
    /// The deadline of every step; `nil` if it is derived from `times`.
    private let fixed: Duration?
    /// The number of times that a step may take as long as without variations.
    private var factor = 20
    /// The shortest deadline. On a busy machine, even a step that takes microseconds may have to wait for a processor.
    private static let shortest: Duration = .milliseconds(150)

    package init(_ observations: [StepObservation], fixed: Duration? = nil) {
        self.fixed = fixed
        var measured: [Int: [Duration]] = [:]
        for observation in observations {
            if case .ended(let duration) = observation.event {
                measured[observation.step, default: []].append(duration)
            }
        }
        times = measured.mapValues { $0.sorted()[$0.count / 2] }
    }

    /// The patience that distinguishes a program that is merely slow from one that does not answer; `nil` if the deadlines
    /// can't be longer.
    package var longer: StepPatience? {
        guard fixed == nil, factor < 2_000 else { return nil }
        var result = self
        result.factor *= 10
        return result
    }

    /// Returns the scenario with these deadlines. Deadlines of the script that are shorter are not changed.
    ///
    /// - Parameter pauses: the pauses that a variation adds to the scenario.
    package func applied(to scenario: Scenario, pauses: Duration) -> Scenario {
        scenario.rewritten { step in
            guard case .act(let actor, let action, var timing) = step.kind, StepBounds.waits(step),
                let patience = patience(for: step.id)
            else { return [step] }
            let deadline = patience + pauses + (timing.after ?? .zero)
            guard deadline < timing.within ?? scenario.timeout else { return [step] }
            var step = step
            timing.within = deadline
            step.kind = .act(actor: actor, action, timing)
            return [step]
        }
    }

    private func patience(for step: Int) -> Duration? {
        if let fixed { return fixed }
        return times[step].map { max($0 * factor, Self.shortest * max(1, factor / 20)) }
    }
}

extension Variation {
    /// The time by which the variation may delay the program: the sum of all pauses, and some time for small buffers;
    /// `nil` if an endpoint reads slowly, because the delay then depends on how much it reads.
    var delay: Duration? {
        var total = Duration.zero
        for change in changes {
            switch change {
            case .cut(let send, _): total += pauses[send] ?? .zero
            case .join, .fin, .records, .earlyEnd: break
            case .option: total += .milliseconds(500)
            case .slowReading: return nil
            }
        }
        return total
    }
}
