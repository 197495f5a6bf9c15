import ProbeBase

/// A place in the words of one file, which moves forward as the parts of the grammar read them.
///
/// All parts that read a file share one cursor, so it is a class: none of them can go on from a place that another has left behind.
final class TokenCursor {
    /// Blocks in blocks, parentheses in parentheses: what reads them recurses that deep.
    static let deepestNesting = 48

    let file: Int
    let bytes: [UInt8]
    /// Ends with one of kind `end`, which is never passed.
    let tokens: [Token]
    let context: ParseContext
    private(set) var index = 0
    /// Blocks and parentheses around this place.
    var nesting = 0
    /// Blocks around this place.
    var blockDepth = 0

    init(file: Int, bytes: [UInt8], tokens: [Token], context: ParseContext) {
        self.file = file
        self.bytes = bytes
        self.tokens = tokens
        self.context = context
    }

    // MARK: Words

    var token: Token { tokens[index] }
    var kind: Token.Kind { tokens[index].kind }

    func token(ahead: Int) -> Token {
        let target = index + ahead
        return target < tokens.count ? tokens[target] : tokens[tokens.count - 1]
    }

    /// The word that was taken last.
    var lastWord: Token { tokens[max(0, index - 1)] }

    /// The text of the word that stands here.
    var word: String { text(token) }

    func text(_ token: Token) -> String { bytes.text(Int(token.start)..<Int(token.end)) }

    func advance() {
        if index < tokens.count - 1 { index += 1 }
    }

    func isWord(_ word: StaticString, ahead: Int = 0) -> Bool {
        let token = token(ahead: ahead)
        return token.kind == .word && bytes.holds(word, in: Int(token.start)..<Int(token.end))
    }

    func isWord(_ word: [UInt8], ahead: Int) -> Bool {
        let token = token(ahead: ahead)
        let start = Int(token.start)
        guard token.kind == .word, Int(token.end) - start == word.count else { return false }
        for place in word.indices where bytes[start + place] != word[place] { return false }
        return true
    }

    /// Steps over the word, if it stands here.
    func take(word: StaticString) -> Bool {
        guard isWord(word) else { return false }
        advance()
        return true
    }

    func take(_ wanted: Token.Kind) -> Bool {
        guard kind == wanted else { return false }
        advance()
        return true
    }

    func expect(word: StaticString, _ example: String) throws(Abandoned) {
        guard take(word: word) else { throw expected("`\(word)`", example) }
    }

    func expect(_ wanted: Token.Kind, _ what: String, _ example: String? = nil) throws(Abandoned) {
        guard take(wanted) else { throw expected(what, example) }
    }

    /// The answer for a place some words further on.
    func at<Answer>(wordsAhead ahead: Int, _ ask: (TokenCursor) -> Answer) -> Answer {
        let here = index
        defer { index = here }
        index = min(index + ahead, tokens.count - 1)
        return ask(self)
    }

    // MARK: Spans

    /// Of the word that stands here.
    var place: SourceSpan { span(token) }

    func span(_ token: Token) -> SourceSpan {
        SourceSpan(file: file, start: Int(token.start), end: Int(token.end))
    }

    /// From the start of `first` to the end of the word before the current one.
    func span(from first: Token) -> SourceSpan {
        let last = index > 0 ? tokens[index - 1] : first
        return SourceSpan(file: file, start: Int(first.start), end: max(Int(first.end), Int(last.end)))
    }

    // MARK: Names

    /// A name that is used.
    func parseName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        guard kind == .word else { throw expected(what, example) }
        let name = Name(text(token), span(token))
        advance()
        return name
    }

    /// A name that is given.
    func parseNewName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        let name = try parseName(what, example)
        if ReservedNames.contains(name.value) {
            report(
                .reservedName, "nothing can be named `\(name.value)`: it starts a statement",
                hint: "take another name, such as `my-\(name.value)`", at: name.span)
            context.doubtful.insert(name.value)
        }
        return name
    }

    /// One of a closed list of words.
    func parseChoice<Choice: RawRepresentable<String>>(
        _ what: String, _ choices: [Choice]
    ) throws(Abandoned) -> Choice {
        let names = choices.map(\.rawValue)
        guard kind == .word else { throw expected("\(what) (\(names.joined(separator: ", ")))") }
        let word = text(token)
        guard let choice = choices.first(where: { $0.rawValue == word }) else {
            throw fail(.unknownWord(word, what: what, choices: names), at: span(token))
        }
        advance()
        return choice
    }
}

/// A part of the grammar: reads what it is about from the words at a cursor.
///
/// What can't be read is reported, and ``Abandoned`` is thrown. No part has a state of its own, so that each can be made where it is
/// needed; what is found out goes into the ``ParseContext`` of the cursor.
protocol GrammarPart: SendableMetatype {
    var cursor: TokenCursor { get }
}

