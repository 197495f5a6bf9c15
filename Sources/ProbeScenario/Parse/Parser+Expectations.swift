import ProbeBase

extension Parser {
    /// What follows `expect`.
    mutating func parseExpectation(of actor: Name, _ actorKind: ActorKind?) throws(Abandoned) -> Action {
        if let candidate = try take(LanguageTable.expectations(of: actorKind)) {
            return try candidate.phrase.read(&self)
        }
        if kind == .regex { throw fail(.regexNeedsLine, at: span(token)) }
        if kind == .word, isMisspelt { throw unknownExpectation(of: actor) }
        let value = try parseExpression("what is expected", "expect \"text\"")
        if take(word: "bytes") { return .connection(.expect(.count(value, as: try parseAs()))) }
        if isWord("as") { throw fail(.asNotHere, at: span(token)) }
        return actorKind == .subject ? .subject(.expect(.bytes(value))) : .connection(.expect(.bytes(value)))
    }

    /// A word with another word behind it that is no clause: no variable is written so.
    private var isMisspelt: Bool {
        let next = token(ahead: 1)
        switch next.kind {
        case .string, .rawString, .regex, .number: return true
        case .word: return !["within", "after", "bytes", "as"].contains(text(next))
        default: return false
        }
    }

    private func unknownExpectation(of actor: Name) -> Abandoned {
        fail(
            .unknownExpectation(text(token), kind: context.actorKinds[actor.value].map(ActorWord.init)), at: span(token)
        )
    }

    mutating func parseAs() throws(Abandoned) -> Name? {
        guard take(word: "as") else { return nil }
        return try parseNewName("a name", "as x")
    }

    /// The word has nothing behind it that makes it something else than a keyword.
    var isAlone: Bool {
        let next = token(ahead: 1)
        return isVariableHere && next.kind != .leftParenthesis && !startsOperator(next)
    }

    private func startsOperator(_ token: Token) -> Bool {
        [.plus, .minus, .star, .dot].contains(token.kind)
    }

    func startsComparison(_ token: Token) -> Bool {
        [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(token.kind)
    }

    /// `"text"`, `/re/`, `as x`, `NAME`, with `as x` behind it where one is meant.
    mutating func parsePattern(_ example: String) throws(Abandoned) -> (Pattern, Name?) {
        if isWord("as"), token(ahead: 1).kind == .word { return (.any, try parseAs()) }
        if kind == .regex {
            let regex = try parseRegex()
            return (.regex(regex), try parseAs())
        }
        let value = try parseExpression("a value, a regex, or `as` and a name", example)
        return (.value(value), try parseAs())
    }

    /// `"a", /b/, optional /c/`
    mutating func parseOpenLines() throws(Abandoned) -> [(isOptional: Bool, pattern: Pattern)] {
        let example = "expect lines in any order \"a\", /b/, optional /c/"
        var lines: [(isOptional: Bool, pattern: Pattern)] = []
        repeat {
            var isOptional = false
            if isWord("optional"), !isVariableHere {
                isOptional = true
                advance()
            }
            if kind == .regex {
                lines.append((isOptional, .regex(try parseRegex())))
            } else {
                lines.append((isOptional, .value(try parseExpression("a value or a regex", example))))
            }
        } while take(.comma)
        return lines
    }

    mutating func parseFor(_ example: String) throws(Abandoned) -> Duration {
        try expect(word: "for", example)
        return try parseDuration(example)
    }

    mutating func parseReason() throws(Abandoned) -> String? {
        guard kind == .word, !isWord("within"), !isWord("after") else { return nil }
        let name = try parseName("a reason")
        return name.value
    }

    mutating func parseExit() throws(Abandoned) -> ProcessExpectation.ExitExpectation {
        if isAtEnd || isWord("within") || isWord("after") { return .any }
        if isWord("signal"), token(ahead: 1).kind == .word {
            advance()
            return .signal(try parseSignal())
        }
        return .status(try parseExpression("an exit status", "expect exit 0"))
    }

    /// `<= 100`; a number alone is to be equal.
    mutating func parseComparison(_ example: String, needsOperator: Bool = false) throws(Abandoned) -> (
        Comparison, Expression
    ) {
        guard let comparison = takeComparison() else {
            if needsOperator { throw expected("`<=`, `>=`, `<`, `>`, `==` or `!=`", example) }
            return (.equal, try parseExpression("a number", example))
        }
        return (comparison, try parseExpression("a number", example))
    }
}
