package import ProbeScenario

/// A case with one subject that is planned for the run. It holds what reports need to name the case if it never begins.
package struct PlannedCase: Sendable, Equatable {
    /// The path below the given root without `.scn`, followed by `[x=…]` for a case of an `each`.
    package var id: String
    /// The script's path as the user wrote it.
    package var path: String
    /// As in ``CaseResult/subject``: nil if the scenario has no subject.
    package var subject: String?
    package var title: String
    package var about: String?
    package var because: [String]
    package var level: Scenario.Level
    package var tags: [String]
    /// The command that runs this case again.
    package var rerun: String

    package init(
        id: String, path: String, subject: String?, title: String = "", about: String? = nil, because: [String] = [],
        level: Scenario.Level = .must, tags: [String] = [], rerun: String = ""
    ) {
        self.id = id
        self.path = path
        self.subject = subject
        self.title = title
        self.about = about
        self.because = because
        self.level = level
        self.tags = tags
        self.rerun = rerun
    }

    /// The result of a case that was still running when the run was aborted.
    ///
    /// - Parameter duration: nanoseconds since it began.
    package func interrupted(after duration: Int64) -> CaseResult {
        var result = CaseResult(
            id: id, path: path, sources: SourceMap([]), title: title, about: about, because: because, level: level,
            tags: tags,
            subject: subject, verdict: .error,
            findings: [
                Finding(
                    .error, "the run was interrupted",
                    details: [
                        "a second signal did not wait for the end of the case: its `finally` blocks may not have run"
                    ])
            ], timeline: [], duration: duration, capturePath: nil, rerun: rerun)
        result.isInterrupted = true
        return result
    }

    package var key: CaseKey { CaseKey(id: id, subject: subject) }
}
