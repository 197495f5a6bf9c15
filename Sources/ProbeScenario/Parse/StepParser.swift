import ProbeBase

/// Parses the steps of the timeline and blocks of steps. Blocks nest at most ``TokenCursor/maxNestingDepth`` deep.
struct StepParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }
    var literals: LiteralParser { LiteralParser(cursor: cursor) }
    var wire: WireParser { WireParser(cursor: cursor) }
    private var actions: ActionParser { ActionParser(cursor: cursor) }

    /// Parses a block of steps: `{ … }`.
    func parseBlock() throws(Abandoned) -> Block {
        let open = cursor.token
        guard cursor.kind == .leftBrace else { throw cursor.expected("`{`") }
        cursor.nesting += 1
        cursor.blockDepth += 1
        defer {
            cursor.nesting -= 1
            cursor.blockDepth -= 1
        }
        guard cursor.nesting <= TokenCursor.maxNestingDepth else {
            throw cursor.fail(.nestingTooDeep(TokenCursor.maxNestingDepth), at: cursor.span(open))
        }
        cursor.advance()
        var steps: [Step] = []
        while cursor.kind != .rightBrace {
            if cursor.kind == .end {
                cursor.report(.unclosedBrace, at: cursor.span(open))
                return Block(steps: steps, span: cursor.span(from: open))
            }
            if cursor.take(.newline) || cursor.take(.semicolon) { continue }
            let start = cursor.index
            do throws(Abandoned) {
                if let step = try parseBlockStep() { steps.append(step) }
                try parseEndOfStatement()
            } catch {
                recover(from: start)
            }
        }
        cursor.advance()
        if steps.isEmpty, !context.diagnostics.hasErrors {
            cursor.report(
                .emptyBlock, "this block is empty, so it would always pass",
                hint: "add steps to the block, or remove the block", at: cursor.span(open))
        }
        return Block(steps: steps, span: cursor.span(from: open))
    }

    private func parseBlockStep() throws(Abandoned) -> Step? {
        if cursor.kind == .word, ReservedNames.isHeaderOnly(cursor.word) {
            cursor.report(
                .headerInBlock, "`\(cursor.word)` is a header statement, not a step",
                hint: "move the statement out of the block, to the top of the script", at: cursor.place)
            throw Abandoned()
        }
        return try parseStep()
    }

    /// Parses one statement of the timeline; returns `nil` if the statement was skipped because its actor is a link.
    func parseStep() throws(Abandoned) -> Step? {
        guard cursor.kind == .word else { throw cursor.expected("a step", "S accept") }
        let first = cursor.token
        let id = context.nextStepID()
        var focus = cursor.span(first)
        let kind: Step.Kind
        if let candidate = try cursor.take(StepStatement.phraseIndex) {
            if candidate.pointsAtOperand { focus = cursor.place }
            kind = try candidate.phrase.read(self)
        } else {
            guard let (act, verb) = try parseAct() else { return nil }
            kind = act
            focus = verb
        }
        let clause = cursor.token
        let isOptional = cursor.takeIfNeeded()
        var end = cursor.span(from: first)
        if let block = Self.firstBlock(of: kind) {
            // The span of a block ends with the brace that opens it.
            end = SourceSpan(file: cursor.file, start: end.start, end: min(end.end, block.start + 1))
        }
        var step = Step(id: id, kind: kind, span: end, focus: focus)
        step.isOptional = isOptional
        if isOptional, !step.canBeUnneeded {
            cursor.report(
                .ifNeededNotHere,
                "this step either takes effect or fails, so `if needed` does not apply",
                hint: "remove `if "
                    + "needed`", at: cursor.span(clause))
        }
        return step
    }

    private static func firstBlock(of kind: Step.Kind) -> SourceSpan? {
        switch kind {
        case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
            .finally(let block), .whenever(_, _, let block):
            block.span
        case .either(let blocks): blocks.first?.span
        case .act(_, .crowd(.start(_, let script)), _): script.span
        default: nil
        }
    }

    // MARK: Acts

    /// Parses a step of an actor, such as `S accept within 2s`; returns `nil` if the statement was skipped because its
    /// actor is a link.
    private func parseAct() throws(Abandoned) -> (Step.Kind, SourceSpan)? {
        let actor = Name(cursor.word, cursor.place)
        let kind = context.actorKinds[actor.value]
        if kind == .link {
            cursor.skipStatement()
            return nil
        }
        guard kind != nil || context.doubtful.contains(actor.value) && !isForeign || looksLikeAct else {
            throw unknownStatement(actor)
        }
        cursor.advance()
        let verb = cursor.token
        guard cursor.kind == .word else {
            throw cursor.expected("a verb after `\(actor.value)`", "\(actor.value) send \"text\"")
        }
        let (action, focus) = try actions.parseAction(of: actor, kind)
        let timing = try parseTiming()
        return (.act(actor: actor, action, timing), focus ?? cursor.span(verb))
    }

    /// Whether the next word is a verb, which makes the current word an actor.
    private var looksLikeAct: Bool {
        let next = cursor.token(ahead: 1)
        if isForeign { return false }
        return next.kind == .word && LanguageTable.firstWordsOfVerbs.contains(cursor.text(next))
            || next.kind == .word && !Suggestion.isNear(cursor.word)
    }

    /// Whether the current word is from another language and is not followed by a verb.
    private var isForeign: Bool {
        let next = cursor.token(ahead: 1)
        if next.kind == .word, LanguageTable.firstWordsOfVerbs.contains(cursor.text(next)) { return false }
        let word = cursor.word
        return ForeignWords.isStatement(word) || LanguageTable.firstWordsOfVerbs.contains(word)
    }

    private func unknownStatement(_ name: Name) -> Abandoned {
        let actors = context.scenario.actors.map(\.name.value)
        let next = cursor.text(cursor.token(ahead: 1))
        return cursor.fail(.unknownStatement(name.value, next: next, actors: actors), at: name.span)
    }

    /// Parses the clauses `within 200ms` and `after 50ms`, in any order.
    func parseTiming() throws(Abandoned) -> Timing {
        var timing = Timing()
        while true {
            let first = cursor.token
            if cursor.take(word: "within") {
                if timing.within != nil { throw cursor.fail(.clauseTwice("within"), at: cursor.span(first)) }
                timing.within = try values.parseDuration("within 200ms")
            } else if cursor.take(word: "after") {
                if timing.after != nil { throw cursor.fail(.clauseTwice("after"), at: cursor.span(first)) }
                timing.after = try values.parseDuration("after 50ms")
            } else {
                break
            }
            if let within = timing.within, let after = timing.after, after >= within {
                cursor.report(
                    .timingNeverHolds, "`after` and `within` can never both be satisfied",
                    hint: "make `after` less than `within`; both are measured from the end of the previous step",
                    at: cursor.span(first))
            }
        }
        return timing
    }

    // MARK: The end of a statement

    /// Parses the end of a statement, and reports an error if the statement continues.
    func parseEndOfStatement() throws(Abandoned) {
        switch cursor.kind {
        case .newline, .end: cursor.advance()
        case .semicolon:
            if cursor.blockDepth == 0 {
                cursor.report(
                    .expected, "`;` can only end a statement inside braces", hint: "write one statement per line",
                    at: cursor.place)
            }
            cursor.advance()
        case .rightBrace where cursor.blockDepth > 0: return
        case .rightBrace: throw cursor.fail(.unmatchedBrace, at: cursor.place)
        case .pipe where cursor.token(ahead: 1).kind == .pipe:
            throw cursor.fail(.foreignOperator("||"), at: cursor.place)
        case .slash, .regex:
            throw cursor.fail(
                .unexpectedSlash, "this `/` starts a regex, which is not allowed at this position",
                hint: "to divide, use parentheses: `(a / b)`", at: cursor.place)
        case .minus where cursor.token(ahead: -1).kind == .number || cursor.token(ahead: -1).kind == .word:
            throw cursor.fail(
                .expected("the end of the line", found: cursor.described, example: nil), at: cursor.place)
        default: throw cursor.expected("the end of the line")
        }
    }

    /// Skips to the end of a statement that could not be read, and marks its words as doubtful for the rest of the
    /// script.
    func recover(from start: Int) {
        cursor.doubtWords(from: start)
        while true {
            switch cursor.kind {
            case .newline, .semicolon:
                cursor.advance()
                return
            case .end: return
            case .rightBrace:
                if cursor.blockDepth > 0 { return }
                cursor.advance()
            case .leftBrace where cursor.nesting < TokenCursor.maxNestingDepth:
                // Errors in the block of an unreadable statement are also reported.
                do { _ = try parseBlock() } catch {}
            default:
                if cursor.kind == .word { context.doubtful.insert(cursor.word) }
                cursor.advance()
            }
        }
    }
}

