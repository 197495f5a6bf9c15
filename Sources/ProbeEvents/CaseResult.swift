package import ProbeScenario

/// The complete result of a case.
package struct CaseResult: Sendable {
    /// The case's id: the script's path below the given root, without `.scn`, followed by `[x=…]` for a case of an
    /// `each`.
    package var id: String
    package var path: String
    package var sources: SourceMap
    package var title: String
    package var about: String?
    package var because: [String]
    package var level: Scenario.Level
    package var tags: [String]
    /// The subject's name; `nil` if the scenario has no subject.
    package var subject: String?
    package var verdict: Verdict
    /// The findings; the first one is the cause of the verdict. Empty if the case passed.
    package var findings: [Finding]
    package var timeline: [TimelineEntry]
    /// The results of the case's crowds, in the order in which the crowds were started.
    package var crowds: [CrowdResult] = []
    /// The duration of the case, in nanoseconds.
    package var duration: Int64
    /// The path of the case's capture; `nil` if no capture was written.
    package var capturePath: String?
    /// The cause that the packets of a failed case show, as a sentence; `nil` if they show none.
    package var cause: String?
    /// The command that runs this case again.
    package var rerun: String
    /// The round of a repeated run, counted from 1; `nil` if each case runs once.
    package var round: Int?
    /// Whether the case ended in `error` because the run was interrupted.
    package var isInterrupted = false
    /// The result of the same case in a fresh process of the subject; `nil` if the case was not run again.
    package var alone: LoneResult?
    /// The result of `explore` or `shrink` for the case; `nil` for a case that was simply run.
    package var exploration: Exploration?

    package init(
        id: String, path: String, sources: SourceMap, title: String, about: String?, because: [String],
        level: Scenario.Level, tags: [String], subject: String?, verdict: Verdict, findings: [Finding],
        timeline: [TimelineEntry], duration: Int64, capturePath: String?, rerun: String
    ) {
        self.id = id
        self.path = path
        self.sources = sources
        self.title = title
        self.about = about
        self.because = because
        self.level = level
        self.tags = tags
        self.subject = subject
        self.verdict = verdict
        self.findings = findings
        self.timeline = timeline
        self.duration = duration
        self.capturePath = capturePath
        self.rerun = rerun
    }
}

/// The result of a failed case that was run once more, in a fresh process of the subject.
package struct LoneResult: Sendable, Equatable {
    package var verdict: Verdict
    /// The id of the case that the subject's process had served before the failed case.
    package var after: String

    package init(verdict: Verdict, after: String) {
        self.verdict = verdict
        self.after = after
    }

    /// The conclusion, such as `also alone` or `only after close/eof`; `nil` if the second result allows no conclusion.
    package var text: String? {
        switch verdict {
        case .failed, .error: "also alone"
        case .passed: "only after \(after)"
        case .inconclusive, .unsupported, .skipped: nil
        }
    }
}
