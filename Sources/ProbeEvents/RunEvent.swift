/// An event of a run; recorders receive the events in order.
package enum RunEvent: Sendable {
    case started(caseCount: Int)
    /// A message about the whole run, for example that there is no capture.
    case message(String)
    /// - Parameter subject: the future ``CaseResult/subject``.
    case caseStarted(id: String, subject: String? = nil)
    case caseEnded(CaseResult)
    case ended(RunSummary)
}

/// How a run ended. The engine fills in the values of the run itself; ``RunTally`` adds the results of the cases.
package struct RunSummary: Sendable {
    package var results = ResultCounts()
    /// The number of cases that were not started because the run was interrupted.
    package var notRun = 0
    /// The known ones among the cases that were not run.
    package var notRunCases: [PlannedCase] = []
    /// Whether `--strict` was given.
    package var isStrict = false
    /// Whether a run in which nothing was judged passes. `run` and `merge` require `--allow-empty` for that.
    package var allowsEmpty = true
    /// Remarks on the run that are not errors, for example on expectations about cases that the run does not have.
    package var notes: [String] = []
    /// The signal that ended the run early.
    package var interruptedBy: Int32?
    /// The duration in nanoseconds.
    package var duration: Int64 = 0
    package var packetsCaptured = 0
    package var packetsDropped = 0
    /// Errors outside the cases, for example in writing a report or a capture.
    package var runErrors: [String] = []
    /// Whether a subject was given up, so that its remaining cases were not run.
    package var hasGivenUpSubject = false
    /// The exit code of a command whose verdicts are not those of cases that were run; `nil` for the exit code of the
    /// results.
    package var commandExitCode: Int32?

    package init() {}

    /// The signal's name, such as `SIGINT`, or its number if it has no name here; `nil` if the run was not interrupted.
    package var interruptionText: String? {
        interruptedBy.map { $0 == 2 ? "SIGINT" : $0 == 15 ? "SIGTERM" : $0 == 1 ? "SIGHUP" : "signal \($0)" }
    }

    /// The reason why nothing was judged, as a clause; `nil` if something was, or if the run did not get to all of its
    /// cases.
    package var emptiness: String? {
        guard interruptedBy == nil, notRun == 0, !hasGivenUpSubject, results.judged == 0 else { return nil }
        if results.total == 0 { return "there was no case to run" }
        if results.count(.skipped) == 0 { return nil }
        return results.count(.unsupported) > 0 ? "every case was skipped or unsupported" : "every case was skipped"
    }

    /// The exit code of the run: 0 to 3, or 128 plus the signal. A report that could not be written is an error, and a
    /// run in which nothing was judged has shown nothing.
    package var exitCode: Int32 {
        let code = exitCodeOfResults
        return code == 0 && !allowsEmpty && emptiness != nil && commandExitCode == nil ? 3 : code
    }

    /// The exit code regardless of whether anything was judged; for a shard, the merged run decides that.
    package var exitCodeOfResults: Int32 {
        if interruptedBy == nil, hasGivenUpSubject { return 2 }
        if interruptedBy == nil, let commandExitCode {
            return commandExitCode == 0 && !runErrors.isEmpty ? 3 : commandExitCode
        }
        return interruptedBy.map { 128 + $0 } ?? results.exitCode(isStrict: isStrict, hasRunErrors: !runErrors.isEmpty)
    }
}
