import ProbeBase

/// Parses the actions of a proxy.
struct ProxyParser: GrammarPart {
    let cursor: TokenCursor

    private var values: ValueParser { ValueParser(cursor: cursor) }

    /// Parses a side of the proxy: `client` or `server`.
    func parseSide(_ example: String) throws(Abandoned) -> ConversationSide {
        guard cursor.kind == .word, let side = ConversationSide(word: cursor.word) else {
            throw cursor.expected("`client` or `server`", example)
        }
        cursor.advance()
        return side
    }

    /// Parses a destination: `to client`.
    func parseDestination(_ example: String) throws(Abandoned) -> ConversationSide {
        try cursor.expect(word: "to", example)
        return try parseSide(example)
    }

    /// Parses what follows `forward`: `to client in pieces of 1B every 5ms`, `100 bytes to client`.
    func parseForward() throws(Abandoned) -> ProxyAction {
        let example = "forward to client in pieces of 1B every 5ms"
        var count: Expression?
        if !cursor.isWord("to") {
            count = try values.parseExpression("`to` or a number of bytes", "forward 100 bytes to client")
            guard cursor.take(word: "bytes") || cursor.take(word: "byte") else {
                throw cursor.expected("`bytes`", "forward 100 bytes to client")
            }
        }
        let side = try parseDestination(example)
        return .forward(try parseForwarding(), count: count, to: side)
    }

    /// Parses the clauses that can follow `forward to client`.
    func parseForwarding() throws(Abandoned) -> ForwardStyle<Parsed> {
        var statement = ForwardStyle<Parsed>()
        let clauses = ActionParser(cursor: cursor)
        while cursor.kind == .word {
            let clause = cursor.token
            switch cursor.text(clause) {
            case "delayed":
                cursor.advance()
                try cursor.expect(word: "by", "delayed by 50ms")
                if statement.delay != nil {
                    throw cursor.fail(.clauseTwice("delayed"), at: cursor.span(clause))
                }
                statement.delay = try values.parseDuration("delayed by 50ms")
            case "joined":
                cursor.advance()
                if statement.isJoined { throw cursor.fail(.clauseTwice("joined"), at: cursor.span(clause)) }
                statement.isJoined = true
            default:
                guard try clauses.takeClause(of: &statement.cut, &statement.pace) else { return statement }
            }
        }
        return statement
    }

    /// Parses what follows `replace`: `"a" with "b" to client`.
    func parseReplace() throws(Abandoned) -> ProxyAction {
        let example = "replace \"a\" with \"b\" to client"
        let wanted = try values.parseExpression("a value", example)
        try cursor.expect(word: "with", example)
        let replacement = try values.parseExpression("a value", example)
        return .replace(wanted, with: replacement, to: try parseDestination(example))
    }

    /// Parses the side after an expectation: `from client`.
    func parseSource(of expectation: ConnectionExpectation<Parsed>) throws(Abandoned) -> ProxyAction {
        let example = "expect line /^DATA/ from client"
        guard cursor.take(word: "from") else { throw cursor.expected("`from client` or `from server`", example) }
        return .expect(expectation, from: try parseSide(example))
    }
}
