/// Determines whether a file looks like a scenario at all. If the file does not, a message for each of its lines would
/// not help the user.
struct ScenarioEvidence {
    /// Whether a statement was read without an error.
    var wasRead = false
    /// The number of unreadable statements before the title.
    var unreadBeforeTitle = 0
    private var statements = 0
    /// Whether a line begins with the first word of a statement, or with a similar word.
    private var hasWord = false
    private var unreadable: Unreadable?

    private enum Unreadable {
        case holdsNUL, isNotUTF8
    }

    /// The number of statements up to which every error is reported individually.
    private static let fewStatements = 10
    /// The largest number of unreadable lines before the title that are regarded as mistakes. If there are more
    /// unreadable lines, the file is regarded as prose.
    private static let fewUnread = 5

    /// Records a statement.
    ///
    /// - Parameters:
    ///   - word: the statement's first word; `nil` if the statement does not begin with a word.
    ///   - next: the second word of the statement.
    mutating func noteStatement(_ word: String?, next: String) {
        statements += 1
        guard let word, !hasWord, statements <= Self.fewStatements else { return }
        hasWord =
            ReservedNames.contains(word) || Suggestion.isNear(word) || ForeignWords.isStatement(word)
            || LanguageTable.firstWordsOfVerbs.contains(next)
    }

    /// Records the bytes of a file that is not text.
    mutating func noteBytes(_ bytes: [UInt8]) {
        guard bytes.count <= Lexer.largestScript, !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]),
            !Self.hasTitle(bytes)
        else { return }
        unreadable = bytes.contains(0) ? .holdsNUL : .isNotUTF8
    }

    /// Returns whether a line begins with `scenario`.
    private static func hasTitle(_ bytes: [UInt8]) -> Bool {
        let word = Array("scenario".utf8)
        var isLineStart = true
        for (index, byte) in bytes.enumerated() {
            if isLineStart, byte == word[0], bytes[index...].starts(with: word) { return true }
            isLineStart = byte == 0x0A || isLineStart && (byte == 0x20 || byte == 0x09 || index < 3 && byte >= 0x80)
        }
        return false
    }

    /// Returns why the file is not a scenario, and the place that shows why; `nil` if the file is a scenario, possibly
    /// with mistakes. Called only for a file with errors.
    ///
    /// - Parameter title: the span of the statement `scenario "…"`.
    func verdict(on bytes: [UInt8], title: SourceSpan?) -> (Diagnostic.Message, SourceSpan)? {
        let start = SourceSpan(file: 0, start: 0, end: 0)
        switch unreadable {
        case .holdsNUL: return (.noScenario("it is not text, because it contains NUL bytes"), start)
        case .isNotUTF8: return (.noScenario("it is not UTF-8 text"), start)
        case nil: break
        }
        let head = bytes[..<min(title?.start ?? bytes.count, bytes.count)]
        if head.count <= Lexer.largestScript, let fence = Self.fence(in: head) { return (.markdown, fence) }
        if let title, unreadBeforeTitle > Self.fewUnread, title.start < bytes.count {
            let line = 1 + bytes[..<title.start].count { $0 == 0x0A }
            return (.scenarioInText(line: line), start)
        }
        let isOne = statements == 0 || wasRead || hasWord && statements <= Self.fewStatements
        return isOne ? nil : (.noScenario("none of its lines is a statement"), start)
    }

    /// Returns the first line that opens a Markdown code block with three backticks or tildes. A line of a scenario
    /// never begins with such characters.
    private static func fence(in bytes: ArraySlice<UInt8>) -> SourceSpan? {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let text = bytes[start..<end].drop { $0 == 0x20 || $0 == 0x09 }
            if text.starts(with: "```".utf8) || text.starts(with: "~~~".utf8) {
                return SourceSpan(file: 0, start: text.startIndex, end: text.startIndex + 3)
            }
            start = end + 1
        }
        return nil
    }
}

extension Diagnostic.Message {
    /// The message for a file that is not a scenario.
    static func noScenario(_ reason: String) -> Self {
        Self(.noScenario, "this is not a scenario: \(reason)")
    }

    /// The message for a Markdown file, which may contain scenarios.
    static let markdown = Self(
        .noScenario, "this is a Markdown file, not a scenario: a code block begins here",
        hint: "copy the example, without the ``` lines, to a file whose name ends in .scn")

    /// The message for prose that contains the title of a scenario at the given line.
    static func scenarioInText(line: Int) -> Self {
        Self(
            .noScenario, "this is not a scenario file, but text with a scenario that begins at line \(line)",
            hint: "copy the scenario to a file whose name ends in .scn")
    }
}
