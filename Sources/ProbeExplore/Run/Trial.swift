package import ProbeEvents

/// The outcome of one run of a candidate.
package enum Trial: Sendable {
    case passed
    case failed(Signature, CaseResult)
    /// Neither a pass nor a failure: inconclusive, skipped, or not run.
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

    /// Returns whether it is this failure, including its values.
    package func fails(like failure: ShownFailure) -> Bool {
        if case .failed(_, let result) = self { failure.matches(result) } else { false }
    }

    /// The result of the run, if it did not pass.
    package var result: CaseResult? {
        switch self {
        case .passed: nil
        case .failed(_, let result): result
        case .unknown(let result): result
        }
    }

    /// The signature, if it is a failure.
    package var signature: Signature? {
        if case .failed(let signature, _) = self { signature } else { nil }
    }
}

extension CandidateRunner {
    /// Runs each candidate once, and repeats the inconclusive ones up to three times: on a busy machine many runs are
    /// inconclusive, which says nothing about the program.
    ///
    /// - Returns: a trial for each candidate, in order; one that was never conclusive stays unknown.
    package func settled(_ candidates: [Candidate]) async -> [Trial] {
        var trials = await run(candidates)
        for _ in 0..<3 {
            let unknown = trials.indices.filter { if case .unknown(.some) = trials[$0] { true } else { false } }
            if unknown.isEmpty { break }
            for (index, trial) in zip(unknown, await run(unknown.map { candidates[$0] })) { trials[index] = trial }
        }
        return trials
    }
}

/// Runs candidates. This protocol is all that searching and shrinking know about a run.
package protocol CandidateRunner {
    /// Runs each candidate once.
    ///
    /// - Returns: a trial for each candidate, in order.
    func run(_ candidates: [Candidate]) async -> [Trial]
    /// Returns whether the language allows the scenario without the parts that a candidate leaves out.
    func isAllowed(_ candidate: Candidate) -> Bool
}
