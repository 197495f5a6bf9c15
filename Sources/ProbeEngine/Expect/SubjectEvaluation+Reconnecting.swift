import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeTransport

/// What a subject says of connections that are lost, and of attempts to make another one.
extension SubjectEvaluation {
    func lost(_ reason: String?, _ name: String?, _ wanted: ResolvedSubjectExpectation) -> Result {
        // Before any other end than `eof` a transport is free to report a leftover or not.
        var ahead = 0
        if case .leftover? = reports.pending.first?.event, reason != "eof" {
            guard reports.pending.count > 1 else { return waitUnlessStopped(wanted) }
            if case .lost(let came, _, _) = reports.pending[1].event, came != .eof { ahead = 1 }
        }
        guard ahead < reports.pending.count else { return waitUnlessStopped(wanted) }
        let next = reports.pending[ahead]
        guard case .lost(let came, let dropped, let detail) = next.event else {
            return unexpected(next.event, wanted, expected: nil)
        }
        guard reason == nil || reason == came.word else {
            return otherReason(reason, came, detail, "lost its connection")
        }
        return .satisfied(
            SubjectMatch(deliveries: ahead + 1, bindings: name.map { [($0, .integer(dropped))] } ?? []), at: next.time)
    }

    func attemptFailed(_ reason: String?, _ wanted: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.failedAttempts.first else { return waitUnlessStopped(wanted) }
        guard reason == nil || reason == next.reason.word else {
            return otherReason(reason, next.reason, nil, "failed to connect")
        }
        return .satisfied(SubjectMatch(failedAttempts: 1), at: next.time)
    }

    private func otherReason(_ reason: String?, _ came: StopReason, _ detail: String?, _ what: String) -> Result {
        let (expected, came) = (reason ?? "", SubjectText.word(came))
        return .mismatch(
            Finding(
                .failed, "\(name) \(what) with \(came), not with \(expected)", expected: Array(expected.utf8),
                actual: Array(came.utf8), details: SubjectText.words(detail)), "\(what) with \(came)")
    }
}
