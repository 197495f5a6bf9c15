import ProbeBase

/// Reads the words of one file into a ``ParseContext``. A statement that can't be read is reported, and reading goes on with
/// the next one. Never recurses deeper than ``deepestNesting``.
struct Parser {
    /// Blocks in blocks, parentheses in parentheses.
    static let deepestNesting = 48

    let file: Int
    let bytes: [UInt8]
    let tokens: [Token]
    let context: ParseContext
    var index = 0
    var nesting = 0
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

    func span(_ token: Token) -> SourceSpan {
        SourceSpan(file: file, start: Int(token.start), end: Int(token.end))
    }

    func text(_ token: Token) -> String { bytes.text(Int(token.start)..<Int(token.end)) }

    /// From the start of `first` to the end of the word before the current one.
    func span(from first: Token) -> SourceSpan {
        let last = index > 0 ? tokens[index - 1] : first
        return SourceSpan(file: file, start: Int(first.start), end: max(Int(first.end), Int(last.end)))
    }

    /// The word that was taken last.
    var lastWord: Token { tokens[max(0, index - 1)] }

    mutating func advance() {
        if index < tokens.count - 1 { index += 1 }
    }

    func isWord(_ word: StaticString, ahead: Int = 0) -> Bool {
        let token = token(ahead: ahead)
        return token.kind == .word && bytes.holds(word, in: Int(token.start)..<Int(token.end))
    }

    mutating func take(word: StaticString) -> Bool {
        guard isWord(word) else { return false }
        advance()
        return true
    }

    mutating func take(_ wanted: Token.Kind) -> Bool {
        guard kind == wanted else { return false }
        advance()
        return true
    }

    mutating func expect(word: StaticString, _ example: String) throws(Abandoned) {
        guard take(word: word) else { throw expected("`\(word)`", example) }
    }

    mutating func expect(_ wanted: Token.Kind, _ what: String, _ example: String? = nil) throws(Abandoned) {
        guard take(wanted) else { throw expected(what, example) }
    }

    /// The statement ends here.
    var isAtEnd: Bool {
        switch kind {
        case .newline, .semicolon, .end, .rightBrace: true
        default: false
        }
    }

    // MARK: Reports

    func report(_ kind: DiagnosticKind, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        context.diagnostics.add(kind, at: span, notes: notes)
    }

    /// Reports what should stand here instead.
    func expected(_ what: String, _ example: String? = nil) -> Abandoned {
        // What the lexer reported needs no second report.
        if kind != .invalid {
            report(.syntax(.expected(what, found: described, example: example)), at: spanForReport)
        }
        return Abandoned()
    }

    func fail(_ kind: SyntaxDiagnosticKind, at span: SourceSpan) -> Abandoned {
        report(.syntax(kind), at: span)
        return Abandoned()
    }

    /// Where a caret points that says "here": the end of the line is the place behind its last word.
    var spanForReport: SourceSpan {
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

    // MARK: Names

    /// A name that is used.
    mutating func parseName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        guard kind == .word else { throw expected(what, example) }
        let name = Name(text(token), span(token))
        advance()
        return name
    }

    /// A name that is given.
    mutating func parseNewName(_ what: String, _ example: String? = nil) throws(Abandoned) -> Name {
        let name = try parseName(what, example)
        if ReservedNames.contains(name.value) {
            report(.name(.reserved(name.value)), at: name.span)
            context.doubtful.insert(name.value)
        }
        return name
    }

    // MARK: Statements

    /// The end of a statement; what else stands there is reported.
    mutating func parseEndOfStatement() throws(Abandoned) {
        switch kind {
        case .newline, .end: advance()
        case .semicolon:
            if blockDepth == 0 { report(.syntax(.semicolonOutsideBlock), at: span(token)) }
            advance()
        case .rightBrace where blockDepth > 0: return
        case .rightBrace: throw fail(.unmatchedBrace, at: span(token))
        case .slash, .regex: throw fail(.unexpectedSlash, at: span(token))
        case .minus where token(ahead: -1).kind == .number || token(ahead: -1).kind == .word:
            throw fail(.expected("the end of the line", found: described, example: nil), at: span(token))
        default: throw expected("the end of the line")
        }
    }

    /// After a statement that could not be read: to its end. What it says may be in doubt in the rest of the script.
    mutating func recover(from start: Int) {
        for token in tokens[start...].prefix(max(index - start, 0) + 1) where token.kind == .word {
            context.doubtful.insert(text(token))
        }
        while true {
            switch kind {
            case .newline, .semicolon:
                advance()
                return
            case .end: return
            case .rightBrace:
                if blockDepth > 0 { return }
                advance()
            case .leftBrace where nesting < Self.deepestNesting:
                // The block's own mistakes are told too.
                do { _ = try parseBlock() } catch {}
            default:
                if kind == .word { context.doubtful.insert(text(token)) }
                advance()
            }
        }
    }

}

/// The statement can't be read any further; why was reported.
struct Abandoned: Error {}
