import ProbeBase

/// The steps that begin with no actor.
extension StepParser {
    func parseCheck() throws(Abandoned) -> Step.Kind {
        let example = "check x == \"value\""
        let left = try values.parseExpression("a value", example)
        if cursor.take(word: "contains") {
            return .check(left, .contains, .value(try values.parseExpression("a value")))
        }
        if cursor.take(word: "lacks") { return .check(left, .lacks, .value(try values.parseExpression("a value"))) }
        if cursor.take(word: "matches") {
            if cursor.kind == .regex { return .check(left, .matches, .regex(try literals.parseRegex())) }
            return .check(left, .matches, .value(try values.parseExpression("a regex", "check x matches /^250/")))
        }
        guard let comparison = values.takeComparison() else {
            throw cursor.expected("`==`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, `lacks` or `matches`", example)
        }
        if cursor.kind == .regex {
            throw cursor.fail(
                .regexMisplaced, "a regex is not compared", hint: "write check x matches /…/", at: cursor.place)
        }
        return .check(left, .compare(comparison), .value(try compared(with: left, example)))
    }

    private func compared(with left: Expression, _ example: String) throws(Abandoned) -> Expression {
        guard case .protobuf(.field) = left.kind else { return try values.parseExpression("a value", example) }
        return try values.parseProtobufOperand("check pb(m, 2) == 150")
    }

    func parseLoop() throws(Abandoned) -> Step.Kind {
        let example = "for i in 1..100 { … }"
        var names: [Name] = []
        repeat { names.append(try cursor.parseNewName("a name", example)) } while cursor.take(.comma)
        try cursor.expect(word: "in", example)
        if cursor.kind == .word, cursor.token(ahead: 1).kind == .leftBrace {
            let table = try cursor.parseName("a table")
            return .loop(names: names, .table(table), try parseBlock())
        }
        let start = try values.parseExpression("a range or a table", example)
        try cursor.expect(.dotDot, "`..` and the end of the range", example)
        let end = try values.parseExpression("the end of the range", example)
        if names.count > 1 { throw cursor.fail(.eachNeedsTable, at: names[1].span) }
        context.integerNames.insert(names[0].value)
        return .loop(names: names, .range(start, end), try parseBlock())
    }

    func parseEither() throws(Abandoned) -> Step.Kind {
        let first = cursor.span(cursor.lastWord)
        var branches = [try parseBlock()]
        while cursor.isWord("or") || cursor.kind == .newline && cursor.isWord("or", ahead: 1) {
            if cursor.take(.newline) {
                cursor.report(
                    .expected, "`or` stands on the line of the brace before it", hint: "write `} or {` on one line",
                    at: cursor.place)
            }
            cursor.advance()
            branches.append(try parseBlock())
        }
        if branches.count < 2 {
            throw cursor.fail(
                .expected, "either needs a second branch",
                hint: "write either { … } or { … }, with `} or {` on one line", at: first)
        }
        return .either(branches)
    }

    func parseRetry() throws(Abandoned) -> Step.Kind {
        let example = "retry every 250ms within 20s { … }"
        try cursor.expect(word: "every", example)
        let pause = try values.parseDuration(example)
        try cursor.expect(word: "within", example)
        let deadline = try values.parseDuration(example)
        return .retry(every: pause, within: deadline, try parseBlock())
    }

    func parseWhenever() throws(Abandoned) -> Step.Kind {
        let example = "whenever C gets line /^PING/ { … }"
        let connection = try cursor.parseName("a connection", example)
        try cursor.expect(word: "gets", example)
        try cursor.expect(word: "line", example)
        let regex = try literals.parseRegex("a regex", example)
        return .whenever(connection: connection, regex, try parseBlock())
    }

    /// `let name = VALUE`
    func parseLet() throws(Abandoned) -> (Name, Expression) {
        let name = try cursor.parseNewName("a name", "let name = \"value\"")
        try cursor.expect(.assign, "`=`", "let name = \"value\"")
        let value = try values.parseExpression("a value", "let name = \"value\"")
        if values.isIntegerLike(value) { context.integerNames.insert(name.value) }
        return (name, value)
    }
}
