package import ProbeEvents

/// Turns the events of a run into a document, or into lines on a terminal.
///
/// A recorder has no side effects: it returns bytes, and its caller writes them. After ``RunEvent/ended(_:)`` the
/// returned bytes form one complete document, even if the run was interrupted.
package protocol Recorder: Sendable {
    /// Records an event.
    ///
    /// - Parameter time: nanoseconds since the run began.
    /// - Returns: the next bytes of the document; often none.
    mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8]

    /// Updates the progress. Called about ten times a second while a recorder shows progress.
    mutating func tick(at time: Int64) -> [UInt8]
}

extension Recorder {
    package mutating func tick(at time: Int64) -> [UInt8] { [] }
}

/// The options that all reports of a run share.
package struct ReportOptions: Sendable {
    /// The rules by which results are weighed: level, expectations, `--strict`.
    package var rules = RunRules()
    /// Whether the run has several subjects, so that each case names its subject.
    package var hasSeveralSubjects = false
    /// The tool's version.
    package var version = ""
    /// When the run began, in seconds since 1970 UTC; `nil` if reports show no date.
    package var startedAt: Int64?

    package init() {}

    /// Whether a failure of level `should` fails the run.
    package var strict: Bool {
        get { rules.isStrict }
        set { rules.isStrict = newValue }
    }

    package func disposition(of result: CaseResult) -> Disposition { rules.disposition(of: result) }

    /// Returns the case's id, followed by the subject if there are several, and by the round if cases are repeated.
    func name(of result: CaseResult) -> String {
        name(id: result.id, subject: result.subject) + (result.round.map { " (round \($0))" } ?? "")
    }

    /// Returns the case's id, followed by the subject if there are several.
    func name(id: String, subject: String?) -> String {
        guard hasSeveralSubjects, let subject else { return id }
        return "\(id) (\(subject))"
    }
}
