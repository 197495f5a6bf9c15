package import ProbeEvents

/// The outcome of a single run of a candidate.
package enum Trial: Sendable {
    case passed
    case failed(Signature, CaseResult)
    /// The candidate neither passed nor failed: its run was inconclusive or skipped, or did not take place.
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

    /// Returns whether the run failed with the given failure, including its values.
    package func fails(like failure: ShownFailure) -> Bool {
        if case .failed(_, let result) = self { failure.matches(result) } else { false }
    }

    /// The result of the run; `nil` if the run passed or did not take place.
    package var result: CaseResult? {
        switch self {
        case .passed: nil
        case .failed(_, let result): result
        case .unknown(let result): result
        }
    }

    /// The signature of the failure; `nil` if the run did not fail.
    package var signature: Signature? {
        if case .failed(let signature, _) = self { signature } else { nil }
    }
}

extension CandidateRunner {
    package var isOver: Bool { false }

    /// Runs each candidate once, and repeats inconclusive runs up to three times. On a busy machine, many runs are
    /// inconclusive, regardless of the program.
    ///
    /// - Returns: a trial for each candidate, in the same order. If no run of a candidate was conclusive, its trial is
    ///   `unknown`.
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

/// Runs candidates. Searching and shrinking depend only on this protocol, not on the engine.
package protocol CandidateRunner: Sendable {
    /// Whether no more candidates are run, because the time is over or the run was interrupted. Every further trial is
    /// then unknown.
    var isOver: Bool { get }
    /// Runs each candidate once.
    ///
    /// - Returns: a trial for each candidate, in the same order.
    func run(_ candidates: [Candidate]) async -> [Trial]
    /// Returns whether the scenario is still a valid script without the parts that a candidate removes.
    func isAllowed(_ candidate: Candidate) -> Bool
}
