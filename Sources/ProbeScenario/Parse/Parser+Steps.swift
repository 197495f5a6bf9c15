import ProbeBase

extension Parser {
    /// `{ … }`
    mutating func parseBlock() throws(Abandoned) -> Block {
        let open = token
        guard kind == .leftBrace else { throw expected("`{`") }
        nesting += 1
        blockDepth += 1
        defer {
            nesting -= 1
            blockDepth -= 1
        }
        guard nesting <= Self.deepestNesting else { throw fail(.nestingTooDeep(Self.deepestNesting), at: span(open)) }
        advance()
        var steps: [Step] = []
        while kind != .rightBrace {
            if kind == .end {
                report(.syntax(.unclosedBrace), at: span(open))
                return Block(steps: steps, span: span(from: open))
            }
            if take(.newline) || take(.semicolon) { continue }
            let start = index
            do throws(Abandoned) {
                if let step = try parseBlockStep() { steps.append(step) }
                try parseEndOfStatement()
            } catch {
                recover(from: start)
            }
        }
        advance()
        if steps.isEmpty, !context.diagnostics.hasErrors { report(.structure(.emptyBlock), at: span(open)) }
        return Block(steps: steps, span: span(from: open))
    }

    private mutating func parseBlockStep() throws(Abandoned) -> Step? {
        if kind == .word, ReservedNames.isHeaderOnly(text(token)) {
            let place = span(token)
            report(.structure(.headerInBlock(text(token))), at: place)
            throw Abandoned()
        }
        return try parseStep()
    }

    /// One statement of the timeline; nil when it was passed over because what it uses is not built.
    mutating func parseStep() throws(Abandoned) -> Step? {
        guard kind == .word else { throw expected("a step", "S accept") }
        let first = token
        let id = context.nextStepID()
        var focus = span(first)
        let kind: Step.Kind
        if isWord("link") {
            notBuilt(.link, at: focus)
            skipStatement()
            return nil
        }
        if let candidate = try take(StepStatement.phraseIndex) {
            if candidate.pointsAtOperand { focus = span(token) }
            kind = try candidate.phrase.read(&self)
        } else {
            guard let (act, verb) = try parseAct() else { return nil }
            kind = act
            focus = verb
        }
        var end = span(from: first)
        if let block = Self.firstBlock(of: kind) {
            // A block is reported at its first line.
            end = SourceSpan(file: file, start: end.start, end: min(end.end, block.span.start + 1))
        }
        return Step(id: id, kind: kind, span: end, focus: focus)
    }

    private static func firstBlock(of kind: Step.Kind) -> Block? {
        switch kind {
        case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
            .finally(let block), .whenever(_, _, let block):
            block
        case .either(let blocks): blocks.first
        default: nil
        }
    }

    // MARK: Flow

    mutating func parseCheck() throws(Abandoned) -> Step.Kind {
        let example = "check x == \"value\""
        let left = try parseExpression("a value", example)
        if take(word: "contains") { return .check(left, .contains, .value(try parseExpression("a value"))) }
        if take(word: "lacks") { return .check(left, .lacks, .value(try parseExpression("a value"))) }
        if take(word: "matches") {
            if kind == .regex { return .check(left, .matches, .regex(try parseRegex())) }
            return .check(left, .matches, .value(try parseExpression("a regex", "check x matches /^250/")))
        }
        guard let comparison = takeComparison() else {
            throw expected("`==`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, `lacks` or `matches`", example)
        }
        if kind == .regex { throw fail(.regexAfterComparison, at: span(token)) }
        return .check(left, .compare(comparison), .value(try parseExpression("a value", example)))
    }

    mutating func takeComparison() -> Comparison? {
        let comparison: Comparison
        switch kind {
        case .equal: comparison = .equal
        case .notEqual: comparison = .notEqual
        case .less: comparison = .less
        case .lessOrEqual: comparison = .lessOrEqual
        case .greater: comparison = .greater
        case .greaterOrEqual: comparison = .greaterOrEqual
        default: return nil
        }
        advance()
        return comparison
    }

