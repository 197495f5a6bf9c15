/// What a line of an expectations file says: this case by this subject comes to this verdict.
package struct ExpectedVerdict: Sendable, Hashable {
    package var key: CaseKey
    package var verdict: Verdict
    /// The line's comment: why.
    package var comment: String?
    /// The file as the user gave it, and the line, from 1.
    package var path: String
    package var line: Int

    package init(key: CaseKey, verdict: Verdict, comment: String?, path: String, line: Int) {
        self.key = key
        self.verdict = verdict
        self.comment = comment
        self.path = path
        self.line = line
    }

    /// `path:line`
    package var place: String { "\(path):\(line)" }
}

/// Identifies a result: a case by a subject. A run has each key once, but for repetitions.
package struct CaseKey: Sendable, Hashable {
    package var id: String
    /// nil: the scenario has none.
    package var subject: String?

    package init(id: String, subject: String?) {
        self.id = id
        self.subject = subject
    }
}

/// The verdicts that are expected of the cases of a run. A case without a line is expected to pass.
package struct Expectations: Sendable {
    private var verdicts: [CaseKey: ExpectedVerdict] = [:]

    package init() {}

    package init(_ lines: some Sequence<ExpectedVerdict>) {
        for line in lines { verdicts[line.key] = line }
    }

    package subscript(key: CaseKey) -> ExpectedVerdict? { verdicts[key] }
}
