/// A line of an expectations file: the expected verdict of a case with a subject.
package struct ExpectedVerdict: Sendable, Hashable {
    package var key: CaseKey
    package var verdict: Verdict
    /// Whether the verdict is occasional and the case passes at other times: written `failed?`.
    package var isAtTimes: Bool
    /// The line's comment: the reason.
    package var comment: String?
    /// The file's path as the user wrote it, and the line, counted from 1.
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

    /// The verdict as written in a line: `failed`, `failed?`.
    package var word: String { verdict.rawValue + (isAtTimes ? "?" : "") }

    /// The place of the line: `path:line`.
    package var place: String { "\(path):\(line)" }
}

/// The key of a result: a case with a subject. A run without repetitions has each key once.
package struct CaseKey: Sendable, Hashable {
    package var id: String
    /// The subject; `nil` if the scenario has none.
    package var subject: String?

    package init(id: String, subject: String?) {
        self.id = id
        self.subject = subject
    }
}

/// The expected verdicts of a run's cases. A case without a line is expected to pass.
package struct Expectations: Sendable {
    private var verdicts: [CaseKey: ExpectedVerdict] = [:]

    package init() {}

    package init(_ lines: some Sequence<ExpectedVerdict>) {
        for line in lines { verdicts[line.key] = line }
    }

    package subscript(key: CaseKey) -> ExpectedVerdict? { verdicts[key] }
}
