/// Whether a file looks like a scenario at all. Of one that does not, a message for each of its lines would help nobody.
struct ScenarioEvidence {
    /// A statement was read without an error.
    var wasRead = false
    private var statements = 0
    /// A line begins as a statement does, or nearly so.
    private var hasWord = false
    private var unreadable: Unreadable?

    private enum Unreadable {
        case holdsNUL, isNotUTF8
    }

    /// A few lines of mistakes are told one by one, whatever they are.
    private static let fewStatements = 10

    /// - Parameters:
    ///   - word: the one that it begins with; nil where it begins with none.
    ///   - next: the word behind it.
    mutating func noteStatement(_ word: String?, next: String) {
        statements += 1
        guard let word, !hasWord, statements <= Self.fewStatements else { return }
        hasWord =
            ReservedNames.contains(word) || Suggestion.isNear(word) || ForeignWords.isStatement(word)
            || LanguageTable.firstWordsOfVerbs.contains(next)
    }

    /// The bytes of a file that is no text.
    mutating func noteBytes(_ bytes: [UInt8]) {
        guard bytes.count <= Lexer.largestScript, !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]),
            !Self.hasTitle(bytes)
        else { return }
        unreadable = bytes.contains(0) ? .holdsNUL : .isNotUTF8
    }

    /// Whether a line begins with `scenario`.
    private static func hasTitle(_ bytes: [UInt8]) -> Bool {
        let word = Array("scenario".utf8)
        var isLineStart = true
        for (index, byte) in bytes.enumerated() {
            if isLineStart, byte == word[0], bytes[index...].starts(with: word) { return true }
            isLineStart = byte == 0x0A || isLineStart && (byte == 0x20 || byte == 0x09 || index < 3 && byte >= 0x80)
        }
        return false
    }

    /// Why the file is no scenario; nil where it is one, perhaps with mistakes.
    var verdict: StructureDiagnosticKind? {
        switch unreadable {
        case .holdsNUL: .noScenario("it holds NUL bytes, and is no text")
        case .isNotUTF8: .noScenario("it is no UTF-8 text")
        case nil:
            statements == 0 || wasRead || hasWord && statements <= Self.fewStatements
                ? nil : .noScenario("none of its lines is a statement")
        }
    }
}