extension GrammarPart {
    var context: ParseContext { cursor.context }
}

/// What the next words are, without stepping over them.
extension TokenCursor {
    /// `if needed` follows.
    var isIfNeeded: Bool { isWord("if") && isWord("needed", ahead: 1) }

    func takeIfNeeded() -> Bool {
        guard isIfNeeded else { return false }
        advance()
        advance()
        return true
    }

    /// The statement ends here.
    var isAtEnd: Bool {
        switch kind {
        case .newline, .semicolon, .end, .rightBrace: true
        default: false
        }
    }

    /// Whether a value can start here.
    var startsExpression: Bool {
        switch kind {
        case .string, .rawString, .number, .word, .leftParenthesis: true
        default: false
        }
    }

    /// Whether the word that stands here has a comparison behind it.
    var isCompared: Bool {
        switch token(ahead: 1).kind {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    /// Whether the word that stands here has `as` and a name behind it.
    var isNamed: Bool { isWord("as", ahead: 1) && token(ahead: 2).kind == .word }

    /// `line` and its like are contextual: with nothing of their own behind them they are the name of a variable.
    var isVariableHere: Bool {
        let next = token(ahead: 1)
        switch next.kind {
        case .string, .rawString, .regex: return false
        case .number, .hexDigits, .bracketedHost: return false
        case .leftParenthesis: return true
        case .word:
            let after = token(ahead: 2)
            switch text(next) {
            case "within", "after", "every": return after.kind == .number
            case "from": return after.kind == .word && ConversationSide(word: text(after)) != nil
            case "at": return after.kind == .number
            case "cut": return after.kind == .word && text(after) == "at"
            case "in": return after.kind == .word && ["pieces", "records"].contains(text(after))
            case "bytes": return true
            default: return false
            }
        default: return true
        }
    }

    /// The word has nothing behind it that makes it something else than a keyword.
    var isAlone: Bool {
        switch token(ahead: 1).kind {
        case .leftParenthesis, .plus, .minus, .star, .dot: false
        default: isVariableHere
        }
    }

    /// Whether a word stands in the rest of the statement, behind the next word.
    func statementHolds(_ word: StaticString) -> Bool {
        var ahead = 2
        while true {
            switch token(ahead: ahead).kind {
            case .newline, .semicolon, .end, .rightBrace: return false
            case .word where isWord(word, ahead: ahead): return true
            default: ahead += 1
            }
        }
    }
}

/// The statement can't be read any further; why was reported.
struct Abandoned: Error {}

extension TokenCursor {
    func report(
        _ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        context.report(id, text, hint: hint, at: span, notes: notes)
    }

    func report(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        context.report(message(), at: span, notes: notes)
    }

    /// Reports what should stand here instead.
    func expected(_ what: String, _ example: String? = nil) -> Abandoned {
        // What the lexer reported needs no second report.
        if kind != .invalid {
            report(.expected(what, found: described, example: example), at: spanForReport)
        }
        return Abandoned()
    }

    func fail(_ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan) -> Abandoned {
        report(id, text, hint: hint, at: span)
        return Abandoned()
    }

    func fail(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan) -> Abandoned {
        report(message(), at: span)
        return Abandoned()
    }

    /// Where a caret points that says "here": the end of the line is the place behind its last word.
    private var spanForReport: SourceSpan {
        guard kind == .newline || kind == .end, index > 0 else { return span(token) }
        let end = Int(tokens[index - 1].end)
        return SourceSpan(file: file, start: end, end: end)
    }

    var described: String {
        switch kind {
        case .newline, .end: "the end of the line"
        case .invalid: "something unreadable"
        default: Escaped.quoted(String(text(token).prefix(40)))
        }
    }

    // MARK: What can't be read

    /// Notes the words from `start` up to this one: what the statement says may be in doubt in the rest of the script.
    func doubtWords(from start: Int) {
        for token in tokens[start...].prefix(max(index - start, 0) + 1) where token.kind == .word {
            context.doubtful.insert(text(token))
        }
    }

    /// Passes over the rest of a statement whose construct was reported; what it names is in doubt.
    func skipStatement() {
        var braces = 0
        while kind != .end {
            switch kind {
            case .leftBrace: braces += 1
            case .rightBrace:
                if braces == 0, blockDepth > 0 { return }
                braces -= 1
                if braces < 0 { return }
            case .newline, .semicolon:
                if braces == 0 { return }
            case .word: context.doubtful.insert(text(token))
            default: break
            }
            advance()
        }
    }
}

extension Diagnostic.Message {
    static func expected(_ what: String, found: String, example: String?) -> Self {
        Self(
            .expected, "\(what) is expected here, not \(found)",
            hint: ForeignWords.instead(of: found, expected: what) ?? example.map { "for example: \($0)" })
    }
}
