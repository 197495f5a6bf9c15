import ProbeBase
package import ProbeScenario

/// A line that was typed in a session, with its classification.
package enum TypedLine: Sendable, Equatable {
    case nothing
    /// A step of the scenario language, with its actor.
    case step(String)
    /// Text that must be sent as a line.
    case text([UInt8])
    case help
    /// A request for the ladder diagram of the packets so far.
    case ladder
    /// The name of the file to save to; empty if the name is missing.
    case save(String)
    case quit
}

/// Classifies typed lines by their first words.
package struct LineReader: Sendable {
    /// The actor of steps that don't name an actor.
    package let actor: String
    private let verbs: Set<String>
    private let statements: Set<String>
    private var actors: Set<String>
    /// Whether an empty line is sent rather than ignored. An empty line is sent after a line that was sent as text,
    /// because it may end the header of a message.
    private var sendsEmptyLines = false
    /// The lines of a block that has not ended.
    private var block: [String] = []
    private var depth = 0

    /// Creates a reader.
    ///
    /// - Parameter kind: the kind of `actor`.
    package init(actor: String, kind: ActorKind) {
        self.actor = actor
        actors = [actor]
        verbs = Set((LanguageTable.verbEntries(of: kind).map(\.spelling) + ["expect"]).map(Self.firstWord))
        statements = Set(
            LanguageTable.all.filter { $0.category == .step }.map { Self.firstWord($0.entry.spelling) } + [
                "wire", "let",
            ])
    }

    /// Whether further lines are needed to complete a block.
    package var isInBlock: Bool { depth > 0 }

    /// Adds the name of a connection.
    package mutating func add(actor: String) { actors.insert(actor) }

    /// Classifies the next line.
    ///
    /// - Returns: the line or the complete block; `nil` if the block is still incomplete.
    package mutating func read(_ bytes: [UInt8]) -> TypedLine? {
        let text = String(decoding: bytes, as: UTF8.self)
        let line = Self.trimmed(text)
        if isInBlock || (isStatement(line) && Self.code(of: line).hasSuffix("{")) { return readBlock(line) }
        let result = classify(line, bytes)
        if case .text = result { sendsEmptyLines = true } else { sendsEmptyLines = false }
        return result
    }

    /// Discards the lines of an incomplete block.
    package mutating func dropBlock() { (block, depth) = ([], 0) }

    private mutating func readBlock(_ line: String) -> TypedLine? {
        sendsEmptyLines = false
        let code = Self.code(of: line)
        if code.hasPrefix("}") { depth -= 1 }
        if code.hasSuffix("{") { depth += 1 }
        // Inside a block, a step must name its actor, as in every scenario.
        block.append(block.isEmpty || line.hasPrefix("}") ? line : isVerb(line) ? "\(actor) \(line)" : line)
        if depth > 0 { return nil }
        defer { dropBlock() }
        return .step(block.joined(separator: "\n"))
    }

    private func classify(_ line: String, _ bytes: [UInt8]) -> TypedLine {
        if line.isEmpty { return sendsEmptyLines ? .text([]) : .nothing }
        if line.hasPrefix("#") { return .nothing }
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch words[0] {
        case "help" where words.count == 1, "?" where words.count == 1: return .help
        case "quit" where words.count == 1, "exit" where words.count == 1: return .quit
        case "wire" where words.count == 1: return .ladder
        case "save": return .save(words.count > 1 ? Self.trimmed(words[1]) : "")
        default: break
        }
        if isStatement(line) { return .step(line) }
        if isVerb(line) { return .step("\(actor) \(line)") }
        return .text(bytes)
    }

    /// Returns whether the line is a step that names its actor or needs no actor.
    private func isStatement(_ line: String) -> Bool {
        let word = Self.firstWord(line)
        return statements.contains(word) || (actors.contains(word) && line.contains(" "))
    }

    private func isVerb(_ line: String) -> Bool { verbs.contains(Self.firstWord(line)) }

    /// Returns a line without its comment.
    private static func code(of line: String) -> String {
        var (isQuoted, isEscaped) = (false, false)
        var kept = ""
        for character in line {
            if character == "#", !isQuoted, kept.isEmpty || kept.last == " " { break }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
            kept.append(character)
        }
        return trimmed(kept)
    }

    private static func firstWord(_ text: String) -> String { String(text.prefix { $0 != " " && $0 != "\t" }) }

    private static func trimmed(_ text: String) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var rest = text.drop(while: blank)
        while let last = rest.last, blank(last) { rest.removeLast() }
        return String(rest)
    }
}

// MARK: Completion

extension LineReader {
    /// Returns the possible completions of the text: whole words, sorted.
    ///
    /// - Parameter text: the line before the cursor.
    package func completions(of text: String) -> (typed: String, words: [String]) {
        var before = text[...]
        // The list of phrases omits the actor at the beginning of a step.
        if let space = before.firstIndex(of: " "), actors.contains(String(before[..<space])) {
            before = before[before.index(after: space)...]
        }
        let typed = String(before)
        if typed.contains("\"") { return ("", []) }
        let isFirst = before.startIndex == text.startIndex
        let phrases = Self.phrases(isFirst: isFirst, of: LanguageTable.all)
        let found = phrases.filter { $0.hasPrefix(typed) && $0 != typed }
        // Only the next word of each phrase is offered.
        let start = typed.lastIndex(of: " ").map { typed.index(after: $0) } ?? typed.startIndex
        let words = found.map { phrase -> String in
            let rest = phrase[
                phrase.index(phrase.startIndex, offsetBy: typed.distance(from: typed.startIndex, to: start))...]
            return String(rest.prefix { $0 != " " })
        }
        return (
            String(typed[start...]), words.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }.sorted()
        )
    }

    /// Returns the words with which steps begin, up to the first value in each step.
    private static func phrases(isFirst: Bool, of entries: [ListedEntry]) -> [String] {
        let kinds: Set<ActorKind> = [.server, .client, .connection]
        let listed = entries.flatMap { entry -> [String] in
            let forms = entry.entry.rows.flatMap(\.forms).map(words)
            switch entry.category {
            case .verb where entry.kind.map(kinds.contains) == true: return forms + [words(of: entry.entry.spelling)]
            case .expectation where entry.kind.map(kinds.contains) == true:
                return (forms + [words(of: entry.entry.spelling)]).map { "expect \($0)" }
            case .step: return isFirst ? [words(of: entry.entry.spelling)] : []
            case .verb, .expectation, .header, .wire, .link, .member, .function: return []
            }
        }
        return listed + (isFirst ? ["help", "wire", "save", "quit"] : [])
    }

    /// Returns the plain words at the beginning of a statement's syntax.
    private static func words(of form: String) -> String {
        form.split(separator: " ").prefix { word in word.allSatisfy { $0.isLowercase || $0 == "-" } }
            .joined(separator: " ")
    }
}
