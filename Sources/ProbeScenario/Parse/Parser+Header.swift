import ProbeBase

extension Parser {
    /// Reads the whole file: the scenario, or one that it includes.
    mutating func parseFile(isInclude: Bool) {
        while kind != .end {
            if take(.newline) || take(.semicolon) { continue }
            let start = index
            do throws(Abandoned) {
                try parseStatement(isInclude: isInclude)
                try parseEndOfStatement()
            } catch {
                recover(from: start)
            }
        }
    }

    private mutating func parseStatement(isInclude: Bool) throws(Abandoned) {
        let first = token
        if kind == .rightBrace { throw fail(.unmatchedBrace, at: span(first)) }
        guard kind == .word else { throw expected("a statement") }
        if context.given["any"] == nil, !isInclude { context.given["any"] = span(first) }
        if try parseHeaderStatement() {
            if let firstStep = context.firstStep {
                report(
                    .structure(.headerAfterStep(text(first))), at: span(first),
                    notes: [Diagnostic.Note("the first step is here", span: firstStep)])
            }
            return
        }
        if isInclude { report(.structure(.stepInInclude), at: span(first)) }
        guard let step = try parseStep(), !isInclude else { return }
        if context.firstStep == nil { context.firstStep = span(first) }
        context.scenario.steps.append(step)
    }

    /// Reads a statement of the header; false when it is none.
    private mutating func parseHeaderStatement() throws(Abandoned) -> Bool {
        if let candidate = try take(HeaderStatement.phraseIndex) {
            try candidate.phrase.read(&self)
            return true
        }
        return try parseUnbuiltDeclaration()
    }

    /// `crowd`, `link` and `name`.
    private mutating func parseUnbuiltDeclaration() throws(Abandoned) -> Bool {
        let first = token
        if take(word: "crowd") {
            let name = try parseNewName("a name", "crowd W = 10000 clients -> S")
            declare(name, as: "actor")
            context.actorKinds[name.value] = .crowd
            notBuilt(.crowd, at: span(first))
        } else if take(word: "name") {
            notBuilt(.name, at: span(first))
        } else if isWord("link"), token(ahead: 2).kind == .doubleArrow, isHeaderLink {
            advance()
            notBuilt(.link, at: span(first))
        } else {
            return false
        }
        skipStatement()
        return true
    }

    private var isHeaderLink: Bool {
        switch token(ahead: 4).kind {
        case .newline, .end, .semicolon: true
        default: false
        }
    }

    /// Statements that say one thing may stand once.
    func once(_ first: Token? = nil) {
        let first = first ?? lastWord
        let word = text(first)
        if let earlier = context.given[word] {
            report(
                .structure(.givenTwice(word)), at: span(first),
                notes: [Diagnostic.Note("the first one is here", span: earlier)])
        } else {
            context.given[word] = span(first)
        }
    }

    mutating func parseTitle() throws(Abandoned) {
        let first = lastWord
        // The scenario is the first file.
        let isInclude = file > 0
        if !isInclude, context.given["title"] == nil { context.given["title"] = span(first) }
        if isInclude { report(.structure(.scenarioInInclude), at: span(first)) }
        let title = try parsePlainString("the title", "scenario \"reply cut inside CRLF\"")
        if !isInclude {
            once(first)
            context.scenario.title = title
        }
    }

    /// One of a closed list of words.
    mutating func parseChoice<Choice: RawRepresentable<String>>(
        _ what: String, _ choices: [Choice]
    ) throws(Abandoned) -> Choice {
        let names = choices.map(\.rawValue)
        guard kind == .word else { throw expected("\(what) (\(names.joined(separator: ", ")))") }
        let word = text(token)
        guard let choice = choices.first(where: { $0.rawValue == word }) else {
            throw fail(.unknownWord(word, what: what, choices: names), at: span(token))
        }
        advance()
        return choice
    }

    mutating func parseFraming() throws(Abandoned) -> Framing {
        let place = span(token)
        let framing = try parseChoice("a framing", Framing.allCases)
        if framing == .websocket { notBuilt(.webSocketFraming, at: place) }
        return framing
    }

