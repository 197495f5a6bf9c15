import ProbeBase

extension Parser {
    /// What follows `expect`.
    mutating func parseExpectation(of actor: Name, _ actorKind: ActorKind?) throws(Abandoned) -> Action {
        if kind == .word, let known = try parseKeywordExpectation(actorKind) { return known }
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

    private mutating func parseAs() throws(Abandoned) -> Name? {
        guard take(word: "as") else { return nil }
        return try parseNewName("a name", "as x")
    }

    private mutating func parseKeywordExpectation(_ actorKind: ActorKind?) throws(Abandoned) -> Action? {
        let isSubject = actorKind == .subject
        let word = text(token)
        let first = span(token)
        let next = token(ahead: 1)
        let isAlone = isVariableHere && next.kind != .leftParenthesis && !startsOperator(next)
        switch word {
        case "line" where !isVariableHere:
            advance()
            let (pattern, name) = try parsePattern("expect line \"text\"")
            return isSubject
                ? .subject(.expect(.line(pattern, as: name))) : .connection(.expect(.line(pattern, as: name)))
        case "lines" where next.kind == .word && text(next) == "in": return try parseAnyOrder()
        case "until" where !isAlone && next.kind != .leftParenthesis: return try parseUntil()
        case "until" where next.kind == .leftParenthesis: return try parseUntil()
        case "any" where next.kind == .word && text(next) == "bytes":
            advance()
            advance()
            return .connection(.expect(.anyBytes(as: try parseAs())))
        case "urgent" where !isVariableHere:
            use(.urgent, at: first)
            advance()
            return .connection(.expect(.urgent(try parseExpression("a value"))))
        case "message" where !isVariableHere:
            use(.messages, at: first)
            advance()
            let (pattern, name) = try parsePattern("expect message \"text\"")
            return isSubject
                ? .subject(.expect(.message(pattern, as: name))) : .connection(.expect(.message(pattern, as: name)))
        case "leftover" where !isVariableHere:
            advance()
            let (pattern, name) = try parsePattern("expect leftover \"tw\"")
            return .subject(.expect(.leftover(pattern, as: name)))
        case "data" where !isVariableHere:
            advance()
            let (pattern, name) = try parsePattern("expect data \"text\"")
            return .subject(.expect(.data(pattern, as: name)))
        case "accept":
            advance()
            try expect(word: "as", "expect accept as A")
            let name = try parseNewName("a name for the connection", "expect accept as A")
            context.bindActor(name.value, .subject)
            return .subject(.expect(.accept(as: name)))
        case "error" where next.kind == .word && !isVariableHere:
            advance()
            return .subject(.expect(.error(try parseName("an error", "expect error already-started").value)))
        case "nothing":
            advance()
            let duration = try parseFor("expect nothing for 200ms")
            return isSubject
                ? .subject(.expect(.nothing(for: duration))) : .connection(.expect(.nothing(for: duration)))
        case "stalled":
            use(.stalled, at: first)
            advance()
            return .connection(.expect(.stalled(for: try parseFor("expect stalled for 1s"))))
        case "no": return try parseAbsence()
        case "send" where next.kind == .word && text(next) == "failed":
            use(.sendFailed, at: first)
            advance()
            advance()
            return .connection(.expect(.sendFailed(reason: try parseReason())))
        case "stopped" where isAlone || next.kind == .word:
            advance()
            return .subject(.expect(.stopped(reason: try parseReason())))
        case "exit" where isAlone || next.kind == .number || next.kind == .word:
            advance()
            return .process(.expect(.exit(try parseExit())))
        case "output" where !isVariableHere:
            advance()
            return .process(.expect(.output(try parseRegex("a regex", "expect output /ready/"))))
        case "memory", "descriptors":
            guard startsComparison(next) else { return nil }
            use(word == "memory" ? .memory : .descriptors, at: first)
            advance()
            let (comparison, value) = try parseComparison("\(word) <= 100")
            return .process(
                .expect(word == "memory" ? .memory(comparison, value) : .descriptors(comparison, value)))
        default:
            if let format = IntegerFormat(rawValue: word), isAlone || next.kind == .word && text(next) == "as" {
                use(.integers, at: first)
                advance()
                let name = try parseAs()
                if let name { context.integerNames.insert(name.value) }
                return .connection(.expect(.integer(format, as: name)))
            }
            return isAlone ? parsePlainWord(word, isSubject) : nil
        }
    }

    /// The expectations that are one word.
    private mutating func parsePlainWord(_ word: String, _ isSubject: Bool) -> Action? {
        let expectation: Action
        switch word {
        case "eof": expectation = .connection(.expect(.eof))
        case "reset": expectation = .connection(.expect(.reset))
        case "closed": expectation = .connection(.expect(.closed))
        case "sent": expectation = isSubject ? .subject(.expect(.sent)) : .connection(.expect(.sent))
        case "started": expectation = .subject(.expect(.started))
        case "listening": expectation = .process(.expect(.listening))
        default: return nil
        }
        advance()
        return expectation
    }

    private func startsOperator(_ token: Token) -> Bool {
        [.plus, .minus, .star, .dot].contains(token.kind)
    }

    private func startsComparison(_ token: Token) -> Bool {
        [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].contains(token.kind)
    }

    /// `"text"`, `/re/`, `as x`, `NAME`, with `as x` behind it where one is meant.
    private mutating func parsePattern(_ example: String) throws(Abandoned) -> (Pattern, Name?) {
        if isWord("as"), token(ahead: 1).kind == .word { return (.any, try parseAs()) }
        if kind == .regex {
            let regex = try parseRegex()
            return (.regex(regex), try parseAs())
        }
        let value = try parseExpression("a value, a regex, or `as` and a name", example)
        return (.value(value), try parseAs())
    }

    private mutating func parseUntil() throws(Abandoned) -> Action {
        advance()
        if isWord("line"), !isVariableHere, !(token(ahead: 1).kind == .word && text(token(ahead: 1)) == "as") {
            use(.untilLine, at: span(token))
            advance()
            let (pattern, name) = try parsePattern("expect until line /^250 /")
            return .connection(.expect(.untilLine(pattern, as: name)))
        }
        let delimiter = try parseExpression("a delimiter", "expect until \"\\0\" as x")
        return .connection(.expect(.until(delimiter: delimiter, as: try parseAs())))
    }

    private mutating func parseAnyOrder() throws(Abandoned) -> Action {
        let example = "expect lines in any order \"a\", /b/, optional /c/"
        use(.linesInAnyOrder, at: span(token))
        advance()
        try expect(word: "in", example)
        try expect(word: "any", example)
        try expect(word: "order", example)
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
        return .connection(.expect(.linesInAnyOrder(lines)))
    }

    private mutating func parseFor(_ example: String) throws(Abandoned) -> Duration {
        try expect(word: "for", example)
        return try parseDuration(example)
    }

    private mutating func parseAbsence() throws(Abandoned) -> Action {
        let first = span(token)
        advance()
        if take(word: "connection") {
            use(.noConnection, at: first)
            return .server(.expect(.noConnection(for: try parseFor("expect no connection for 500ms"))))
        }
        if take(word: "output") {
            let regex = try parseRegex("a regex", "expect no output /error/")
            let duration = isWord("for") ? try parseFor("expect no output /error/ for 1s") : nil
            return .process(.expect(.noOutput(regex, for: duration)))
        }
        throw expected("`connection` or `output`", "expect no connection for 500ms")
    }

    private mutating func parseReason() throws(Abandoned) -> String? {
        guard kind == .word, !isWord("within"), !isWord("after") else { return nil }
        let name = try parseName("a reason")
        return name.value
    }

    private mutating func parseExit() throws(Abandoned) -> ProcessExpectation.ExitExpectation {
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
