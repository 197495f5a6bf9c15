import ProbeBase
import ProbeScenario

/// The completions at a position, according to the language's table, the preceding words, and the names in the script.
///
/// Only the words of the step before the position are taken into account. The checker later reports whether the
/// complete step is valid.
struct Completions: Sendable {
    let analysis: ScriptAnalysis
    let offset: Int
    /// The outline of the text before the position; the text after the position is ignored.
    private let before: ScriptOutline

    init(_ analysis: ScriptAnalysis, at offset: Int) {
        self.analysis = analysis
        self.offset = offset
        before = ScriptOutline(Array(analysis.document.text.bytes[..<offset]))
    }

    /// Returns the completion items, and the range of bytes that they replace.
    func answer() -> (items: [CompletionItem], replaced: Range<Int>) {
        let nothing = offset..<offset
        if isInComment { return ([], nothing) }
        let tokens = before.tokens.filter { $0.start < offset || ![.newline, .end].contains($0.kind) }
        if let last = tokens.last, Int(last.end) == offset {
            switch last.kind {
            case .number: return units(after: last)
            case .string, .rawString, .regex: return ([], nothing)
            case .invalid, .shellWord: return interpolation(in: Int(last.start)..<Int(last.end))
            default: break
            }
        }
        let statement = lastStatement(of: tokens)
        var words = statement.tokens
        var replaced = nothing
        if let last = words.last, last.kind == .word, Int(last.end) == offset {
            replaced = Int(last.start)..<offset
            words.removeLast()
        }
        if let last = words.last, last.kind == .dot, Int(last.end) == offset || replaced.lowerBound == Int(last.end) {
            return (webSocketFunctions(), replaced)
        }
        let found = items(after: words, opener: statement.opener, closed: statement.closed)
        guard let first = words.first else { return (found, replaced) }
        let probe = InsertionProbe(
            analysis, typed: Array(before.bytes[Int(first.start)..<(replaced.isEmpty ? offset : replaced.lowerBound)]),
            isStep: statement.opener != nil || before.firstStep != nil,
            isInMember: isInMember(statement.opener))
        return (found.filter { ![.keyword, .value].contains($0.kind) || probe.accepts($0.label) }, replaced)
    }

    /// Whether the position is in a comment, which extends to the end of its line.
    private var isInComment: Bool {
        guard let last = before.comments.last else { return false }
        return last.upperBound == offset && last.lowerBound < offset
    }

