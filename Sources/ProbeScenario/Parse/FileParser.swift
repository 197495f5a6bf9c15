/// Parses a whole file into a ``ParseContext``: the scenario, or a file that it includes. A statement that can't be
/// parsed is reported, and parsing continues with the next statement.
struct FileParser: GrammarPart {
    let cursor: TokenCursor

    private var header: HeaderParser { HeaderParser(cursor: cursor) }
    private var steps: StepParser { StepParser(cursor: cursor) }

    /// Parses one file into the context.
    static func parse(file: Int, bytes: [UInt8], into context: ParseContext, isInclude: Bool) {
        let list = Lexer.tokens(file: file, bytes: bytes)
        for diagnostic in list.diagnostics { context.diagnostics.add(diagnostic) }
        guard !list.isUnreadable else {
            if file == 0 {
                context.isUnreadable = true
                context.evidence.noteBytes(bytes)
            }
            return
        }
        let cursor = TokenCursor(file: file, bytes: bytes, tokens: list.tokens, context: context)
        FileParser(cursor: cursor).parseFile(isInclude: isInclude)
    }

    /// Parses the whole file: the scenario, or a file that it includes.
    private func parseFile(isInclude: Bool) {
        while cursor.kind != .end {
            if cursor.take(.newline) || cursor.take(.semicolon) { continue }
            let start = cursor.index
            if !isInclude {
                let next = cursor.token(ahead: 1).kind == .word ? cursor.text(cursor.token(ahead: 1)) : ""
                context.evidence.noteStatement(cursor.kind == .word ? cursor.word : nil, next: next)
            }
            do throws(Abandoned) {
                try parseStatement(isInclude: isInclude)
                if !isInclude { noteRead(from: start) }
                try steps.parseEndOfStatement()
            } catch {
                if !isInclude, context.titleStatement == nil { context.evidence.unreadBeforeTitle += 1 }
                steps.recover(from: start)
            }
        }
    }

    /// Records that a statement was parsed, unless its first word is an undeclared name, because the statement may then
    /// be a sentence of prose.
    private func noteRead(from start: Int) {
        let word = cursor.text(cursor.tokens[start])
        if ReservedNames.contains(word) || context.actorKinds[word] != nil { context.evidence.wasRead = true }
    }

    private func parseStatement(isInclude: Bool) throws(Abandoned) {
        let first = cursor.token
        if cursor.kind == .rightBrace { throw cursor.fail(.unmatchedBrace, at: cursor.span(first)) }
        guard cursor.kind == .word else { throw cursor.expected("a statement") }
        if context.firstStatement == nil, !isInclude { context.firstStatement = cursor.span(first) }
        if try header.parseStatement() {
            if let firstStep = context.firstStep {
                cursor.report(
                    .headerAfterStep, "`\(cursor.text(first))` belongs in the header, but follows the first step",
                    hint: "move the statement up, before the first step", at: cursor.span(first),
                    notes: [Diagnostic.Note("the first step is here", span: firstStep)])
            }
            return
        }
        if isInclude {
            cursor.report(
                .stepInInclude, "an included file can't contain steps",
                hint: "put the steps in a `define`, and write `do NAME` where they should run", at: cursor.span(first))
        }
        guard let step = try steps.parseStep(), !isInclude else { return }
        if context.firstStep == nil { context.firstStep = cursor.span(first) }
        context.scenario.steps.append(step)
    }
}

extension Diagnostic.Message {
    static let unmatchedBrace = Self(
        .unmatchedBrace, "this `}` has no matching `{`", hint: "remove the `}`, or add the missing `{`")
}
