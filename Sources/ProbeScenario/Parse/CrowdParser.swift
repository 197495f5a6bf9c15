import ProbeBase

/// Parses the actions of a crowd, and the script of its members.
struct CrowdParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }
    private var literals: LiteralParser { LiteralParser(cursor: cursor) }
    private var steps: StepParser { StepParser(cursor: cursor) }

    /// Returns whether `crowd` begins a declaration: `crowd W =`. A form such as `crowd W 100 clients`, in which the
    /// `=` is missing, is also considered a declaration, because it can't be a step of an actor named `crowd`.
    static func isDeclaration(_ cursor: TokenCursor) -> Bool {
        guard cursor.token(ahead: 1).kind == .word else { return false }
        return cursor.token(ahead: 2).kind == .assign
            || cursor.isWord("clients", ahead: 3) || cursor.isWord("servers", ahead: 3)
    }

    /// Parses what follows `start`: `at 2000/s { … }`.
    func parseStart() throws(Abandoned) -> CrowdAction {
        let rate = cursor.take(word: "at") ? try parseRate() : nil
        guard cursor.kind == .leftBrace else {
            // The block contains statements of members rather than steps.
            defer { cursor.skipStatement() }
            throw cursor.expected("a block with the members' statements", "W start { connect; send \"a\\r\\n\" }")
        }
        return .start(rate: rate, try parseBlock())
    }

    /// Parses a rate in members per second: `2000/s`.
    private func parseRate() throws(Abandoned) -> Int {
        guard cursor.kind == .number else {
            defer { cursor.skipStatement() }
            throw cursor.expected("a number of members per second", "W start at 2000/s { … }")
        }
        let place = cursor.place
        switch NumberLiteral(Array(cursor.bytes[place.start..<place.end])) {
        case .frequency(let rate) where rate > 0:
            cursor.advance()
            return rate
        case .frequency:
            cursor.report(
                .badNumber, "the rate must be at least one member per second, or no member would ever start",
                hint: "for example: start at 2000/s", at: place)
        default:
            cursor.report(
                .wrongQuantity, "\(Escaped.quoted(cursor.word)) is not a number of members per second",
                hint: "write the rate as `2000/s`, or remove `at` to start all members at once", at: place)
        }
        cursor.skipStatement()
        throw Abandoned()
    }

    // MARK: Members

    /// Parses the script of the members: `{ … }`.
    func parseBlock() throws(Abandoned) -> CrowdScript {
        let open = cursor.token
        guard cursor.kind == .leftBrace else { throw cursor.expected("`{`", "repeat { send \"a\\r\\n\"; wait 1s }") }
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
        var statements: [CrowdStatement] = []
        var isWhole = true
        while cursor.kind != .rightBrace {
            if cursor.kind == .end {
                cursor.report(.unclosedBrace, at: cursor.span(open))
                return CrowdScript(statements: statements, span: cursor.span(from: open))
            }
            if cursor.take(.newline) || cursor.take(.semicolon) { continue }
            let start = cursor.index
            do throws(Abandoned) {
                statements.append(try parseStatement())
                try steps.parseEndOfStatement()
            } catch {
                isWhole = false
                cursor.doubtWords(from: start)
                cursor.skipStatement()
            }
        }
        cursor.advance()
        if statements.isEmpty, isWhole {
            cursor.report(
                .emptyBlock, "this block is empty, so the members would do nothing",
                hint: "add the members' statements; for clients that connect and stay connected, write `{ connect }`",
                at: cursor.span(open))
        }
        return CrowdScript(statements: statements, span: cursor.span(from: open))
    }

    private func parseStatement() throws(Abandoned) -> CrowdStatement {
        let first = cursor.token
        guard let candidate = try cursor.take(CrowdStatement.phraseIndex) else {
            guard cursor.kind == .word else { throw cursor.expected("a member statement", "send \"a\\r\\n\"") }
            cursor.report(.unknownMemberStatement(cursor.word), at: cursor.place)
            throw Abandoned()
        }
        let kind = try candidate.phrase.read(self)
        let clause = cursor.token
        let timing = try steps.parseTiming()
        let entry = candidate.phrase.entry
        if timing.within != nil, let reason = entry.timing?.within.refusal {
            cursor.report(.withinNotHere(reason.replacing("{}", with: entry.word)), at: cursor.span(clause))
        }
        if timing.after != nil, let reason = entry.timing?.after.refusal {
            cursor.report(.afterNotHere(reason), at: cursor.span(clause))
        }
        var span = cursor.span(from: first)
        if case .repeats = kind { span.end = min(span.end, Int(first.end)) }
        return CrowdStatement(kind: kind, within: timing.within, span: span)
    }

    func parseSend() throws(Abandoned) -> CrowdStatement.Kind {
        let first = cursor.token
        let statement = try ActionParser(cursor: cursor).parseSend(inBackground: false)
        let foreign: String? =
            switch statement.mode {
            case .urgent: "send urgent"
            case .plaintext: "send plaintext"
            case .bytes, .line:
                statement.carriesFIN ? "send … with fin" : statement.recordLength != nil ? "in records of" : nil
            }
        if let foreign {
            cursor.report(
                .crowdScript, "a member of a crowd can't use `\(foreign)`",
                hint: "use a separate client for `\(foreign)`: `client C -> S`", at: cursor.span(from: first))
            throw Abandoned()
        }
        var isEndless = false
        if case .every = statement.pace, statement.pieces.count == 1, statement.cut == nil { isEndless = true }
        return .send(statement, isEndless: isEndless)
    }

    /// Parses what follows `expect line`: `"x"`, `/re/`, or nothing, which matches any line.
    func parseLine() throws(Abandoned) -> CrowdStatement.Kind {
        if cursor.kind == .regex {
            let place = cursor.place
            let regex = try literals.parseRegex()
            if let group = regex.groupNames.first {
                cursor.report(
                    .crowdScript,
                    "a crowd can't bind the group `\(group)`, because each member would have its own value",
                    hint: "write `(…)` instead of `(?<\(group)>…)`", at: place)
            }
            try refuseName()
            return .expect(.line(.regex(regex)))
        }
        try refuseName()
        if cursor.isAtEnd || cursor.isWord("within") || cursor.isWord("after") { return .expect(.line(.any)) }
        let value = try values.parseExpression("a value or a regex", "expect line /^2/")
        try refuseName()
        return .expect(.line(.value(value)))
    }

    func parseByteCount() throws(Abandoned) -> CrowdStatement.Kind {
        let example = "expect 10 bytes"
        if cursor.kind == .word, !["bytes", "byte"].contains(cursor.text(cursor.token(ahead: 1))), !cursor.isArithmetic
        {
            cursor.report(.unknownMemberStatement("expect \(cursor.word)"), at: cursor.place)
            throw Abandoned()
        }
        if cursor.kind == .string || cursor.kind == .rawString || cursor.kind == .regex {
            cursor.report(
                .crowdScript, "a member can only expect a line, a number of bytes, or bytes up to a value",
                hint: "write `expect line \"x\"`, `expect until \"x\"` or `expect 10 bytes`", at: cursor.place)
            throw Abandoned()
        }
        let count = try values.parseExpression("`line`, `until`, `eof` or a number of bytes", example)
        guard cursor.take(word: "bytes") || cursor.take(word: "byte") else { throw cursor.expected("`bytes`", example) }
        try refuseName()
        return .expect(.count(count))
    }

    /// Rejects `as x`, because all members run the same script and each would bind the variable to its own value.
    private func refuseName() throws(Abandoned) {
        guard cursor.isWord("as"), cursor.token(ahead: 1).kind == .word else { return }
        cursor.report(
            .crowdScript,
            "a crowd can't bind `\(cursor.text(cursor.token(ahead: 1)))`, because each member would have its "
                + "own value",
            hint: "remove `as`, or bind the name in a step of a separate client", at: cursor.place)
        throw Abandoned()
    }

    // MARK: Expectations

    /// Parses the required number of members, with an optional comparison operator: `10000`, `>= 9990`.
    func parseCount(_ count: CrowdCount) throws(Abandoned) -> CrowdExpectation {
        let example = "W expect \(count.rawValue) 100"
        let comparison = values.takeComparison()
        let number = try values.parseExpression("a number of members", example)
        let usual: Comparison =
            switch count {
            case .connected, .done: .greaterOrEqual
            case .alive, .failed: .equal
            }
        return .count(count, comparison ?? usual, number)
    }

    /// Parses what follows `expect latency`: `p99 <= 50ms of line`.
    func parseLatency() throws(Abandoned) -> CrowdExpectation {
        let example = "W expect latency p99 <= 50ms of line"
        let percentile = try parsePercentile(example)
        let (comparison, limit) = try values.parseTimeComparison(example, usual: .lessOrEqual)
        try cursor.expect(word: "of", example)
        return .latency(
            percentile, comparison, limit, of: try cursor.parseChoice("a kind of wait", MemberWait.allCases))
    }

    /// Parses a percentile: `p99`, `p99.9`, `max`.
    private func parsePercentile(_ example: String) throws(Abandoned) -> Percentile {
        if cursor.take(word: "max") { return Percentile(value: 100) }
        let first = cursor.token
        guard cursor.kind == .word, cursor.word.utf8.first == UInt8(ascii: "p") else {
            throw cursor.expected("a percentile or `max`", example)
        }
        cursor.advance()
        if cursor.kind == .dot, cursor.token(ahead: 1).kind == .number {
            cursor.advance()
            cursor.advance()
        }
        let place = cursor.span(from: first)
        let text = cursor.bytes.text(place.start..<place.end)
        guard let value = Double(text.dropFirst()), value > 0, value <= 100,
            text.utf8.dropFirst().allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") })
        else {
            cursor.report(
                .outOfRange, "\(Escaped.quoted(text)) is not a valid percentile",
                hint: "use a percentile above p0 and up to p100, such as p50, p99 or p99.9, or use max", at: place)
            throw Abandoned()
        }
        return Percentile(value: value)
    }
}

extension TokenCursor {
    /// Whether an operator of a sum or a product follows the current word.
    fileprivate var isArithmetic: Bool {
        switch token(ahead: 1).kind {
        case .plus, .minus, .star, .slash, .leftParenthesis: true
        default: false
        }
    }
}

extension Diagnostic.Message {
    static let unclosedBrace = Self(.unmatchedBrace, "this `{` is never closed", hint: "close the block with `}`")

    static func unknownMemberStatement(_ text: String) -> Self {
        Self(
            .crowdScript, "\(Escaped.quoted(text)) is not a statement for a member of a crowd",
            hint: "a member can " + CrowdStatement.choices.joined(separator: ", "))
    }
}