    /// Returns the tokens after the last complete statement. `closed` is the statement whose block ends immediately
    /// before these tokens.
    private func lastStatement(of tokens: [Token]) -> (tokens: [Token], opener: Int?, closed: Int?) {
        var openers: [Int?] = []
        var closed: Int?
        var depth = 0
        var start = 0
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .leftParenthesis: depth += 1
            case .rightParenthesis: depth = max(0, depth - 1)
            case .newline, .semicolon, .end:
                start = index + 1
                depth = 0
                closed = nil
            case .leftBrace where depth == 0:
                closed = nil
                openers.append(before.statements.firstIndex { $0.tokens.upperBound == index })
                start = index + 1
            case .rightBrace where depth == 0:
                closed = openers.popLast() ?? nil
                start = index + 1
            default: break
            }
        }
        return (Array(tokens[start...]), openers.last ?? nil, closed)
    }

    // MARK: Strings and numbers

    /// Returns a number with each of its possible units, for text such as `200` and `200m`.
    private func units(after number: Token) -> (items: [CompletionItem], replaced: Range<Int>) {
        let digits = before.text(of: number).prefix { $0.isNumber || $0 == "_" || $0 == "." }
        let items = OperandWords.units.map { CompletionItem(digits + $0, .unit, detail: "\(digits) \($0)") }
        return (items, Int(number.start)..<offset)
    }

    /// Returns completions in an unterminated string or in the command of a process: names after `${`, and properties
    /// after `${S.`.
    private func interpolation(in span: Range<Int>) -> (items: [CompletionItem], replaced: Range<Int>) {
        let bytes = before.bytes
        var start = offset
        while start > span.lowerBound, Self.isNameByte(bytes[start - 1]) { start -= 1 }
        var path: [String] = []
        var index = start
        while index > span.lowerBound, bytes[index - 1] == UInt8(ascii: ".") {
            let end = index - 1
            index = end
            while index > span.lowerBound, Self.isNameByte(bytes[index - 1]) { index -= 1 }
            path.insert(String(decoding: bytes[index..<end], as: UTF8.self), at: 0)
        }
        guard index - 2 >= span.lowerBound, bytes[index - 1] == UInt8(ascii: "{"), bytes[index - 2] == UInt8(ascii: "$")
        else { return ([], offset..<offset) }
        var items = CompletionItems()
        guard let actor = path.first else {
            addNames(to: &items)
            addActors(to: &items)
            items.add(words: ["dir", "ca"], .value)
            return (items.all, start..<offset)
        }
        let typedPath = path.dropFirst().joined(separator: ".")
        for property in analysis.kind(of: actor).map(ActorProperty.choices) ?? [] {
            let rest =
                typedPath.isEmpty
                ? property : property.hasPrefix(typedPath + ".") ? String(property.dropFirst(typedPath.count + 1)) : ""
            if !rest.isEmpty, !rest.contains(" ") { items.add(CompletionItem(rest, .property)) }
        }
        return (items.all, start..<offset)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }

    private func webSocketFunctions() -> [CompletionItem] {
        var items = CompletionItems()
        for entry in StatementEntry.entries(.function) where entry.entry.spelling.hasPrefix("ws.") {
            items.add(CompletionItem(String(entry.entry.spelling.dropFirst(3)), entry))
        }
        return items.all
    }

    // MARK: Statements

    private func items(after words: [Token], opener: Int?, closed: Int?) -> [CompletionItem] {
        let texts = words.map { $0.kind == .word ? before.text(of: $0) : "" }
        var items = CompletionItems()
        if texts.isEmpty, let closed, ["either", "or"].contains(firstWord(of: closed)) { items.add(words: ["or"]) }
        if OperandWords.takesDuration(texts) {
            for duration in OperandWords.durations { items.add(CompletionItem(duration, .unit)) }
            return items.all
        }
        let isInMember = isInMember(opener)
        guard let first = texts.first else {
            addStarts(to: &items, opener: opener, isInMember: isInMember)
            return items.all
        }
        let operands = OperandWords.after(texts.filter { !$0.isEmpty }, of: kindOfStatement(first))
        if OperandWords.isClosed(texts) {
            items.add(words: operands, .value)
            return items.all
        }
        if isInMember {
            add(StatementEntry.entries(.member), after: texts[...], to: &items)
        } else if let kind = analysis.kind(of: first), !ReservedNames.contains(first) {
            addActs(of: kind, texts, to: &items)
        } else {
            addOther(first, words, texts, isHeader: opener == nil, to: &items)
        }
        items.add(words: operands, .value)
        return items.all
    }

    private func isInMember(_ opener: Int?) -> Bool {
        let kinds = analysis
        return StatementEntry(outline: before, kindOf: { kinds.kind(of: $0) }).isInMember(opener)
    }

    private func firstWord(of statement: Int) -> String {
        before.statements[statement].tokens.first.map { before.text(of: before.tokens[$0]) } ?? ""
    }

    /// Returns the kind of the actor that the statement begins with, or that it declares.
    private func kindOfStatement(_ first: String) -> ActorKind? {
        analysis.kind(of: first) ?? ActorKind(rawValue: first)
    }

    /// Adds everything with which a statement can begin.
    private func addStarts(to items: inout CompletionItems, opener: Int?, isInMember: Bool) {
        if isInMember {
            for entry in StatementEntry.entries(.member) { items.add(CompletionItem(Self.beginning(of: entry), entry)) }
            return
        }
        addActors(to: &items)
        let isHeader = opener == nil && before.firstStep == nil
        for category in isHeader ? [ListedEntry.Category.header, .step] : [.step] {
            for entry in StatementEntry.entries(category) { items.add(CompletionItem(entry.entry.spelling, entry)) }
        }
    }

    private func addActs(of kind: ActorKind, _ texts: [String], to items: inout CompletionItems) {
        let rest = texts.dropFirst()
        if rest.first == "expect" {
            add(StatementEntry.expectations(of: kind), after: rest.dropFirst(), to: &items)
            if rest.count == 1 { addValues(to: &items) }
            if kind == .proxy, rest.count > 1, !rest.contains("from") { items.add(words: ["from"]) }
        } else {
            add(StatementEntry.verbs(of: kind), after: rest, to: &items)
        }
    }

    /// Adds the completions for a header statement, or for a step that does not begin with an actor.
    private func addOther(
        _ first: String, _ words: [Token], _ texts: [String], isHeader: Bool, to items: inout CompletionItems
    ) {
        let arrow = words.firstIndex { $0.kind == .arrow || $0.kind == .doubleArrow }
        switch first {
        case "do" where texts.count == 1: return addBindings(to: &items, .reference) { $0 == .definition }
        case "each", "for":
            if texts.last == "in" { return addBindings(to: &items, .reference) { $0 == .table } }
            if texts.last != "", !texts.contains("in") { return items.add(words: ["in"]) }
        case "whenever" where texts.count == 1, "link" where arrow == nil: return addActors(to: &items)
        case "wire" where arrow == nil:
            if texts.count == 1 || ["from", "by", "to"].contains(texts.last ?? "") { addActors(to: &items) }
            return add(StatementEntry.entries(.wire).filter { !$0.isDirected }, after: texts.dropFirst(), to: &items)
        case "wire", "link":
            guard let arrow, arrow < words.count - 1 else { return addActors(to: &items) }
            let entries = StatementEntry.entries(first == "wire" ? .wire : .link).filter {
                first == "link" || $0.isDirected
            }
            return add(entries, after: texts[min(arrow + 2, texts.count)...], to: &items)
        case _ where words.last?.kind == .arrow: return addActors(to: &items)
        default: break
        }
        let categories: [ListedEntry.Category] =
            isHeader && before.firstStep == nil ? [.header, .step] : [.step, .header]
        for category in categories {
            let entries = StatementEntry.entries(category).filter { $0.entry.spelling == first }
            add(entries, after: texts[...], to: &items)
            if !entries.isEmpty { return }
        }
    }

    // MARK: Entries

    /// Adds the words of a table entry that follow the words already typed, or its clauses if all its words are
    /// present.
    private func add(_ entries: [ListedEntry], after texts: ArraySlice<String>, to items: inout CompletionItems) {
        for entry in entries {
            let own = Self.beginning(of: entry).split(separator: " ").map(String.init)
            guard texts.count < own.count, own.starts(with: texts) else { continue }
            items.add(CompletionItem(own.dropFirst(texts.count).joined(separator: " "), entry))
        }
        let complete = entries.filter { entry in
            let own = Self.beginning(of: entry).split(separator: " ").map(String.init)
            return texts.starts(with: own)
        }
        let longest = complete.map { Self.beginning(of: $0).count }.max()
        for entry in complete where Self.beginning(of: entry).count == longest {
            addClauses(of: entry, texts, to: &items)
        }
    }

    /// Returns the words of a table entry up to its first value.
    private static func beginning(of entry: ListedEntry) -> String {
        entry.entry.spelling.split(separator: " ").prefix { $0 != "…" }.joined(separator: " ")
    }

    private func addClauses(of entry: ListedEntry, _ texts: ArraySlice<String>, to items: inout CompletionItems) {
        let typed = Set(texts).union(entry.category == .expectation ? ["expect"] : [])
        for row in entry.entry.rows + Self.rows(like: entry) {
            for word in row.forms.flatMap(ClauseWords.words) where !typed.contains(word) {
                items.add(CompletionItem(word, .keyword, detail: EntryExplanation.plain(row.meaning)))
            }
        }
        if entry.category == .expectation, ["line", "message"].contains(entry.entry.spelling), !typed.contains("as") {
            items.add(words: ["as"])
        }
        if let timing = entry.entry.timing {
            if case .judged = timing.within, !typed.contains("within") { items.add(CompletionItem("within", .keyword)) }
            if case .judged = timing.after, !typed.contains("after") { items.add(CompletionItem("after", .keyword)) }
        }
        if entry.entry.canBeUnneeded, !typed.contains("if") { items.add(CompletionItem("if needed", .keyword)) }
        if ![.header, .wire, .link].contains(entry.category) || entry.entry.spelling == "let" { addValues(to: &items) }
    }

    /// Returns the table rows of `send` if the entry is `start sending`, which has the same clauses; otherwise no rows.
    private static func rows(like entry: ListedEntry) -> [LanguageEntry.Row] {
        guard entry.entry.spelling == "start sending" else { return [] }
        return LanguageTable.find("send").first { $0.kind == .connection }?.entry.rows ?? []
    }

    // MARK: Names

    private func addValues(to items: inout CompletionItems) {
        addNames(to: &items)
        for entry in StatementEntry.entries(.function) { items.add(CompletionItem(entry.entry.spelling, entry)) }
    }

    private func addNames(to items: inout CompletionItems) { addBindings(to: &items, .variable) { $0 == .value } }

    private func addActors(to items: inout CompletionItems) {
        addBindings(to: &items, .actor) { if case .actor = $0 { true } else { false } }
    }

    private func addBindings(
        to items: inout CompletionItems, _ kind: CompletionItem.Kind, _ isMeant: (ScriptOutline.Role) -> Bool
    ) {
        for (index, file) in analysis.files.enumerated() {
            // A name that is still being typed is not offered as a completion.
            for binding in file.outline.bindings where isMeant(binding.role) {
                if index == 0, binding.span.lowerBound < offset, offset <= binding.span.upperBound { continue }
                items.add(CompletionItem(binding.name, kind, detail: binding.role.phrase))
            }
        }
    }
}

