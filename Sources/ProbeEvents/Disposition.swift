package import ProbeScenario

/// What a result means to the run. The verdict says what the case came to; the disposition says whether that fails the run.
package enum Disposition: Sendable, Hashable {
    /// Passed, skipped or unsupported, and nothing worse was expected.
    case fine
    /// It passed, and the expectations say that it does not: their line has to be removed. Fails a strict run.
    case unexpectedPass(ExpectedVerdict)
    /// It did not pass, and came to what the expectations say.
    case expected(ExpectedVerdict)
    /// It failed at a level that does not fail the run: `may`, and `should` without `--strict`. An error, or a fault that was
    /// never seen, is no failure and counts at every level.
    case advisory
    /// It did not pass.
    case bad
}

/// How a run rates its results.
package struct RunRules: Sendable {
    /// A failure of level `should` fails the run, and so does an unexpected pass.
    package var isStrict = false
    package var expectations = Expectations()

    package init() {}

    package init(strict: Bool, expectations: Expectations = Expectations()) {
        isStrict = strict
        self.expectations = expectations
    }

    package func disposition(of result: CaseResult) -> Disposition {
        disposition(of: result.verdict, level: result.level, expectation: expectations[result.key])
    }

    /// The same of a result that is known by its verdict alone.
    package func disposition(of verdict: Verdict, level: Scenario.Level, expectation: ExpectedVerdict?) -> Disposition {
        if verdict == .passed {
            return expectation.map { $0.verdict == .passed ? .fine : .unexpectedPass($0) } ?? .fine
        }
        if verdict >= .unsupported { return .fine }
        if let expectation, expectation.verdict == verdict { return .expected(expectation) }
        return verdict == .failed && (level == .may || (level == .should && !isStrict)) ? .advisory : .bad
    }

    /// Whether a result makes the exit code other than 0.
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
