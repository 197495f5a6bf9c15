import ProbeBase
import ProbeEvents
import Testing

@testable import ProbeEngine

struct RetryFailuresTests {
    private func failures(_ verdicts: [Verdict]) -> RetryFailures {
        var failures = RetryFailures(within: .seconds(1))
        for (number, verdict) in verdicts.enumerated() {
            failures.begin()
            failures.note(Finding(verdict, "failure \(number + 1)"))
        }
        return failures
    }

    @Test func lastFailureIsReported() {
        let finding = failures([.failed, .failed]).finding
        #expect(finding.verdict == .failed)
        #expect(finding.summary == "failure 2")
        #expect(finding.details == ["this was attempt 2, the last within 1s"])
    }

    /// A failed attempt after an inconclusive attempt does not prove that the inconclusive attempt failed, too.
    @Test func possiblySuccessfulAttemptIsInconclusive() {
        let finding = failures([.failed, .inconclusive, .inconclusive, .failed]).finding
        #expect(finding.verdict == .inconclusive)
        #expect(finding.summary == "failure 2")
        #expect(finding.details == ["this was attempt 2 of 4 within 1s"])
    }

    @Test func scriptErrorIsReported() {
        #expect(failures([.inconclusive, .error]).finding.verdict == .error)
    }
}
