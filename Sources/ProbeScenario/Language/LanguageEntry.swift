package import ProbeBase

/// The description of one construct of the language. The parser's hints, the checker, the subject's capabilities, the
/// editors' grammars, the completions, `tcpprobe explain` and the tables of the reference are generated from these
/// descriptions.
package struct LanguageEntry: Sendable {
    /// One row of the reference: a form of the construct and its meaning.
    package struct Row: Sendable {
        /// The forms of the construct as they appear in a script, without the actor.
        package var forms: [String]
        package var meaning: String
    }

    /// The first words of the construct, unique within its category. A `…` stands for a value.
    package var spelling: String
    /// The name of the construct in messages.
    package var word: String
    /// The form of the construct in lists of choices; `nil` if another entry represents the construct in these lists.
    package var choice: String?
    /// The rows of the construct in the reference. The first row is a one-line summary; the other rows describe
    /// clauses.
    package var rows: [Row]
    /// An example without the actor, which the checker accepts after ``preparation``.
    package var example: String
    /// The steps that must precede the example.
    package var preparation: String?
    /// The meaning of `within` and `after`; `nil` if no such clause can follow the construct.
    package var timing: TimingClauses?
    /// The capability that a subject must have.
    package var capability: TransportCapability?
    /// Whether the caret of a failure points at the operand after the words rather than at the words.
    var pointsAtOperand = false
    /// Whether the construct is available only at the server's end of a connection.
    var isServerOnly = false
    /// Whether the clause `if needed` is allowed: the construct sets up something that must take effect before the case
    /// ends, unless the clause is given.
    package var canBeUnneeded = false

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - forms: the forms of the first row.
    ///   - more: the other rows.
    init(
        _ spelling: String, _ forms: [String], _ meaning: String, more: [(forms: [String], meaning: String)] = [],
        example: String, after preparation: String? = nil, word: String? = nil, choice: String? = "",
        timing: TimingClauses? = .neither, needs capability: TransportCapability? = nil
    ) {
        self.spelling = spelling
        self.word = word ?? spelling
        self.choice = choice?.isEmpty == true ? spelling : choice
        rows = [Row(forms: forms, meaning: meaning)]
        rows += more.map { Row(forms: $0.forms, meaning: $0.meaning) }
        self.example = example
        self.preparation = preparation
        self.timing = timing
        self.capability = capability
    }

    /// Creates an entry whose only form is its example.
    init(
        _ spelling: String, _ meaning: String, more: [(forms: [String], meaning: String)] = [], example: String,
        after preparation: String? = nil, word: String? = nil, choice: String? = "", timing: TimingClauses? = .neither,
        needs capability: TransportCapability? = nil
    ) {
        self.init(
            spelling, [example], meaning, more: more, example: example, after: preparation, word: word, choice: choice,
            timing: timing, needs: capability)
    }

    func serverOnly() -> LanguageEntry {
        var entry = self
        entry.isServerOnly = true
        return entry
    }

    func ifNeeded() -> LanguageEntry {
        var entry = self
        entry.canBeUnneeded = true
        return entry
    }

    /// A one-line summary of the construct.
    package var meaning: String { rows.first?.meaning ?? "" }
}

/// The meaning of `within` and `after` on a step, or the reason why these clauses have no meaning.
package struct TimingClauses: Sendable {
    package enum Clause: Sendable {
        /// The run judges whether the step completes in time. `note` is for the reference.
        case judged(note: String?)
        /// The checker rejects the clause. `reason` explains the rejection to the author of the script, and `note`
        /// explains it to readers of the reference.
        case refused(reason: String, note: String?)

        /// The text for a table cell in the reference.
        package var text: String {
            switch self {
            case .judged(let note): "yes" + (note.map { ": \($0)" } ?? "")
            case .refused(_, let note): "no" + (note.map { ": \($0)" } ?? "")
            }
        }

        var refusal: String? {
            if case .refused(let reason, _) = self { reason } else { nil }
        }
    }

    package var within: Clause
    package var after: Clause

    /// The clauses of a step that waits for something.
    static let both = TimingClauses(within: .judged(note: nil), after: .judged(note: nil))
    /// The clauses of a step that takes no time.
    static let neither = TimingClauses(
        within: .refused(reason: "`{}` does not wait", note: nil),
        after: .refused(reason: "this step does not", note: nil))
    static let send = TimingClauses(
        within: .refused(
            reason: "a send fails only if it makes no progress for the duration of `timeout`", note: nil),
        after: .refused(reason: "this step does not", note: nil))
    static let silentConnect = TimingClauses(
        within: .judged(note: nil),
        after: .refused(
            reason: "this step passes at its deadline if no answer has arrived", note: "the step passes at its deadline"
        ))
    static let silence = TimingClauses(
        within: .refused(reason: "this step states its duration after `for`", note: "the duration follows `for`"),
        after: .refused(reason: "this step expects that nothing happens", note: nil))
    static let silentOutput = TimingClauses(
        within: .refused(
            reason: "this step checks immediately, or for the duration after `for`",
            note: "the step checks immediately, or for the duration after `for`"),
        after: .refused(reason: "this step expects that nothing happens", note: nil))
    static let lookAtOnce = TimingClauses(
        within: .refused(reason: "this step checks once, immediately", note: "the step checks once, immediately"),
        after: .refused(reason: "this step checks once, immediately", note: nil))
    static let amount = TimingClauses(
        within: .judged(note: nil),
        after: .refused(
            reason: "this step completes as soon as the comparison is true",
            note: "the step completes as soon as the comparison is true"))
    static let answerBefore = TimingClauses(
        within: .refused(
            reason: "this step checks the answer to the previous operation", note: "the step checks once, immediately"),
        after: .refused(reason: "this step checks the answer to the previous operation", note: nil))
    /// The clauses of a statement that a crowd's member executes.
    static let member = TimingClauses(
        within: .judged(note: nil),
        after: .refused(reason: "members of a crowd have only deadlines", note: "members have only deadlines"))
    static let read = TimingClauses(
        within: .judged(note: "the read's own timeout, which the subject applies"),
        after: .refused(reason: "this step only requests data", note: nil))
    static let wire = TimingClauses(
        within: .judged(note: nil), after: .refused(reason: "this step judges what was captured", note: nil))
}
