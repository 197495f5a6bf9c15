package import ProbeEvents

/// Converts the events of a run to a document, or to lines on a terminal.
///
/// A recorder has no side effects: it returns bytes, and its caller writes them. After ``RunEvent/ended(_:)``, all
/// returned bytes together are one complete document, even if the run was interrupted.
package protocol Recorder: Sendable {
    /// Records an event.
    ///
    /// - Parameter time: the nanoseconds since the run began.
    /// - Returns: the next bytes of the document; often, there are none.
    mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8]

    /// Updates the progress line. The caller calls this about ten times a second while a recorder shows progress.
    mutating func tick(at time: Int64) -> [UInt8]
}

extension Recorder {
    package mutating func tick(at time: Int64) -> [UInt8] { [] }
}

/// The options that apply to all reports of a run.
package struct ReportOptions: Sendable {
    /// The rules that determine which results fail the run: levels, expectations and `--strict`.
    package var rules = RunRules()
    /// Whether the run has several subjects. If so, the name of each case includes its subject.
    package var hasSeveralSubjects = false
    /// The version of the tool.
    package var version = ""
    /// The time at which the run began, in seconds since 1970 UTC; `nil` if the reports show no date.
    package var startedAt: Int64?

    package init() {}

    /// Whether a failure of level `should` fails the run (`--strict`).
    package var strict: Bool {
        get { rules.isStrict }
        set { rules.isStrict = newValue }
    }

    package func disposition(of result: CaseResult) -> Disposition { rules.disposition(of: result) }

    /// Returns the id of the case, followed by the subject if the run has several, and by the round if cases are
    /// repeated.
    func name(of result: CaseResult) -> String {
        name(id: result.id, subject: result.subject) + (result.round.map { " (round \($0))" } ?? "")
    }

    /// Returns the id of the case, followed by the subject if the run has several.
    func name(id: String, subject: String?) -> String {
        guard hasSeveralSubjects, let subject else { return id }
        return "\(id) (\(subject))"
    }
}
