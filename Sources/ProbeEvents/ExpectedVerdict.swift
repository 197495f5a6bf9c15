/// A line of an expectations file: the expected verdict of a case with a subject.
package struct ExpectedVerdict: Sendable, Hashable {
    package var key: CaseKey
    package var verdict: Verdict
    /// Whether the verdict is only occasional, and the case passes at other times. Such an expectation is written as
    /// `failed?`, for example.
    package var isAtTimes: Bool
    /// The comment on the line, which gives the reason; `nil` if there is none.
    package var comment: String?
    /// The path of the expectations file as the user wrote it. `line` is the number of the line, counted from 1.
    package var path: String
    package var line: Int

    package init(key: CaseKey, verdict: Verdict, isAtTimes: Bool = false, comment: String?, path: String, line: Int) {
        self.key = key
        self.verdict = verdict
        self.isAtTimes = isAtTimes
        self.comment = comment
        self.path = path
        self.line = line
    }

    /// The verdict as it is written in an expectations file, such as `failed` or `failed?`.
    package var word: String { verdict.rawValue + (isAtTimes ? "?" : "") }

    /// The location of the expectation, as `path:line`.
    package var place: String { "\(path):\(line)" }
}

/// The key of a result: a case together with a subject. In a run without repetitions, each key occurs once.
package struct CaseKey: Sendable, Hashable {
    package var id: String
    /// The subject's name; `nil` if the scenario has no subject.
    package var subject: String?

    package init(id: String, subject: String?) {
        self.id = id
        self.subject = subject
    }
}

/// The expected verdicts of a run's cases. A case that is not mentioned in an expectations file is expected to pass.
package struct Expectations: Sendable {
    private var verdicts: [CaseKey: ExpectedVerdict] = [:]

    package init() {}

    package init(_ lines: some Sequence<ExpectedVerdict>) {
        for line in lines { verdicts[line.key] = line }
    }

    package subscript(key: CaseKey) -> ExpectedVerdict? { verdicts[key] }
}