extension Diagnostic.Message {
    static func unknownStatement(_ word: String, next: String, actors: [String]) -> Self {
        Self(
            .unknownStatement, "unknown statement or actor \(Escaped.quoted(word))",
            hint: ForeignWords.statement(word, next: next, actors: actors) ?? Suggestion.nearest(
                to: word, among: ReservedNames.all + actors
            ).map { "did you mean `\($0)`?" }
                ?? "start the line with a statement, or with an actor and a verb: `S send \"text\"`")
    }
}

/// Parses the steps that do not begin with an actor.
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
                .regexMisplaced, "a value can't be compared with a regex", hint: "write `check x matches /…/`",
                at: cursor.place)
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
                    .expected, "`or` must be on the same line as the brace before it",
                    hint: "write `} or {` on one line", at: cursor.place)
            }
            cursor.advance()
            branches.append(try parseBlock())
        }
        if branches.count < 2 {
            throw cursor.fail(
                .expected, "`either` needs a second branch",
                hint: "write `either { … } or { … }`, with `} or {` on one line", at: first)
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

    /// Parses `let name = VALUE`.
    func parseLet() throws(Abandoned) -> (Name, Expression) {
        let name = try cursor.parseNewName("a name", "let name = \"value\"")
        try cursor.expect(.assign, "`=`", "let name = \"value\"")
        let value = try values.parseExpression("a value", "let name = \"value\"")
        if values.isIntegerLike(value) { context.integerNames.insert(name.value) }
        return (name, value)
    }
}
