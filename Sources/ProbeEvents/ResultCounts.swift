/// The counts of a run's results. All reports use these counts instead of counting the results themselves.
package struct ResultCounts: Sendable, Equatable {
    private var byVerdict: [Verdict: Int]
    /// The number of failures that do not fail the run: those at level `may`, and those at level `should` without
    /// `--strict`.
    package private(set) var advisoryFailures = 0
    /// For each verdict, the number of results that did not pass but were expected, and therefore do not fail the run.
    private var expected: [Verdict: Int] = [:]
    /// The number of cases that passed although another verdict was expected; they fail a strict run.
    package private(set) var unexpectedPasses = 0

    package init(_ byVerdict: [Verdict: Int] = [:]) { self.byVerdict = byVerdict }

    package mutating func count(_ verdict: Verdict, _ disposition: Disposition) {
        byVerdict[verdict, default: 0] += 1
        switch disposition {
        case .advisory: advisoryFailures += 1
        case .expected: expected[verdict, default: 0] += 1
        case .unexpectedPass: unexpectedPasses += 1
        case .fine, .bad: break
        }
    }

    package var total: Int { byVerdict.values.reduce(0, +) }

    /// The number of results that provide information about the tested program.
    package var judged: Int { total - count(.skipped) - count(.unsupported) }

    package func count(_ verdict: Verdict) -> Int { byVerdict[verdict] ?? 0 }

    /// Returns the number of results with the given verdict that were not expected.
    package func unexpected(_ verdict: Verdict) -> Int { count(verdict) - (expected[verdict] ?? 0) }

    /// The number of results that did not pass and were not expected.
    package var unexpectedFailures: Int { unexpected(.failed) + unexpected(.error) + unexpected(.inconclusive) }

    /// The number of results that did not pass and were expected.
    package var expectedFailures: Int { expected.values.reduce(0, +) }

    /// Returns the exit code of the run: 0, 1 or 3.
    ///
    /// - Parameters:
    ///   - isStrict: whether `--strict` was given.
    ///   - hasRunErrors: whether an error occurred outside the cases.
    package func exitCode(isStrict: Bool, hasRunErrors: Bool) -> Int32 {
        if unexpected(.failed) > advisoryFailures || (isStrict && unexpectedPasses > 0) { return 1 }
        if unexpected(.error) > 0 || unexpected(.inconclusive) > 0 || hasRunErrors { return 3 }
        return 0
    }
}