/// Determines whether a word can be inserted into an incomplete statement, by parsing the statement with the word.
///
/// The forms in the reference specify the words that a statement can have, but not their order. For example,
/// `accept tls failed` makes `failed` a word of `accept`, which is only valid after `tls`.
private struct InsertionProbe {
    /// The maximum number of bytes of a statement that is parsed.
    private static let maxLength = 4_096

    private let prefix: [UInt8]
    private let actors: [String: ActorKind]

    /// Texts that may complete the statement after the inserted word. A valid word whose operand is missing may cause
    /// an error.
    private static let continuations = [
        "", " \"a\"", " 1", " 1s", " 1B", " 1B/s", " x", " /a/", " 1B every 1s", " to server",
    ]

    /// Creates a probe.
    ///
    /// - Parameters:
    ///   - typed: the beginning of the statement.
    ///   - isStep: whether the statement can't belong to the header.
    ///   - isInMember: whether the statement belongs to the script of a crowd's members.
    init(_ analysis: ScriptAnalysis, typed: [UInt8], isStep: Bool, isInMember: Bool) {
        let bindings = analysis.files.flatMap(\.outline.bindings)
        var actors: [String: ActorKind] = [:]
        for binding in bindings { if case .actor(let kind) = binding.role { actors[binding.name] = kind } }
        let crowd = actors.first { $0.value == .crowd }?.key ?? ActorKind.crowd.sample
        if isInMember { actors[crowd] = .crowd }
        let opener = isInMember ? "\(crowd) start { " : isStep ? "together { " : ""
        prefix = Array(opener.utf8) + typed
        self.actors = actors
    }

