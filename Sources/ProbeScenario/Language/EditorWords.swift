import ProbeBase

/// The words that the editors' grammars highlight, keyed by their placeholder in `Editors/Templates`.
package enum EditorWords {
    /// Returns a template with placeholders such as `@verbs@` replaced by their words.
    ///
    /// - Parameters:
    ///   - separator: the text between two entries.
    ///   - space: the text that replaces a space inside an entry.
    package static func filled(_ template: String, separator: String, space: String) -> String {
        var text = template
        for (name, words) in lists {
            let list = words.map { $0.replacing(" ", with: space) }.joined(separator: separator)
            text = text.replacing("@\(name)@", with: list)
        }
        return text
    }

    package static let lists: [(name: String, words: [String])] = [
        ("actors", actors), ("header", header), ("steps", steps), ("verbs", verbs), ("first-verbs", firstWords(verbs)),
        ("further-verbs", additionalWords(verbs)), ("members", members), ("functions", functions),
        ("constants", constants), ("clauses", clauses),
    ]

    private static let actors = ["server", "client", "subject", "process", "proxy", "crowd", "link", "name"]
    private static let header = entries(.header).map(\.entry.spelling).filter { !actors.contains($0) && $0 != "let" }
    private static let steps = entries(.step).map(\.entry.spelling).filter { !actors.contains($0) } + ["or"]
    /// The verbs. Verbs that consist of several words come first.
    private static let verbs: [String] = {
        let spellings = Set(entries(.verb).map { $0.words.joined(separator: " ") })
        let shown = spellings.filter { spelling in
            // `read … every` begins with the same word as `read`. The words after `connect` in `connect refused` and
            // `connect timeout` are highlighted as clauses.
            !spelling.hasPrefix("read ") && !["connect refused", "connect timeout"].contains(spelling)
        }
        return shown.union(["read"]).sorted {
            ($1.split(separator: " ").count, $0) < ($0.split(separator: " ").count, $1)
        }
    }()
    /// The first words of the statements of a crowd's members, except words that also begin a step.
    private static let members = firstWords(entries(.member).map(\.entry.spelling)).filter { !steps.contains($0) }
    private static let functions = entries(.function).map(\.entry.spelling).filter { $0 != "hex" }.sorted()
    private static let constants =
        (Framing.allCases.map(\.rawValue) + IntegerFormat.allCases.map(\.rawValue)
        + Scenario.Level.allCases.map(\.rawValue)).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    /// The words of expectations and of wire statements, and the words that follow a verb.
    private static let clauses = Set(
        (entries(.expectation) + entries(.wire) + entries(.link)).flatMap(\.words).filter { !constants.contains($0) }
            + wordsAfterVerbs
    ).sorted()
    private static let wordsAfterVerbs = [
        "within", "after", "every", "as", "at", "cut", "in", "pieces", "of", "random", "seed", "optional", "on", "off",
        "backlog", "with", "listens", "receive-buffer", "send-buffer", "nodelay", "keepalive", "connect-timeout",
        "idle-timeout", "allow-half-close", "discard-too-long", "high-water", "local", "path", "protobuf",
        "heartbeat", "heartbeat-timeout", "heartbeat-answer", "reconnect", "silently",
        "interface", "prefer", "unix", "refused", "timeout", "to", "from",
        "first", "segment",
        "retransmission", "signal", "contains",
        "lacks", "matches", "gets", "for", "urgent", "bytes", "line", "arrived", "again", "all", "behind", "jitter",
        "reorder", "queue",
        "silent", "outside", "by", "clients", "servers", "max", "nxdomain", "fails", "times", "out", "a", "aaaa", "ttl",
        "if", "needed",
    ]

    private static func entries(_ category: ListedEntry.Category) -> [ListedEntry] {
        LanguageTable.all.filter { $0.category == category }
    }

    private static func firstWords(_ spellings: [String]) -> [String] {
        Set(spellings.map { String($0.prefix { $0 != " " }) }).sorted()
    }

    private static func additionalWords(_ spellings: [String]) -> [String] {
        Set(spellings.flatMap { $0.split(separator: " ").dropFirst().map(String.init) }).sorted()
    }
}