    mutating func parseRequirement() throws(Abandoned) {
        let first = lastWord
        let choices = ["capture", "ipv6", "link", "tls", "root", "command", "subject"]
        let what = try parseName("a requirement (\(choices.joined(separator: ", ")))", "require command redis-server")
        let kind: Requirement.Kind
        switch what.value {
        case "capture": kind = .capture
        case "ipv6": kind = .ipv6
        case "root": kind = .root
        case "link":
            notBuilt(.requireLink, at: what.span)
            kind = .link
        case "tls":
            notBuilt(.requireTLS, at: what.span)
            kind = .tls
        case "command": kind = .command(try parseCommandName())
        case "subject":
            kind = .subject(capability: try parseChoice("a capability of a subject", Capability.allCases).rawValue)
        default: throw fail(.unknownWord(what.value, what: "a requirement", choices: choices), at: what.span)
        }
        context.scenario.requirements.append(Requirement(kind: kind, span: span(from: first)))
    }

    /// `redis-server`, `python3.11`, `"/opt/x y/z"`: words, numbers and dots without space between them.
    private mutating func parseCommandName() throws(Abandoned) -> String {
        if kind == .string || kind == .rawString { return try parsePlainString("a command", "").value }
        guard kind == .word || kind == .number else { throw expected("a command", "require command redis-server") }
        let start = token
        advance()
        while !token.isSpaced, [.word, .number, .dot, .minus, .plus].contains(kind) { advance() }
        let place = span(from: start)
        return bytes.text(place.start..<place.end)
    }

    // MARK: Parameters and definitions

    /// Notes that the header declares a name.
    func declare(_ name: Name, as what: String) {
        if let earlier = context.declarations[name.value] {
            report(
                .name(.duplicate(name.value, what: what)), at: name.span,
                notes: [Diagnostic.Note("`\(name.value)` is given here first", span: earlier)])
        } else {
            context.declarations[name.value] = name.span
        }
    }

    mutating func parseEach() throws(Abandoned) {
        let first = lastWord
        var names: [Name] = []
        repeat { names.append(try parseNewName("a name", "each x = 1022, 1023")) } while take(.comma)
        let source: Parameter.Source
        if take(word: "in") {
            source = .table(try parseName("the name of a table", "each cmd, reply in replies"))
        } else {
            try expect(.assign, "`=` or `in`", "each x = 1022, 1023")
            guard names.count == 1 else { throw fail(.eachNeedsTable, at: names[1].span) }
            source = try parseEachSource()
        }
        for name in names { declare(name, as: "each") }
        if case .range = source { context.integerNames.insert(names[0].value) }
        if case .list(let values) = source, values.allSatisfy({ isIntegerLike($0) }) {
            context.integerNames.insert(names[0].value)
        }
        context.headerOrder.append(.parameter(context.scenario.parameters.count))
        context.scenario.parameters.append(Parameter(names: names, source: source, span: span(from: first)))
    }

    private mutating func parseEachSource() throws(Abandoned) -> Parameter.Source {
        if isWord("cuts"), token(ahead: 1).kind == .leftParenthesis {
            let call = try parseExpression()
            guard case .call(let name, let arguments) = call.kind, name.value == "cuts" else {
                throw fail(.cutsNotAlone, at: call.span)
            }
            var count = 1
            if arguments.count == 2 {
                guard case .integer(let value) = arguments[1].value.kind, (1...4).contains(value) else {
                    throw fail(.cutsCount, at: arguments[1].value.span)
                }
                count = value
            } else if arguments.count != 1 {
                throw fail(
                    .argumentCount("cuts", "one value, and how often it is cut", example: "cuts(V, 2)"), at: call.span)
            }
            return .cuts(arguments[0].value, count: count)
        }
        if isAtEnd { throw expected("a value", "each x = 1022, 1023") }
        let start = try parseExpression("a value", "each x = 1022, 1023")
        if take(.dotDot) { return .range(start, try parseExpression("the end of the range", "1..13")) }
        var values = [start]
        while take(.comma) { values.append(try parseExpression("a value behind the comma")) }
        return .list(values)
    }