    mutating func parseLoop() throws(Abandoned) -> Step.Kind {
        let example = "for i in 1..100 { … }"
        var names: [Name] = []
        repeat { names.append(try parseNewName("a name", example)) } while take(.comma)
        try expect(word: "in", example)
        if kind == .word, token(ahead: 1).kind == .leftBrace {
            let table = try parseName("a table")
            return .loop(names: names, .table(table), try parseBlock())
        }
        let start = try parseExpression("a range or a table", example)
        try expect(.dotDot, "`..` and the end of the range", example)
        let end = try parseExpression("the end of the range", example)
        if names.count > 1 { throw fail(.eachNeedsTable, at: names[1].span) }
        context.integerNames.insert(names[0].value)
        return .loop(names: names, .range(start, end), try parseBlock())
    }

    mutating func parseEither() throws(Abandoned) -> Step.Kind {
        let first = span(lastWord)
        var branches = [try parseBlock()]
        while isWord("or") || kind == .newline && isWord("or", ahead: 1) {
            if take(.newline) { report(.syntax(.orOnItsOwnLine), at: span(token)) }
            advance()
            branches.append(try parseBlock())
        }
        if branches.count < 2 { throw fail(.eitherNeedsOr, at: first) }
        return .either(branches)
    }

    mutating func parseRetry() throws(Abandoned) -> Step.Kind {
        let example = "retry every 250ms within 20s { … }"
        try expect(word: "every", example)
        let pause = try parseDuration(example)
        try expect(word: "within", example)
        let deadline = try parseDuration(example)
        return .retry(every: pause, within: deadline, try parseBlock())
    }

    mutating func parseWhenever() throws(Abandoned) -> Step.Kind {
        let example = "whenever C gets line /^PING/ { … }"
        let connection = try parseName("a connection", example)
        try expect(word: "gets", example)
        try expect(word: "line", example)
        let regex = try parseRegex("a regex", example)
        return .whenever(connection: connection, regex, try parseBlock())
    }

    // MARK: Acts

    /// `S accept within 2s`; nil when the actor is one that is not built.
    private mutating func parseAct() throws(Abandoned) -> (Step.Kind, SourceSpan)? {
        let actor = Name(text(token), span(token))
        let kind = context.actorKinds[actor.value]
        if kind == .crowd || kind == .link {
            skipStatement()
            return nil
        }
        guard kind != nil || context.doubtful.contains(actor.value) || looksLikeAct else {
            throw unknownStatement(actor)
        }
        advance()
        let verb = token
        if isWord("start"), isWord("tls", ahead: 1) {
            notBuilt(.startTLS, at: span(verb))
            skipStatement()
            return nil
        }
        guard self.kind == .word else {
            throw expected("a verb behind `\(actor.value)`", "\(actor.value) send \"text\"")
        }
        if isWord("close"), isWord("without", ahead: 1) {
            advance()
            notBuilt(.closeWithoutNotify, at: span(token))
            skipStatement()
            return (.act(actor: actor, .connection(.close), Timing()), span(verb))
        }
        let (action, focus) = try parseAction(of: actor)
        let timing = try parseTiming()
        return (.act(actor: actor, action, timing), focus ?? span(verb))
    }

    /// The next word is a verb, so that this one is meant to be an actor.
    private var looksLikeAct: Bool {
        let next = token(ahead: 1)
        return next.kind == .word && LanguageTable.firstWordsOfVerbs.contains(text(next))
            || next.kind == .word && !Suggestion.isNear(text(token))
    }

    private func unknownStatement(_ name: Name) -> Abandoned {
        let actors = context.scenario.actors.map(\.name.value)
        if token(ahead: 1).kind == .minus || token(ahead: 1).kind == .arrow {
            return fail(.unknownStatement(name.value, actors: actors), at: name.span)
        }
        return fail(.unknownStatement(name.value, actors: actors), at: name.span)
    }

    /// `within 200ms`, `after 50ms`, in any order.
    mutating func parseTiming() throws(Abandoned) -> Timing {
        var timing = Timing()
        while true {
            let first = token
            if take(word: "within") {
                if timing.within != nil { throw fail(.clauseTwice("within"), at: span(first)) }
                timing.within = try parseDuration("within 200ms")
            } else if take(word: "after") {
                if timing.after != nil { throw fail(.clauseTwice("after"), at: span(first)) }
                timing.after = try parseDuration("after 50ms")
            } else {
                break
            }
            if let within = timing.within, let after = timing.after, after >= within {
                report(.syntax(.timingNeverHolds), at: span(first))
            }
        }
        return timing
    }
}
