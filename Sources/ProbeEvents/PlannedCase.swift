package import ProbeScenario

/// A planned case with one subject. It contains the data that reports need to describe the case if it is never started.
package struct PlannedCase: Sendable, Equatable {
    /// The case's id: the script's path below the given root, without `.scn`, followed by `[x=…]` for a case of an
    /// `each`.
    package var id: String
    /// The script's path as the user wrote it.
    package var path: String
    /// The subject's name, as in ``CaseResult/subject``; `nil` if the scenario has no subject.
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

    /// Creates the planned case to which a result belongs.
    package init(_ result: CaseResult) {
        self.init(
            id: result.id, path: result.path, subject: result.subject, title: result.title, about: result.about,
            because: result.because, level: result.level, tags: result.tags, rerun: result.rerun)
    }

    /// Returns the result of a case that was still running when the run was aborted.
    ///
    /// - Parameter duration: the time since the case began, in nanoseconds.
    package func interrupted(after duration: Int64) -> CaseResult {
        var result = CaseResult(self, .error, duration: duration)
        result.findings = [
            Finding(
                .error, "the run was interrupted",
                details: [
                    "a second signal aborted the case: its `finally` blocks may not have run"
                ])
        ]
        result.isInterrupted = true
        return result
    }

    package var key: CaseKey { CaseKey(id: id, subject: subject) }
}

extension CaseResult {
    /// Creates a result without findings and without a timeline.
    package init(_ item: PlannedCase, _ verdict: Verdict, sources: SourceMap = SourceMap([]), duration: Int64 = 0) {
        self.init(
            id: item.id, path: item.path, sources: sources, title: item.title, about: item.about,
            because: item.because, level: item.level, tags: item.tags, subject: item.subject, verdict: verdict,
            findings: [], timeline: [], duration: duration, capturePath: nil, rerun: item.rerun)
    }
}
