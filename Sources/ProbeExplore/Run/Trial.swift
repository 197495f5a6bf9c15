package import ProbeEvents

/// What came of one run of a candidate.
package enum Trial: Sendable {
    case passed
    case failed(Signature, CaseResult)
    /// Inconclusive, skipped, or not run: neither a pass nor a failure.
    case unknown(CaseResult?)

    package init(_ result: CaseResult?) {
        guard let result, !result.isInterrupted else {
            self = .unknown(nil)
            return
        }
        if result.verdict == .passed {
            self = .passed
        } else if let signature = Signature(result) {
            self = .failed(signature, result)
        } else {
            self = .unknown(result)
        }
    }

    package var hasPassed: Bool { if case .passed = self { true } else { false } }

    /// Whether it failed in this way.
    package func fails(like signature: Signature) -> Bool {
        if case .failed(signature, _) = self { true } else { false }
    }

    /// The signature of a failure.
    package var signature: Signature? {
        if case .failed(let signature, _) = self { signature } else { nil }
    }
}

/// Runs candidates. The searching and shrinking parts know no more of a run than this.
package protocol CandidateRunner {
    /// Runs each candidate once.
    ///
    /// - Returns: a trial for each, in their order.
    func run(_ candidates: [Candidate]) async -> [Trial]
    /// Whether the scenario without the parts that a candidate leaves out is one that the language allows.
    func isAllowed(_ candidate: Candidate) -> Bool
}
