import ProbeScenario

extension CaseResult {
    /// Whether the case failed where its level says that a failure does not fail the run: `may`, and `should` without
    /// `--strict`. An error or a fault that was never seen is no failure and counts at every level.
    package func isAdvisoryFailure(strict: Bool) -> Bool {
        guard verdict == .failed else { return false }
        return switch level {
        case .must: false
        case .should: !strict
        case .may: true
        }
    }
}
