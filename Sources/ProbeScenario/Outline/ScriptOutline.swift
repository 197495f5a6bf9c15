/// The statements and names of one file, found from its tokens alone, so that an outline also exists for a script that
/// is being typed or has errors. Creating an outline never traps, and takes time linear in the length of the text.
package struct ScriptOutline: Sendable {
    /// A statement: the tokens between the end of the previous statement and its own end.
    package struct Statement: Sendable {
        /// The range of the statement's tokens in ``tokens``; empty if a block begins without any words before its
        /// brace.
        package var tokens: Range<Int>
        /// The statement whose block contains this statement, as an index into ``statements``; `nil` outside blocks.
        package var opener: Int?
    }

    /// The role of a name.
    package enum Role: Sendable, Equatable {
        case actor(ActorKind)
        /// A name from `let`, `each`, `for`, `as` or a group of a regex.
        case value
        case definition
        case table
    }

    /// A place that binds a name.
    package struct Binding: Sendable {
        package var name: String
        package var role: Role
        /// The range of the name, in bytes.
        package var span: Range<Int>
        /// The statement, as an index into ``statements``.
        package var statement: Int
    }

    /// The path that an `include` or a `file(…)` names.
    package struct FileReference: Sendable {
        /// The path as written, with its escapes.
        package var path: String
        package var span: Range<Int>
        package var isInclude: Bool
    }

    package let bytes: [UInt8]
    package let tokens: [Token]
    package let comments: [Range<Int>]
    package private(set) var statements: [Statement] = []
    package private(set) var bindings: [Binding] = []
    package private(set) var files: [FileReference] = []
    /// The first step outside blocks, as an index into ``statements``; `nil` if there is none.
    package private(set) var firstStep: Int?
    /// The kind of each actor, as determined by the first place that binds its name.
    private var actors: [String: ActorKind] = [:]

    /// Creates the outline of a file; a file that is not text has no statements.
    package init(_ bytes: [UInt8]) {
        let list = Lexer.tokens(file: 0, bytes: bytes)
        self.bytes = bytes
        tokens = list.tokens
        comments = list.comments
        divide()
        for index in statements.indices { collect(index) }
    }

    /// Divides the tokens into statements. A brace between parentheses is part of a value.
    private mutating func divide() {
        var openers: [Int] = []
        var depth = 0
        var start = 0
        func statement(_ end: Int) -> Statement { Statement(tokens: start..<end, opener: openers.last) }
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .leftParenthesis: depth += 1
            case .rightParenthesis: depth = max(0, depth - 1)
            case .newline, .semicolon, .end:
                if index > start { statements.append(statement(index)) }
                start = index + 1
                depth = 0
            case .leftBrace where depth == 0:
                statements.append(statement(index))
                openers.append(statements.count - 1)
                start = index + 1
            case .rightBrace where depth == 0:
                if index > start { statements.append(statement(index)) }
                _ = openers.popLast()
                start = index + 1
            default: break
            }
        }
    }

    // MARK: Names

    private static let declarations: [String: ActorKind] = [
        "server": .server, "client": .client, "subject": .subject, "process": .process,
    ]

    private mutating func collect(_ index: Int) {
        let statement = statements[index]
        let words = tokens[statement.tokens]
        guard let first = words.first, first.kind == .word else { return }
        let keyword = text(of: first)
        if statement.opener == nil, firstStep == nil, !HeaderStatement.begins(words, of: bytes) { firstStep = index }
        let second = words.dropFirst().first
        let third = words.dropFirst(2).first?.kind
        switch keyword {
        case "server", "client", "subject", "process":
            if let kind = Self.declarations[keyword] { bind(second, .actor(kind), index) }
        case "proxy" where third == .arrow: bind(second, .actor(.proxy), index)
        case "crowd" where third == .assign: bind(second, .actor(.crowd), index)
        case "define": bind(second, .definition, index)
        case "table": bind(second, .table, index)
        case "let": bind(second, .value, index)
        case "each", "for":
            for token in words.dropFirst() {
                if token.kind == .comma { continue }
                if token.kind != .word || text(of: token) == "in" { break }
                bind(token, .value, index)
            }
        case "include":
            if let second { refer(to: second, isInclude: true) }
        default: break
        }
        collectClauses(words, keyword, index)
    }

    /// Collects the names from `as` and from groups of regexes, and the files of `file(…)`.
    private mutating func collectClauses(_ words: ArraySlice<Token>, _ keyword: String, _ statement: Int) {
        var isAccept = false
        var before: [String] = []
        for token in words {
            switch token.kind {
            case .word:
                let word = text(of: token)
                if before.last == "as", before.count > 1 {
                    bind(token, isAccept ? .actor(kindOfAccepted(by: keyword)) : .value, statement)
                }
                if word == "accept" { isAccept = true }
                before.append(word)
                continue
            case .regex: bindGroups(token, statement)
            case .string, .rawString:
                if before.suffix(2) == ["file", "("] { refer(to: token, isInclude: false) }
            default: break
            }
            before.append(token.kind == .leftParenthesis ? "(" : "")
        }
    }

    private func kindOfAccepted(by actor: String) -> ActorKind {
        switch actors[actor] {
        case .subject: .subject
        case .proxy: .proxy
        default: .connection
        }
    }

    private mutating func bind(_ token: Token?, _ role: Role, _ statement: Int) {
        guard let token, token.kind == .word else { return }
        bind(text(of: token), Int(token.start)..<Int(token.end), role, statement)
    }

    private mutating func bind(_ name: String, _ span: Range<Int>, _ role: Role, _ statement: Int) {
        bindings.append(Binding(name: name, role: role, span: span, statement: statement))
        if case .actor(let kind) = role, actors[name] == nil { actors[name] = kind }
    }

    /// Binds the names of the groups in a regex: `(?<name>…)`.
    private mutating func bindGroups(_ token: Token, _ statement: Int) {
        var index = Int(token.start)
        while index + 3 < Int(token.end) {
            if bytes[index] == UInt8(ascii: "\\") {
                index += 2
                continue
            }
            let start = index + 3
            index += 1
            guard bytes.holds("(?<", in: start - 3..<start) else { continue }
            let end = bytes.endOfWord(from: start)
            if end > start, end < Int(token.end), bytes[end] == UInt8(ascii: ">") {
                bind(bytes.text(start..<end), start..<end, .value, statement)
            }
        }
    }

    private mutating func refer(to token: Token, isInclude: Bool) {
        guard token.kind == .string || token.kind == .rawString, token.end - token.start > 2 else { return }
        let span = Int(token.start) + 1..<Int(token.end) - 1
        files.append(FileReference(path: bytes.text(span), span: span, isInclude: isInclude))
    }

    // MARK: Queries

    package func text(of token: Token) -> String { bytes.text(Int(token.start)..<Int(token.end)) }

    /// Returns the kind of an actor; `nil` if the name is not an actor.
    package func kind(of actor: String) -> ActorKind? { actors[actor] }

    /// The actors and their kinds.
    package var knownActors: [String: ActorKind] { actors }

    /// Returns the range of a statement in bytes, without the brace after it.
    package func span(of statement: Int) -> Range<Int> {
        let words = tokens[statements[statement].tokens]
        guard let first = words.first, let last = words.last else { return 0..<0 }
        return Int(first.start)..<Int(last.end)
    }

    /// Returns the token at an offset. If two tokens meet at the offset, returns the second token if it is a word, and
    /// the first token otherwise.
    package func token(at offset: Int) -> Int? {
        var low = 0
        var high = tokens.count
        while low < high {
            let middle = (low + high) / 2
            if Int(tokens[middle].start) <= offset { low = middle + 1 } else { high = middle }
        }
        var index = low - 1
        while index >= 0, [.newline, .end].contains(tokens[index].kind) { index -= 1 }
        guard index >= 0, offset <= Int(tokens[index].end) else { return nil }
        let isWord = tokens[index].kind == .word
        if !isWord, Int(tokens[index].start) == offset, index > 0, Int(tokens[index - 1].end) == offset { index -= 1 }
        return index
    }

    /// Returns the statement that contains a token; `nil` for a token between statements.
    package func statement(of token: Int) -> Int? {
        var low = 0
        var high = statements.count
        while low < high {
            let middle = (low + high) / 2
            if statements[middle].tokens.lowerBound <= token { low = middle + 1 } else { high = middle }
        }
        guard low > 0, statements[low - 1].tokens.contains(token) else { return nil }
        return low - 1
    }

    package func isInComment(_ offset: Int) -> Bool {
        comments.contains { $0.lowerBound < offset && offset <= $0.upperBound }
    }
}
