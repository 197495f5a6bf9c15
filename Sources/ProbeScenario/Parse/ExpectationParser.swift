import ProbeBase

/// Parses the expectations of an actor.
struct ExpectationParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }
    var literals: LiteralParser { LiteralParser(cursor: cursor) }

    /// Parses what follows `expect`.
    func parseExpectation(of actor: Name, _ actorKind: ActorKind?) throws(Abandoned) -> Action {
        let action = try parseExpectationAlone(of: actor, actorKind)
        guard actorKind == .proxy, case .connection(.expect(let expectation)) = action else { return action }
        return .proxy(try ProxyParser(cursor: cursor).parseSource(of: expectation))
    }

    private func parseExpectationAlone(of actor: Name, _ actorKind: ActorKind?) throws(Abandoned) -> Action {
        if let candidate = try cursor.take(LanguageTable.expectations(of: actorKind)) {
            return try candidate.phrase.read(self)
        }
        if cursor.kind == .regex {
            throw cursor.fail(
                .regexMisplaced, "a regex can match a line, but not bytes", hint: "write `expect line /…/`",
                at: cursor.place)
        }
        if cursor.kind == .word, isMisspelt { throw unknownExpectation(of: actor) }
        let value = try values.parseExpression("an expectation", "expect \"text\"")
        if cursor.take(word: "bytes") { return .connection(.expect(.count(value, as: try parseAs()))) }
        if cursor.isWord("as") {
            throw cursor.fail(
                .asNotHere, "these bytes can't be bound, because they are already known",
                hint: "bind unknown input: `expect line as x`, `expect 10 bytes as x` or `expect until \"\\0\" as x`",
                at: cursor.place)
        }
        return actorKind == .subject ? .subject(.expect(.bytes(value))) : .connection(.expect(.bytes(value)))
    }

    /// Whether the current word is followed by something that can't follow a variable.
    private var isMisspelt: Bool {
        let next = cursor.token(ahead: 1)
        switch next.kind {
        case .string, .rawString, .regex, .number: return true
        case .word: return !["within", "after", "bytes", "as", "from"].contains(cursor.text(next))
        default: return false
        }
    }

    private func unknownExpectation(of actor: Name) -> Abandoned {
        cursor.fail(
            .unknownExpectation(cursor.word, kind: context.actorKinds[actor.value]),
            at: cursor.place
        )
    }

    /// Parses a value, unless the statement ends or a timing clause is next.
    func parseOptionalValue() throws(Abandoned) -> Expression? {
        switch cursor.kind {
        case .newline, .end, .semicolon, .rightBrace: return nil
        case .word where ["within", "after", "from"].contains(cursor.word): return nil
        default: return try values.parseExpression("a value")
        }
    }

    func parseAs() throws(Abandoned) -> Name? {
        guard cursor.take(word: "as") else { return nil }
        return try cursor.parseNewName("a name", "as x")
    }

    /// Parses a pattern: `"text"`, `/re/`, `as x` or `NAME`, with an optional `as x` after it.
    func parsePattern(_ example: String) throws(Abandoned) -> (Pattern, Name?) {
        if cursor.isWord("as"), cursor.token(ahead: 1).kind == .word { return (.any, try parseAs()) }
        if cursor.kind == .regex {
            let regex = try literals.parseRegex()
            return (.regex(regex), try parseAs())
        }
        let value = try values.parseExpression("a value, a regex, or `as` and a name", example)
        return (.value(value), try parseAs())
    }

    /// Parses what follows `lines in any order`: `"a", /b/, optional /c/`.
    func parseOpenLines() throws(Abandoned) -> [(isOptional: Bool, pattern: Pattern)] {
        let example = "expect lines in any order \"a\", /b/, optional /c/"
        var lines: [(isOptional: Bool, pattern: Pattern)] = []
        repeat {
            var isOptional = false
            if cursor.isWord("optional"), !cursor.isVariableHere {
                isOptional = true
                cursor.advance()
            }
            if cursor.kind == .regex {
                lines.append((isOptional, .regex(try literals.parseRegex())))
            } else {
                lines.append((isOptional, .value(try values.parseExpression("a value or a regex", example))))
            }
        } while cursor.take(.comma)
        return lines
    }

    func parseFor(_ example: String) throws(Abandoned) -> Duration {
        try cursor.expect(word: "for", example)
        return try values.parseDuration(example)
    }

    func parseReason() throws(Abandoned) -> String? {
        guard cursor.kind == .word, !cursor.isWord("within"), !cursor.isWord("after") else { return nil }
        let name = try cursor.parseName("a reason")
        return name.value
    }

    func parseExit() throws(Abandoned) -> ProcessExpectation.ExitExpectation {
        if cursor.isAtEnd || cursor.isWord("within") || cursor.isWord("after") { return .any }
        if cursor.isWord("signal"), cursor.token(ahead: 1).kind == .word {
            cursor.advance()
            return .signal(try values.parseSignal())
        }
        return .status(try values.parseExpression("an exit status", "expect exit 0"))
    }
}