    /// Returns whether the parser accepts the word in combination with any of the continuations.
    func accepts(_ word: String) -> Bool {
        // Parsing a huge statement for each word would take too long.
        guard prefix.count < Self.maxLength else { return true }
        let inserted = prefix.count..<prefix.count + word.utf8.count
        return Self.continuations.contains { rest in
            let errors = ScenarioCompiler.syntaxErrors(in: prefix + Array((word + rest).utf8), actors: actors)
            return !errors.contains { inserted.contains($0.start) }
        }
    }
}

/// The words of the language in a form of the reference, excluding names, numbers and strings.
enum ClauseWords {
    static func words(of form: String) -> [String] {
        let outline = ScriptOutline(Array(form.replacing("\\|", with: "|").utf8))
        return outline.tokens.enumerated().filter { index, token in
            // Functions are omitted because they have their own entries, and names because they are not part of the
            // language.
            token.kind == .word && !isOperand(outline, index)
        }.map { outline.text(of: $0.element) }
    }

    private static func isOperand(_ outline: ScriptOutline, _ index: Int) -> Bool {
        let text = outline.text(of: outline.tokens[index])
        if text.count == 1 || text.contains(where: \.isUppercase) { return true }
        if index + 1 < outline.tokens.count, outline.tokens[index + 1].kind == .leftParenthesis { return true }
        return !Self.known.contains(text)
    }

    /// The words that an editor highlights as part of the language.
    private static let known: Set<String> = Set(
        EditorWords.lists.filter { $0.name != "functions" }.flatMap(\.words).flatMap {
            $0.split(separator: " ").map(String.init)
        })
}
