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

/// How a run ended. The run tells what it knows of itself; what its cases came to is filled in by ``RunTally``.
package struct RunSummary: Sendable {
    package var results = ResultCounts()
    /// Cases that were not begun, because the run was interrupted.
    package var notRun = 0
    /// Those cases, as far as they are known.
    package var notRunCases: [PlannedCase] = []
    /// `--strict`
    package var isStrict = false
    /// Remarks on the run that are no errors: expectations about cases that the run does not have, say.
    package var notes: [String] = []
    /// The signal that ended the run early.
    package var interruptedBy: Int32?
    /// Nanoseconds.
    package var duration: Int64 = 0
    package var packetsCaptured = 0
    package var packetsDropped = 0
    /// Something outside the cases went wrong: a report or a capture that could not be written.
    package var runErrors: [String] = []

    package init() {}

    /// `SIGINT`, or the number of a signal that has no name here; nil for a run that ended by itself.
    package var interruptionText: String? {
        interruptedBy.map { $0 == 2 ? "SIGINT" : $0 == 15 ? "SIGTERM" : $0 == 1 ? "SIGHUP" : "signal \($0)" }
    }

    /// Of the architecture: 0, 1 or 3, or 128 and the signal.
    package var exitCode: Int32 {
        interruptedBy.map { 128 + $0 } ?? results.exitCode(isStrict: isStrict, hasRunErrors: !runErrors.isEmpty)
    }
}
