import ProbeBase

/// A position in the tokens of one file. The position advances as the parts of the grammar read tokens.
///
/// The cursor is a class, so that all parts that parse a file share it and no part can continue from an outdated
/// position.
final class TokenCursor {
    /// The maximum nesting depth of blocks and parentheses, which bounds the recursion of the parser.
    static let maxNestingDepth = 48

    let file: Int
    let bytes: [UInt8]
    /// The tokens. The last token has the kind `end`, and the cursor never moves past this token.
    let tokens: [Token]
    let context: ParseContext
    private(set) var index = 0
    /// The number of blocks and parentheses that enclose the current position.
    var nesting = 0
    /// The number of blocks that enclose the current position.
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

    /// The token that was consumed last.
    var lastWord: Token { tokens[max(0, index - 1)] }

    /// The text of the current token.
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

    /// Consumes the current token if it is this word, and returns whether the token was consumed.
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

    /// Returns the result of `ask`, called with the cursor temporarily moved ahead by the given number of words.
    func at<Answer>(wordsAhead ahead: Int, _ ask: (TokenCursor) -> Answer) -> Answer {
        let here = index
        defer { index = here }
        index = min(index + ahead, tokens.count - 1)
        return ask(self)
    }

    // MARK: Spans

    /// The span of the current token.
    var place: SourceSpan { span(token) }

    func span(_ token: Token) -> SourceSpan {
        SourceSpan(file: file, start: Int(token.start), end: Int(token.end))
    }

    /// Returns the span from the start of `first` to the end of the token before the current token.
    func span(from first: Token) -> SourceSpan {
        let last = index > 0 ? tokens[index - 1] : first
        return SourceSpan(file: file, start: Int(first.start), end: max(Int(first.end), Int(last.end)))
    }

    // MARK: Names

    /// Parses a name that refers to something defined elsewhere.
    func parseName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        guard kind == .word else { throw expected(what, example) }
        let name = Name(text(token), span(token))
        advance()
        return name
    }

    /// Parses a name that is being defined.
    func parseNewName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        let name = try parseName(what, example)
        if ReservedNames.contains(name.value) {
            report(
                .reservedName, "`\(name.value)` can't be used as a name: it starts a statement",
                hint: "use another name, such as `my-\(name.value)`", at: name.span)
            context.doubtful.insert(name.value)
        }
        return name
    }

    /// Parses a word that must be in a fixed list.
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

/// A part of the grammar, which parses its constructs from the tokens at a cursor.
///
/// A part reports an error, and then throws ``Abandoned``. A part is stateless, so it can be created wherever it is
/// needed; results are stored in the ``ParseContext`` of the cursor.
protocol GrammarPart: SendableMetatype {
    var cursor: TokenCursor { get }
}

extension GrammarPart {
    var context: ParseContext { cursor.context }
}

/// Queries about the next tokens, which do not consume them.
extension TokenCursor {
    /// Whether the next words are `if needed`.
    var isIfNeeded: Bool { isWord("if") && isWord("needed", ahead: 1) }

    func takeIfNeeded() -> Bool {
        guard isIfNeeded else { return false }
        advance()
        advance()
        return true
    }

    /// Whether the statement ends at the current token.
    var isAtEnd: Bool {
        switch kind {
        case .newline, .semicolon, .end, .rightBrace: true
        default: false
        }
    }

    /// Whether a value can start with the current token.
    var startsExpression: Bool {
        switch kind {
        case .string, .rawString, .number, .word, .leftParenthesis: true
        default: false
        }
    }

    /// Whether a comparison follows the current word.
    var isCompared: Bool {
        switch token(ahead: 1).kind {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    /// Whether `as` and a name follow the current word.
    var isNamed: Bool { isWord("as", ahead: 1) && token(ahead: 2).kind == .word }

    /// Whether the current word is a variable. `line` and similar words are contextual: without an operand or a clause
    /// after them, they are names of variables.
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

    /// Whether the current word can be a keyword without an operand, judging by the next token.
    var isAlone: Bool {
        switch token(ahead: 1).kind {
        case .leftParenthesis, .plus, .minus, .star, .dot: false
        default: isVariableHere
        }
    }

    /// Returns whether a word occurs in the rest of the statement, after the next word.
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

/// The error that ends the parsing of a statement; the cause has already been reported.
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

    /// Reports what was expected instead of the current token.
    func expected(_ what: String, _ example: String? = nil) -> Abandoned {
        // The lexer has already reported an invalid token.
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

    /// The span to which an error at the current position points: the span of the current token or, at the end of a
    /// line, the position after the last token of the line.
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

    // MARK: Recovery

    /// Marks the words from `start` up to the current word as doubtful, because later errors about these words may be
    /// consequences of an error that has been reported.
    func doubtWords(from start: Int) {
        for token in tokens[start...].prefix(max(index - start, 0) + 1) where token.kind == .word {
            context.doubtful.insert(text(token))
        }
    }

    /// Skips the rest of a statement whose error has been reported, and marks the names in it as doubtful.
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
            .expected, "expected \(what), found \(found)",
            hint: ForeignWords.instead(of: found, expected: what) ?? example.map { "for example: \($0)" })
    }
}
