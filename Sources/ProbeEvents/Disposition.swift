package import ProbeScenario

/// The effect of a result on the run. A verdict describes the case; a disposition states whether the result fails the
/// run.
package enum Disposition: Sendable, Hashable {
    /// The case was skipped or is unsupported, or it passed and no other verdict was expected. The case may also have
    /// passed although an occasional verdict, such as `failed?`, was expected.
    case fine
    /// The case passed although another verdict was expected, so the expectation should be removed from its file. Such
    /// a result fails a strict run.
    case unexpectedPass(ExpectedVerdict)
    /// The case did not pass, and its verdict is the expected one.
    case expected(ExpectedVerdict)
    /// The case failed at a level that does not fail the run: `may`, or `should` without `--strict`. The verdicts
    /// `error` and `inconclusive` are never advisory, because they are not failures of the subject.
    case advisory
    /// The case did not pass, and fails the run.
    case bad
}

/// The rules by which a run determines the dispositions of its results.
package struct RunRules: Sendable {
    /// Whether `--strict` was given. The run then also fails if a case fails at level `should`, or if a case passes
    /// although another verdict was expected.
    package var isStrict = false
    package var expectations = Expectations()
    /// Whether a run passes if none of its cases was judged.
    package var allowsEmpty = true

    package init() {}

    package init(strict: Bool, expectations: Expectations = Expectations()) {
        isStrict = strict
        self.expectations = expectations
    }

    package func disposition(of result: CaseResult) -> Disposition {
        disposition(of: result.verdict, level: result.level, expectation: expectations[result.key])
    }

    /// Returns the disposition of a result, given only its verdict, its level and the expectation.
    package func disposition(of verdict: Verdict, level: Scenario.Level, expectation: ExpectedVerdict?) -> Disposition {
        if verdict == .passed {
            guard let expectation, expectation.verdict != .passed, !expectation.isAtTimes else { return .fine }
            return .unexpectedPass(expectation)
        }
        if verdict >= .unsupported { return .fine }
        if let expectation, expectation.verdict == verdict { return .expected(expectation) }
        return verdict == .failed && (level == .may || (level == .should && !isStrict)) ? .advisory : .bad
    }

    /// Returns whether a result with the given disposition makes the exit code nonzero.
    package func failsRun(_ disposition: Disposition) -> Bool {
        switch disposition {
        case .bad: true
        case .unexpectedPass: isStrict
        case .fine, .expected, .advisory: false
        }
    }
}

extension CaseResult {
    package var key: CaseKey { CaseKey(id: id, subject: subject) }
}
