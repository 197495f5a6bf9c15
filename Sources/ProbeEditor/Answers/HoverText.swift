import ProbeBase
import ProbeScenario

/// The text of a hover: the explanation from `tcpprobe explain`, and the definition of a name.
struct HoverText: Sendable {
    /// A part of the hover text, classified by its source.
    enum Part: Equatable, Sendable {
        case explanation(String)
        case script(String)
        case sentence(String)
    }

    /// The maximum length of a line that is quoted from the script.
    private static let longestLine = 200

    let analysis: ScriptAnalysis
    let encoding: PositionEncoding
    private let places: NamedPlace

    init(_ analysis: ScriptAnalysis, _ encoding: PositionEncoding) {
        self.analysis = analysis
        self.encoding = encoding
        places = NamedPlace(analysis: analysis)
    }

    private var outline: ScriptOutline { analysis.document.outline }

    /// Returns the parts of the hover text, and the range that they describe; `nil` if there is nothing to show.
    func answer(at offset: Int) -> (parts: [Part], span: Range<Int>)? {
        var (parts, span) = meaning(at: offset) ?? ([], offset..<offset)
        var ids: [DiagnosticID] = []
        for diagnostic in analysis.diagnostics where !ids.contains(diagnostic.id) {
            guard let place = analysis.spanInDocument(of: diagnostic.span), place.lowerBound <= offset,
                offset <= place.upperBound
            else { continue }
            if parts.isEmpty { span = place }
            ids.append(diagnostic.id)
            parts.append(.explanation(DiagnosticExplanation.page(of: diagnostic.id)))
        }
        return parts.isEmpty ? nil : (parts, span)
    }

    private func meaning(at offset: Int) -> (parts: [Part], span: Range<Int>)? {
        if let id = idInComment(at: offset) { return id }
        guard !outline.isInComment(offset), let index = outline.token(at: offset) else { return nil }
        let token = outline.tokens[index]
        let span = Int(token.start)..<Int(token.end)
        let statement = outline.statement(of: index)
        let kinds = analysis
        let match = statement.flatMap { StatementEntry(outline: outline, kindOf: { kinds.kind(of: $0) }).match($0) }
        if let match, match.words.contains(index) { return ([explained(match.entry)], span) }
        if token.kind == .hexDigits, let hex = LanguageTable.find("hex").first { return ([explained(hex)], span) }
        if token.kind == .word, let function = function(at: index) { return ([explained(function)], span) }
        if let use = places.name(at: offset), let found = places.binding(of: use) {
            return (described(found), use.span)
        }
        if token.kind == .word, let match { return ([explained(match.entry)], span) }
        return nil
    }

    private func explained(_ entry: ListedEntry) -> Part { .explanation(EntryExplanation.text(of: entry)) }

    /// Returns the explanation of a diagnostic's id in a comment such as `# expect: unknown-verb`.
    private func idInComment(at offset: Int) -> (parts: [Part], span: Range<Int>)? {
        guard outline.isInComment(offset), let word = places.word(at: offset), let id = DiagnosticID(rawValue: word)
        else { return nil }
        return ([.explanation(DiagnosticExplanation.page(of: id))], offset..<offset)
    }

    /// Returns the table entry for the function to which a word belongs, such as `u16` before `(`, or `ws` or `text` in
    /// `ws.text(`.
    private func function(at index: Int) -> ListedEntry? {
        var name = outline.text(of: outline.tokens[index])
        var last = index
        func kind(_ place: Int) -> Token.Kind {
            outline.tokens.indices.contains(place) ? outline.tokens[place].kind : .end
        }
        if kind(index + 1) == .dot, kind(index + 2) == .word {
            name += "." + outline.text(of: outline.tokens[index + 2])
            last = index + 2
        } else if kind(index - 1) == .dot, kind(index - 2) == .word {
            name = outline.text(of: outline.tokens[index - 2]) + "." + name
        }
        guard kind(last + 1) == .leftParenthesis else { return nil }
        return StatementEntry.entries(.function).first { $0.entry.spelling == name }
    }

    // MARK: Names

    private func described(_ found: NamedPlace.Found) -> [Part] {
        let file = analysis.files[found.file]
        let line = file.text.position(of: found.binding.span.lowerBound, encoding).line
        let range = file.text.range(ofLine: line)
        let bytes = file.text.bytes[range].prefix(Self.longestLine)
        let shown = Escaped.text(bytes.drop { $0 == 0x20 || $0 == 0x09 })
        let place =
            found.file == 0
            ? "on line \(line + 1)" : "in \(Escaped.text(analysis.lastPart(of: file.path))), line \(line + 1)"
        let name = Escaped.text(found.binding.name)
        return [
            .sentence("\(name): \(found.binding.role.phrase), defined \(place)"),
            .script(shown + (bytes.count < range.count ? "…" : "")),
        ]
    }

    // MARK: Text

    /// Returns the text as plain text, or as Markdown in which text from the script is escaped.
    static func text(_ parts: [Part], isMarkdown: Bool) -> String {
        parts.map { part in
            switch part {
            case .sentence(let text): isMarkdown ? markdown(text) : text
            case .explanation(let text): isMarkdown ? fenced(trimmed(text), "text") : trimmed(text)
            case .script(let text): isMarkdown ? fenced(text, "scn") : "    " + text
            }
        }.joined(separator: "\n\n")
    }

    /// Escapes the characters that have a meaning in Markdown.
    private static func markdown(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if "\\`*_{}[]<>#|~&!".contains(character) { result.append("\\") }
            result.append(character)
        }
    }

    /// Returns a fenced code block. The fence is longer than any run of backticks in the text.
    static func fenced(_ text: String, _ language: String) -> String {
        var (longest, run) = (2, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        return "\(fence)\(language)\n\(text)\n\(fence)"
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}

extension ScriptAnalysis {
    /// Returns the name of a file, without its folder.
    func lastPart(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}

extension ScriptOutline.Role {
    /// A human-readable description of a name's role.
    var phrase: String {
        switch self {
        case .actor(.connection): "an accepted connection"
        case .actor(let kind): "a \(kind.rawValue)"
        case .value: "a value"
        case .definition: "a block of steps"
        case .table: "a table"
        }
    }
}
