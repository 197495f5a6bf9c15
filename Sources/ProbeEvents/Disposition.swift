package import ProbeScenario

/// The meaning of a result for the run: the verdict is about the case, the disposition says whether it fails the run.
package enum Disposition: Sendable, Hashable {
    /// The case passed, was skipped or is unsupported, and no other verdict was expected, or only an occasional one.
    case fine
    /// The case passed although another verdict was expected; the line of the expectation must be removed. Fails a
    /// strict run.
    case unexpectedPass(ExpectedVerdict)
    /// The case did not pass, and its verdict is the expected one.
    case expected(ExpectedVerdict)
    /// The case failed at a level that does not fail the run: `may`, or `should` without `--strict`. `error` and
    /// `inconclusive` are not failures of the subject, and count at every level.
    case advisory
    /// The case did not pass, and fails the run.
    case bad
}

/// The rules by which a run weighs its results.
package struct RunRules: Sendable {
    /// Whether a failure of level `should` fails the run, as does a case that passed although another verdict was
    /// expected.
    package var isStrict = false
    package var expectations = Expectations()
    /// Whether a run in which nothing was judged passes.
    package var allowsEmpty = true

    package init() {}

    package init(strict: Bool, expectations: Expectations = Expectations()) {
        isStrict = strict
        self.expectations = expectations
    }

    package func disposition(of result: CaseResult) -> Disposition {
        disposition(of: result.verdict, level: result.level, expectation: expectations[result.key])
    }

    /// Does the same for a result of which only the verdict is known.
    package func disposition(of verdict: Verdict, level: Scenario.Level, expectation: ExpectedVerdict?) -> Disposition {
        if verdict == .passed {
            guard let expectation, expectation.verdict != .passed, !expectation.isAtTimes else { return .fine }
            return .unexpectedPass(expectation)
        }
        if verdict >= .unsupported { return .fine }
        if let expectation, expectation.verdict == verdict { return .expected(expectation) }
        return verdict == .failed && (level == .may || (level == .should && !isStrict)) ? .advisory : .bad
    }

    /// Returns whether a result makes the exit code other than 0.
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
