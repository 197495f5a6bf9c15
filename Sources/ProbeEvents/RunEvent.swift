/// An event of a run. Recorders receive the events of a run in order.
package enum RunEvent: Sendable {
    case started(caseCount: Int)
    /// A message about the whole run, for example that there is no capture.
    case message(String)
    /// A case began.
    ///
    /// - Parameter subject: the subject's name, as it will be in ``CaseResult/subject``.
    case caseStarted(id: String, subject: String? = nil)
    /// How far the exploration of a case has come.
    case exploring(id: String, ExplorationProgress)
    case caseEnded(CaseResult)
    case ended(RunSummary)
}

/// How far the search for variations that fail has come.
package struct ExplorationProgress: Sendable, Hashable {
    /// The number of variations that have been tried. `rate` is the number per second.
    package var tried: Int
    package var rate: Double
    /// The number of offsets at which a send can be cut, and the number of those that have been tried.
    package var singleCuts: Int
    package var singleCutsTried: Int
    /// The number of runs for the failure that is being shrunk; `nil` during the search.
    package var shrinkingRuns: Int?
    /// The time that is left, in nanoseconds; `nil` if it is not limited.
    package var left: Int64?

    package init(tried: Int, rate: Double, singleCuts: Int, singleCutsTried: Int) {
        self.tried = tried
        self.rate = rate
        self.singleCuts = singleCuts
        self.singleCutsTried = singleCutsTried
    }
}

/// How a run ended. The engine sets the values that describe the run itself; ``RunTally`` adds the results of the
/// cases.
package struct RunSummary: Sendable {
    package var results = ResultCounts()
    /// The number of cases that were not started because the run was interrupted.
    package var notRun = 0
    /// The cases that were not run, as far as they are known.
    package var notRunCases: [PlannedCase] = []
    /// Whether `--strict` was given.
    package var isStrict = false
    /// Whether a run passes if none of its cases was judged. With `run` and `merge`, it passes only if `--allow-empty`
    /// was given.
    package var allowsEmpty = true
    /// Remarks on the run that are not errors, for example about expectations for cases that are not part of the run.
    package var notes: [String] = []
    /// The number of the signal that ended the run early; `nil` if the run was not interrupted.
    package var interruptedBy: Int32?
    /// The duration of the run, in nanoseconds.
    package var duration: Int64 = 0
    package var packetsCaptured = 0
    package var packetsDropped = 0
    /// Errors that occurred outside the cases, for example while a report or a capture was being written.
    package var runErrors: [String] = []
    /// Whether a subject was abandoned. The subject's remaining cases were then not run.
    package var hasGivenUpSubject = false
    /// The exit code of a command that sets its own exit code, such as `explore`; `nil` if the exit code follows from
    /// the results.
    package var commandExitCode: Int32?

    package init() {}

    /// The name of the signal that ended the run, such as `SIGINT`, or its number for an uncommon signal; `nil` if the
    /// run was not interrupted.
    package var interruptionText: String? {
        interruptedBy.map { $0 == 2 ? "SIGINT" : $0 == 15 ? "SIGTERM" : $0 == 1 ? "SIGHUP" : "signal \($0)" }
    }

    /// The reason why no case was judged, as a clause; `nil` if a case was judged, or if the run ended before all of
    /// its cases had been started.
    package var emptiness: String? {
        guard interruptedBy == nil, notRun == 0, !hasGivenUpSubject, results.judged == 0 else { return nil }
        if results.total == 0 { return "there was no case to run" }
        if results.count(.skipped) == 0 { return nil }
        return results.count(.unsupported) > 0 ? "every case was skipped or unsupported" : "every case was skipped"
    }

    /// The exit code of the run: 0 to 3, or 128 plus the signal. A report that could not be written is an error, and so
    /// is a run in which no case was judged, unless such a run is allowed.
    package var exitCode: Int32 {
        let code = exitCodeOfResults
        return code == 0 && !allowsEmpty && emptiness != nil && commandExitCode == nil ? 3 : code
    }

    /// The exit code regardless of whether any case was judged. It is used for a shard, because only the merged run
    /// shows whether no case was judged at all.
    package var exitCodeOfResults: Int32 {
        if interruptedBy == nil, hasGivenUpSubject { return 2 }
        if interruptedBy == nil, let commandExitCode {
            return commandExitCode == 0 && !runErrors.isEmpty ? 3 : commandExitCode
        }
        return interruptedBy.map { 128 + $0 } ?? results.exitCode(isStrict: isStrict, hasRunErrors: !runErrors.isEmpty)
    }
}
