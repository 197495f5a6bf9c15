/// What a run tells its recorders, in order.
package enum RunEvent: Sendable {
    case started(caseCount: Int)
    /// Something that concerns the whole run: no capture, say.
    case message(String)
    /// - Parameter subject: as ``CaseResult/subject`` will be.
    case caseStarted(id: String, subject: String? = nil)
    case caseEnded(CaseResult)
    case ended(RunSummary)
}

/// How many cases came to what.
package struct RunSummary: Sendable {
    package var counts: [Verdict: Int] = [:]
    /// Cases that were not begun, because the run was interrupted.
    package var notRun = 0
    /// Those cases, as far as they are known.
    package var notRunCases: [PlannedCase] = []
    /// Failures among the counts that do not fail the run: of level `may`, and of `should` without `--strict`.
    package var advisoryFailures = 0
    /// Results among the counts that did not pass, and were expected to come to just that: they do not fail the run.
    package var expected: [Verdict: Int] = [:]
    /// Passes among the counts where the expectations say otherwise; they fail a strict run.
    package var unexpectedPasses = 0
    /// `--strict`
    package var isStrict = false
    /// What is to be said of the run, without it being wrong: expectations about cases that there are not, say.
    package var notes: [String] = []
    /// The signal that ended the run early.
    package var interruptedBy: Int32?
    /// Nanoseconds.
    package var duration: Int64 = 0
    package var packetsCaptured = 0
    package var packetsDropped = 0
    /// Something outside the cases went wrong: a report or a capture that could not be written.
    package var troubles: [String] = []

    package init() {}

    package func count(_ verdict: Verdict) -> Int { counts[verdict] ?? 0 }

    /// Those that were not expected.
    package func unexpected(_ verdict: Verdict) -> Int { count(verdict) - (expected[verdict] ?? 0) }

    /// Results of all verdicts that did not pass, as expected.
    package var expectedFailures: Int { expected.values.reduce(0, +) }

    /// `SIGINT`, or the number of a signal that has no name here; nil for a run that ended by itself.
    package var interruptionText: String? {
        interruptedBy.map { $0 == 2 ? "SIGINT" : $0 == 15 ? "SIGTERM" : $0 == 1 ? "SIGHUP" : "signal \($0)" }
    }

    /// Of the architecture: 0, 1 or 3, or 128 and the signal.
    package var exitCode: Int32 {
        if let interruptedBy { return 128 + interruptedBy }
        if unexpected(.failed) > advisoryFailures || (isStrict && unexpectedPasses > 0) { return 1 }
        if unexpected(.error) > 0 || unexpected(.inconclusive) > 0 || !troubles.isEmpty { return 3 }
        return 0
    }
}
