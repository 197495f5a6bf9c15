import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario

/// The result of running a case.
public struct ScenarioOutcome: Sendable, CustomStringConvertible {
    /// The verdict on a case, in the same words as in reports.
    public enum Verdict: String, Sendable, CaseIterable {
        case passed
        /// An expectation was not met.
        case failed
        /// The script could not be run as written, or the machine prevented it.
        case error
        /// A fault or an assertion could not be confirmed on the wire.
        case inconclusive
        /// The transport declares that it lacks a capability.
        case unsupported
        /// A `require` of the scenario is not met on this machine.
        case skipped
    }

    /// The verdict. If several verdicts apply, the first one in this order is used: `failed`, `error`, `inconclusive`.
    public let verdict: Verdict
    /// The scenario's level.
    public let level: ScenarioLevel
    /// The text that `tcpprobe run` would print: one line, followed by the details of the failure if the case did not
    /// pass. Bytes from the wire are escaped.
    public let description: String
    /// The path of the case's capture; `nil` if no capture was written.
    public let capture: String?

    /// Whether this result leaves the exit code of a run at 0: the case passed, was not judged (`unsupported`,
    /// `skipped`), or failed at a level that does not fail the run (`should`, `may`).
    public var isAcceptable: Bool { isAcceptable(strict: false) }

    /// Returns whether this result leaves the exit code of a run at 0, optionally under the rules of `--strict`: a
    /// failure at level `should` then fails the run.
    public func isAcceptable(strict: Bool) -> Bool {
        let rules = RunRules(strict: strict)
        return !rules.failsRun(rules.disposition(of: counted.verdict, level: counted.level, expectation: nil))
    }

    /// The verdict and the level as values of the engine's types.
    private let counted: (verdict: ProbeEvents.Verdict, level: Scenario.Level)

    init(_ scenario: ScenarioCase, _ result: CaseResult) {
        verdict =
            switch result.verdict {
            case .passed: .passed
            case .failed: .failed
            case .error: .error
            case .inconclusive: .inconclusive
            case .unsupported: .unsupported
            case .skipped: .skipped
            }
        level = scenario.level
        counted = (result.verdict, result.level)
        capture = result.capturePath
        let text = CaseText(options: ReportOptions())
        description = text.line(result) + text.failureDetail(result)
    }

    /// Creates the outcome of a case that could not begin.
    init(_ scenario: ScenarioCase, error: String) {
        verdict = .error
        level = scenario.level
        counted = (.error, scenario.job.plan.scenario.level)
        capture = nil
        description = "ERROR        \(scenario.id)\n  \(Escaped.text(error.utf8))\n"
    }
}
