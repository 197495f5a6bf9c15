import ProbeBase

/// Parses the statements of a header into the ``ParseContext``.
struct HeaderParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }
    var literals: LiteralParser { LiteralParser(cursor: cursor) }
    var declarations: DeclarationParser { DeclarationParser(cursor: cursor) }
    private var steps: StepParser { StepParser(cursor: cursor) }

    /// Parses a statement of the header; returns false if the next statement is not a header statement.
    func parseStatement() throws(Abandoned) -> Bool {
        if let candidate = try cursor.take(HeaderStatement.phraseIndex) {
            try candidate.phrase.read(self)
            return true
        }
        return false
    }

    /// Reports a second occurrence of a statement that is allowed only once.
    func once(_ first: Token? = nil) {
        let first = first ?? cursor.lastWord
        let word = cursor.text(first)
        if let earlier = context.given[word] {
            cursor.report(
                .givenTwice, "`\(word)` is given twice", hint: "keep one of the two statements", at: cursor.span(first),
                notes: [Diagnostic.Note("the first one is here", span: earlier)])
        } else {
            context.given[word] = cursor.span(first)
        }
    }

    func parseTitle() throws(Abandoned) {
        let first = cursor.lastWord
        // The file at index 0 is the scenario; all other files are included.
        let isInclude = cursor.file > 0
        if !isInclude, context.titleStatement == nil { context.titleStatement = cursor.span(first) }
        if isInclude {
            cursor.report(
                .scenarioInInclude, "an included file can't have a title",
                hint: "remove the title: the title of the including script is used", at: cursor.span(first))
        }
        let title = try literals.parsePlainString("the title", "scenario \"a reply that is cut inside its CRLF\"")
        if !isInclude {
            once(first)
            context.scenario.title = title
        }
    }

    /// The words that can follow `require`.
    static let requirements = ["capture", "ipv6", "link", "tls", "root", "command", "localhost", "subject"]

    func parseRequirement() throws(Abandoned) {
        let first = cursor.lastWord
        let choices = Self.requirements
        let what = try cursor.parseName(
            "a requirement (\(choices.joined(separator: ", ")))", "require command redis-server")
        let kind: Requirement.Kind
        switch what.value {
        case "capture": kind = .capture
        case "ipv6": kind = .ipv6
        case "root": kind = .root
        case "localhost":
            try cursor.expect(word: "ipv6", "require localhost ipv6")
            kind = .localhostIPv6
        case "link": kind = .link
        case "tls": kind = .tls
        case "command":
            kind = .command(try literals.parseSolidText("a command", "require command redis-server").value)
        case "subject":
            kind = .subject(
                capability: try cursor.parseChoice("a capability of a subject", TransportCapability.allCases))
        default:
            throw cursor.fail(.unknownWord(what.value, what: "a requirement", choices: choices), at: what.span)
        }
        context.scenario.requirements.append(Requirement(kind: kind, span: cursor.span(from: first)))
    }

    // MARK: Parameters and definitions

    func parseEach() throws(Abandoned) {
        let first = cursor.lastWord
        var names: [Name] = []
        repeat { names.append(try cursor.parseNewName("a name", "each x = 1022, 1023")) } while cursor.take(.comma)
        let source: Parameter.Source
        if cursor.take(word: "in") {
            source = .table(try cursor.parseName("the name of a table", "each cmd, reply in replies"))
        } else {
            try cursor.expect(.assign, "`=` or `in`", "each x = 1022, 1023")
            guard names.count == 1 else { throw cursor.fail(.eachNeedsTable, at: names[1].span) }
            source = try parseEachSource()
        }
        for name in names { context.declare(name, as: "each") }
        if case .range = source { context.integerNames.insert(names[0].value) }
        if case .list(let list) = source, list.allSatisfy({ values.isIntegerLike($0) }) {
            context.integerNames.insert(names[0].value)
        }
        context.headerOrder.append(.parameter(context.scenario.parameters.count))
        context.scenario.parameters.append(Parameter(names: names, source: source, span: cursor.span(from: first)))
    }

    private func parseEachSource() throws(Abandoned) -> Parameter.Source {
        if cursor.isWord("cuts"), cursor.token(ahead: 1).kind == .leftParenthesis {
            let call = try values.parseExpression()
            guard case .call(let name, let arguments) = call.kind, name.value == "cuts" else {
                throw cursor.fail(
                    .cutsMisplaced, "`cuts(…)` can't be part of another expression",
                    hint: "write `each piece = cuts(V)`", at: call.span)
            }
            var count = 1
            if arguments.count == 2 {
                guard case .integer(let value) = arguments[1].value.kind, (1...4).contains(value) else {
                    throw cursor.fail(
                        .cutsMisplaced, "a value can be cut 1 to 4 times", hint: "write `cuts(V, 2)`",
                        at: arguments[1].value.span)
                }
                count = value
            } else if arguments.count != 1 {
                throw cursor.fail(
                    .argumentCount, "`cuts(…)` takes a value and an optional number of cuts",
                    hint: "for example: cuts(V, 2)", at: call.span)
            }
            return .cuts(arguments[0].value, count: count)
        }
        if cursor.isAtEnd { throw cursor.expected("a value", "each x = 1022, 1023") }
        let start = try values.parseExpression("a value", "each x = 1022, 1023")
        if cursor.take(.dotDot) { return .range(start, try values.parseExpression("the end of the range", "1..13")) }
        var list = [start]
        while cursor.take(.comma) { list.append(try values.parseExpression("a value after the comma")) }
        return .list(list)
    }

    func parseTable() throws(Abandoned) {
        let example = "table replies = \"NOOP\" /^250 /, \"RSET\" /^250 /"
        let name = try cursor.parseNewName("a name", example)
        try cursor.expect(.assign, "`=`", example)
        var rows: [[Table.Cell]] = []
        repeat {
            var row: [Table.Cell] = []
            while cursor.kind == .regex || cursor.startsExpression {
                row.append(
                    cursor.kind == .regex ? .regex(try literals.parseRegex()) : .value(try values.parseExpression()))
            }
            if row.isEmpty { throw cursor.expected("a value or a regex", example) }
            rows.append(row)
        } while cursor.take(.comma)
        context.declare(name, as: "table")
        if let odd = rows.firstIndex(where: { $0.count != rows[0].count }) {
            cursor.report(
                .unevenTable(row: odd + 1, has: rows[odd].count, first: rows[0].count), at: name.span)
        }
        context.headerOrder.append(.table(name.value))
        context.scenario.tables[name.value] = Table(name: name, rows: rows)
    }

    func parseConstant() throws(Abandoned) {
        let (name, value) = try steps.parseLet()
        context.declare(name, as: "let")
        context.headerOrder.append(.constant(context.scenario.constants.count))
        context.scenario.constants.append((name, value))
    }

    func parseDefinition() throws(Abandoned) {
        let name = try cursor.parseNewName("a name", "define login { … }")
        let block = try steps.parseBlock()
        if let earlier = context.definitionNames[name.value] {
            cursor.report(
                .duplicate(name.value), at: name.span,
                notes: [Diagnostic.Note("`\(name.value)` is first defined here", span: earlier.span)])
        } else {
            context.definitionNames[name.value] = name
            context.scenario.definitions[name.value] = block
        }
    }

    // MARK: Includes

    func parseInclude() throws(Abandoned) {
        let example = "include \"common.scn\""
        let path = try literals.parsePlainString("a path", example)
        if path.value.isEmpty { throw cursor.expected("a path", example) }
        guard
            let named = ScriptPath.file(
                path.value, referencedIn: context.sources.files[cursor.file].path, of: context.sources.files[0].path)
        else {
            cursor.report(.outsideFolder(path.value), at: path.span)
            return
        }
        let resolved = named.shown
        if context.includeStack.contains(where: { ScriptPath.normalized($0) == ScriptPath.normalized(resolved) }) {
            cursor.report(
                .includeCycle, "\(Escaped.quoted(path.value)) includes itself",
                hint: "remove one of the includes in the cycle", at: path.span)
            return
        }
        guard context.includeStack.count <= 16 else {
            cursor.report(
                .includeCycle, "includes are nested more than 16 levels deep",
                hint: "include the file from the script itself", at: path.span)
            return
        }
        guard context.included.insert(ScriptPath.normalized(resolved)).inserted else { return }
        let bytes: [UInt8]
        do throws(LoadError) {
            bytes = try context.loader(named)
        } catch {
            cursor.report(
                .includeMissing, "\(Escaped.quoted(path.value)) can't be read: \(error.reason)",
                hint: "give the path relative to the folder of this script", at: path.span)
            return
        }
        context.includeStack.append(resolved)
        defer { context.includeStack.removeLast() }
        let included = context.sources.add(SourceFile(path: resolved, bytes: bytes))
        FileParser.parse(file: included, bytes: bytes, into: context, isInclude: true)
    }
}

extension Diagnostic.Message {
    static let eachNeedsTable = Self(
        .eachNeedsTable, "several names can only be bound to the rows of a table",
        hint: "write `cmd, reply in replies`, and define `table replies = …`")

    static func unevenTable(row: Int, has: Int, first: Int) -> Self {
        Self(
            .unevenTable, "row \(row) of this table has \(counted(has, "cell")), but the first row has \(first)",
            hint: "separate rows with commas, and the cells of a row with spaces")
    }
}