    func isIntegerLike(_ expression: Expression) -> Bool {
        switch expression.kind {
        case .integer, .divide, .subtract: true
        case .variable(let name): context.integerNames.contains(name)
        case .parenthesized(let inner), .add(let inner, _), .multiply(let inner, _): isIntegerLike(inner)
        case .call(let name, _): Function(rawValue: name.value)?.makesInteger ?? false
        case .string, .hex: false
        }
    }

    mutating func parseTable() throws(Abandoned) {
        let example = "table replies = \"NOOP\" /^250 /, \"RSET\" /^250 /"
        let name = try parseNewName("a name", example)
        try expect(.assign, "`=`", example)
        var rows: [[Table.Cell]] = []
        repeat {
            var row: [Table.Cell] = []
            while kind == .regex || startsExpression {
                row.append(kind == .regex ? .regex(try parseRegex()) : .value(try parseExpression()))
            }
            if row.isEmpty { throw expected("a value or a regex", example) }
            rows.append(row)
        } while take(.comma)
        declare(name, as: "table")
        if let odd = rows.firstIndex(where: { $0.count != rows[0].count }) {
            report(
                .structure(.unevenTable(row: odd + 1, has: rows[odd].count, first: rows[0].count)), at: name.span)
        }
        context.headerOrder.append(.table(name.value))
        context.scenario.tables[name.value] = Table(name: name, rows: rows)
    }

    mutating func parseConstant() throws(Abandoned) {
        let (name, value) = try parseLet()
        declare(name, as: "let")
        context.headerOrder.append(.constant(context.scenario.constants.count))
        context.scenario.constants.append((name, value))
    }

    /// `let name = VALUE`
    mutating func parseLet() throws(Abandoned) -> (Name, Expression) {
        let name = try parseNewName("a name", "let name = \"value\"")
        try expect(.assign, "`=`", "let name = \"value\"")
        let value = try parseExpression("a value", "let name = \"value\"")
        if isIntegerLike(value) { context.integerNames.insert(name.value) }
        return (name, value)
    }

    mutating func parseDefinition() throws(Abandoned) {
        let name = try parseNewName("a name", "define login { … }")
        let block = try parseBlock()
        if let earlier = context.definitionNames[name.value] {
            report(
                .name(.duplicate(name.value, what: "define")), at: name.span,
                notes: [Diagnostic.Note("`\(name.value)` is defined here first", span: earlier.span)])
        } else {
            context.definitionNames[name.value] = name
            context.scenario.definitions[name.value] = block
        }
    }

    // MARK: Includes

    mutating func parseInclude() throws(Abandoned) {
        let example = "include \"common.scn\""
        let path = try parsePlainString("a path", example)
        if path.value.isEmpty { throw expected("a path", example) }
        guard
            let named = ScriptPath.file(
                path.value, saidIn: context.sources.files[file].path, of: context.sources.files[0].path)
        else {
            report(.value(.outsideFolder(path.value)), at: path.span)
            return
        }
        let resolved = named.shown
        if context.includeStack.contains(where: { ScriptPath.normalized($0) == ScriptPath.normalized(resolved) }) {
            report(.structure(.includeCycle(path.value)), at: path.span)
            return
        }
        guard context.includeStack.count <= 16 else {
            report(.structure(.includeTooDeep(16)), at: path.span)
            return
        }
        guard context.included.insert(ScriptPath.normalized(resolved)).inserted else { return }
        let bytes: [UInt8]
        do throws(LoadError) {
            bytes = try context.loader(named)
        } catch {
            report(.structure(.includeMissing(path.value, error)), at: path.span)
            return
        }
        context.includeStack.append(resolved)
        defer { context.includeStack.removeLast() }
        let included = context.sources.add(SourceFile(path: resolved, bytes: bytes))
        Self.parse(file: included, bytes: bytes, into: context, isInclude: true)
    }

    /// Reads one file into the context.
    static func parse(file: Int, bytes: [UInt8], into context: ParseContext, isInclude: Bool) {
        let list = Lexer.tokens(file: file, bytes: bytes)
        for diagnostic in list.diagnostics { context.diagnostics.add(diagnostic) }
        guard !list.isUnreadable else {
            if file == 0 { context.isUnreadable = true }
            return
        }
        var parser = Parser(file: file, bytes: bytes, tokens: list.tokens, context: context)
        parser.parseFile(isInclude: isInclude)
    }
}
