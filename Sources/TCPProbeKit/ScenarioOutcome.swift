import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario

/// What a case came to.
public struct ScenarioOutcome: Sendable, CustomStringConvertible {
    /// The words of every report.
    public enum Verdict: String, Sendable, CaseIterable {
        case passed
        /// An expectation was not met.
        case failed
        /// The script or its surroundings stood in the way.
        case error
        /// A fault or an assertion could not be seen on the wire.
        case inconclusive
        /// The transport says that it can't.
        case unsupported
        /// A `require` of the scenario is not met here.
        case skipped
    }

    /// What it came to, by the first of what applies: failed, error, inconclusive.
    public let verdict: Verdict
    /// Of the scenario.
    public let level: ScenarioLevel
    /// What `tcpprobe run` would say on a console: a line, and the whole story where it did not pass. Bytes from the wire are
    /// escaped.
    public let description: String
    /// Where its capture was written; nil when it was not.
    public let capture: String?

    /// Whether a run would go on to exit with 0: it passed, could not be judged for a reason that is nobody's fault
    /// (`unsupported`, `skipped`), or failed where its level says that this is no error of the transport (`should`, `may`).
    public var isAcceptable: Bool { isAcceptable(strict: false) }

    /// The same with `--strict`: a failure of level `should` counts.
    public func isAcceptable(strict: Bool) -> Bool {
        let rules = RunRules(strict: strict)
        return !rules.failsRun(rules.disposition(of: counted.verdict, level: counted.level, expectation: nil))
    }

    /// The same as a run counts it.
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
        description = text.line(result) + text.story(result)
    }

    /// The case could not even begin.
    init(_ scenario: ScenarioCase, error: String) {
        verdict = .error
        level = scenario.level
        counted = (.error, scenario.job.plan.scenario.level)
        capture = nil
        description = "ERROR        \(scenario.id)\n  \(Escaped.text(error.utf8))\n"
    }
}
