import ProbeScenario

/// Looks up statements in the language's table by their words.
struct StatementEntry: Sendable {
    /// An entry in the language's table, and the words of the statement that correspond to the entry.
    struct Match: Sendable {
        var entry: ListedEntry
        /// The words as indices into the outline's tokens.
        var words: Set<Int>
    }

    let outline: ScriptOutline
    /// Returns the kind of an actor, even if the actor is declared in another file.
    let kindOf: @Sendable (String) -> ActorKind?

    // MARK: Candidates

    /// Returns the table entries that can follow the actor of a step.
    static func verbs(of kind: ActorKind?) -> [ListedEntry] {
        LanguageTable.all.filter {
            $0.category == .verb && (isOf($0, kind) || $0.entry.spelling == "expect" && kind != .link)
        }
    }

    /// Returns the table entries that can follow `expect`.
    static func expectations(of kind: ActorKind?) -> [ListedEntry] {
        LanguageTable.all.filter { $0.category == .expectation && isOf($0, kind) }
    }

    static func entries(_ category: ListedEntry.Category) -> [ListedEntry] {
        LanguageTable.all.filter { $0.category == category }
    }

    private static func isOf(_ entry: ListedEntry, _ kind: ActorKind?) -> Bool {
        switch kind {
        case nil, .connection: entry.kind == .connection
        case .server: entry.kind == .server || entry.kind == .connection
        case .client: entry.kind == .client || entry.kind == .connection
        // Data that passes through a proxy is expected in the same way as data on a connection.
        case .proxy: entry.kind == .proxy || entry.category == .expectation && entry.kind == .connection
        case .subject, .process, .crowd, .link: entry.kind == kind
        }
    }

    /// Returns whether a statement belongs to the script of a crowd's members, inside `W start { … }`.
    func isInMember(_ opener: Int?) -> Bool {
        var opener = opener
        while let index = opener {
            let words = Array(outline.tokens[outline.statements[index].tokens].prefix(2))
            if words.count == 2, kindOf(outline.text(of: words[0])) == .crowd, outline.text(of: words[1]) == "start" {
                return true
            }
            opener = outline.statements[index].opener
        }
        return false
    }

    // MARK: Matching

    /// Returns the table entry for a statement; `nil` if no entry matches the statement's words.
    func match(_ statement: Int) -> Match? {
        let tokens = Array(outline.statements[statement].tokens)
        guard let first = tokens.first, outline.tokens[first].kind == .word else { return nil }
        let word = text(first)
        let isHeader = outline.statements[statement].opener == nil && outline.firstStep.map { statement < $0 } ?? true
        if isInMember(outline.statements[statement].opener) {
            return best(Self.entries(.member), in: tokens[...])
        }
        if word == "wire" || word == "link", let match = matchDirected(tokens, word) { return match }
        if word == "or", outline.statements[statement].opener != nil || statement > 0,
            let either = LanguageTable.find("either").first
        {
            return Match(entry: either, words: [first])
        }
        let categories: [ListedEntry.Category] = isHeader ? [.header, .step] : [.step, .header]
        if !isActor(word) || ReservedNames.contains(word) {
            for category in categories {
                if let match = best(Self.entries(category), in: tokens[...]) { return match }
            }
        }
        return matchAct(tokens)
    }

    private func isActor(_ word: String) -> Bool { kindOf(word) != nil }

    /// Matches a step of an actor, such as `S expect line "x"`.
    private func matchAct(_ tokens: [Int]) -> Match? {
        let kind = kindOf(text(tokens[0]))
        let rest = tokens.dropFirst()
        guard let verb = rest.first, outline.tokens[verb].kind == .word else { return nil }
        if text(verb) == "expect" {
            if var match = best(Self.expectations(of: kind), in: rest.dropFirst()) {
                match.words.insert(verb)
                return match
            }
        }
        return best(Self.verbs(of: kind), in: rest)
            // The actor has no known declaration, so all verbs are considered.
            ?? (kind == nil ? best(Self.entries(.verb), in: rest) : nil)
    }

    /// Matches a statement with a direction, such as `wire S -> T gap 1 >= 25ms` or `link S -> T drop data 3`.
    private func matchDirected(_ tokens: [Int], _ word: String) -> Match? {
        let arrow = tokens.prefix(4).firstIndex { [.arrow, .doubleArrow].contains(outline.tokens[$0].kind) }
        let rest: ArraySlice<Int>
        let entries: [ListedEntry]
        if let arrow {
            rest = tokens.dropFirst(arrow + 2)
            entries = word == "wire" ? Self.entries(.wire).filter(\.isDirected) : Self.entries(.link)
        } else {
            rest = tokens.dropFirst()
            entries = word == "wire" ? Self.entries(.wire).filter { !$0.isDirected } : []
        }
        guard var match = best(entries, in: rest) else { return nil }
        match.words.insert(tokens[0])
        return match
    }

    /// Returns the table entry that has the most words in common with the statement.
    private func best(_ entries: [ListedEntry], in tokens: ArraySlice<Int>) -> Match? {
        var best: Match?
        for entry in entries {
            guard let words = words(of: entry, in: tokens) else { continue }
            if words.count > best?.words.count ?? 0 { best = Match(entry: entry, words: words) }
        }
        return best
    }

    /// Returns the positions in a statement at which the words of a table entry occur; `nil` if a word is missing.
    /// After a `…` in the entry, the next word may be at any distance.
    private func words(of entry: ListedEntry, in tokens: ArraySlice<Int>) -> Set<Int>? {
        var found: Set<Int> = []
        var rest = tokens
        var isAnywhere = false
        for word in entry.entry.spelling.split(separator: " ") {
            if word == "…" {
                isAnywhere = true
                continue
            }
            if isAnywhere { rest = rest.drop { text($0) != word } }
            guard let token = rest.first, outline.tokens[token].kind == .word, text(token) == word else { return nil }
            found.insert(token)
            rest = rest.dropFirst()
            isAnywhere = false
        }
        return found.isEmpty ? nil : found
    }

    private func text(_ token: Int) -> String { outline.text(of: outline.tokens[token]) }
}
