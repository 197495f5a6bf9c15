package import ProbeBase

/// What is known about one thing that a script can say. The parser's hints, the checker, the subject's capabilities, the editors'
/// grammars, the completions, `tcpprobe explain` and the tables of the reference are made from it.
package struct LanguageEntry: Sendable {
    /// One row of the reference: a form of the thing, and what it means.
    package struct Row: Sendable {
        /// As they are written, without the actor.
        package var forms: [String]
        package var meaning: String
    }

    /// The words that it begins with; unique among the things of its kind. A `…` stands for a value.
    package var spelling: String
    /// What a message calls it.
    package var word: String
    /// As lists of choices show it; nil where another entry stands for it there.
    package var choice: String?
    /// The first one says what it does in one line; the others are about its clauses.
    package var rows: [Row]
    /// A use of it without the actor, which the checker accepts after ``preparation``.
    package var example: String
    /// The steps that have to stand before the example.
    package var preparation: String?
    /// nil for what no clause can stand behind.
    package var timing: TimingClauses?
    /// What a subject has to be able to do.
    package var capability: TransportCapability?
    /// A failure points at what stands behind the words, not at the words.
    var pointsAtOperand = false
    /// Only a server's end of a connection does it.
    var isOfServer = false
    /// It sets up what has to take effect before the case ends, so that `if needed` may follow it.
    package var canBeUnneeded = false

    /// - Parameters:
    ///   - forms: of the first row.
    ///   - more: the further rows.
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

    /// The example is the form.
    init(
        _ spelling: String, _ meaning: String, more: [(forms: [String], meaning: String)] = [], example: String,
        after preparation: String? = nil, word: String? = nil, choice: String? = "", timing: TimingClauses? = .neither,
        needs capability: TransportCapability? = nil
    ) {
        self.init(
            spelling, [example], meaning, more: more, example: example, after: preparation, word: word, choice: choice,
            timing: timing, needs: capability)
    }

    func ofServer() -> LanguageEntry {
        var entry = self
        entry.isOfServer = true
        return entry
    }

    func ifNeeded() -> LanguageEntry {
        var entry = self
        entry.canBeUnneeded = true
        return entry
    }

    /// One line: what it does.
    package var meaning: String { rows.first?.meaning ?? "" }
}

/// What `within` and `after` mean behind a step, or why they have no meaning there.
package struct TimingClauses: Sendable {
    package enum Clause: Sendable {
        /// It bounds when the step is met, and is judged. `note` is for the reference.
        case judged(note: String?)
        /// The check refuses it: `reason` says why to the script's author, `note` to the reference's reader.
        case refused(reason: String, note: String?)

        /// As a cell of the reference.
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

    /// It waits for something.
    static let both = TimingClauses(within: .judged(note: nil), after: .judged(note: nil))
    /// It takes no time of its own.
    static let neither = TimingClauses(
        within: .refused(reason: "`{}` does not", note: nil), after: .refused(reason: "this one does not", note: nil))
    static let send = TimingClauses(
        within: .refused(reason: "a send ends when the kernel has taken it all: `timeout` bounds it", note: nil),
        after: .refused(reason: "this one does not", note: nil))
    static let silentConnect = TimingClauses(
        within: .judged(note: nil),
        after: .refused(
            reason: "this one passes at its deadline, when no answer has come", note: "it passes at its deadline"))
    static let silence = TimingClauses(
        within: .refused(reason: "this one says how long with `for`", note: "they say `for`"),
        after: .refused(reason: "this one waits for nothing", note: nil))
    static let silentOutput = TimingClauses(
        within: .refused(
            reason: "this one looks at once, or says how long with `for`", note: "it looks at once, or says `for`"),
        after: .refused(reason: "this one waits for nothing", note: nil))
    static let lookAtOnce = TimingClauses(
        within: .refused(reason: "this one looks at once", note: "it looks at once"),
        after: .refused(reason: "this one looks at once", note: nil))
    static let amount = TimingClauses(
        within: .judged(note: nil),
        after: .refused(reason: "this one is met as soon as the number fits", note: "they are met as soon as it fits"))
    static let answerBefore = TimingClauses(
        within: .refused(
            reason: "this one looks at what the operation before it has answered", note: "it looks at once"),
        after: .refused(reason: "this one looks at what the operation before it has answered", note: nil))
    /// Of a member of a crowd.
    static let member = TimingClauses(
        within: .judged(note: nil),
        after: .refused(reason: "a member of a crowd only has deadlines", note: "members only have deadlines"))
    static let read = TimingClauses(
        within: .judged(note: "the read's own timeout, told to the subject"),
        after: .refused(reason: "this one only asks", note: nil))
    static let wire = TimingClauses(
        within: .judged(note: nil), after: .refused(reason: "this one looks at what was captured", note: nil))
}
