package import ProbeEvents

/// Turns a run's events into a document, or into lines on a terminal.
///
/// A recorder is pure: it gives the bytes that come next, and its caller writes them. When it has been given
/// ``RunEvent/ended(_:)``, all that it gave is one complete document, however the run ended.
package protocol Recorder: Sendable {
    /// - Parameter time: nanoseconds since the run began.
    /// - Returns: what comes next in the document; often nothing yet.
    mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8]

    /// Time has passed. Called about ten times a second while something is shown live.
    mutating func tick(at time: Int64) -> [UInt8]
}

extension Recorder {
    package mutating func tick(at time: Int64) -> [UInt8] { [] }
}

/// What all reports of a run have in common.
package struct ReportOptions: Sendable {
    /// What is made of the results.
    package var rules = RunRules()
    /// The run has several subjects: each case says which one it is about.
    package var hasSeveralSubjects = false
    /// The tool's version.
    package var version = ""
    /// When the run began, in seconds since 1970 UTC; nil where reports say no date.
    package var startedAt: Int64?

    package init() {}

    /// A failure of level `should` fails the run.
    package var strict: Bool {
        get { rules.isStrict }
        set { rules.isStrict = newValue }
    }

    package func disposition(of result: CaseResult) -> Disposition { rules.disposition(of: result) }

    /// The case's id, with the subject behind it where there are several.
    func name(id: String, subject: String?) -> String {
        guard hasSeveralSubjects, let subject else { return id }
        return "\(id) (\(subject))"
    }
}
