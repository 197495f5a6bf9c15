import ProbeBase

extension Phrase where Reader == WireParser {
    /// A comparison and a number behind the words.
    static func comparison(
        _ entry: LanguageEntry, needsAllWords: Bool = false,
        _ meaning: @escaping @Sendable (Comparison, Expression) -> Meaning
    ) -> Phrase {
        Phrase(entry, needsAllWords: needsAllWords) { parser throws(Abandoned) in
            let (comparison, value) = try parser.values.parseComparison(entry.example)
            return meaning(comparison, value)
        }
    }
}

extension Phrase where Reader == ExpectationParser {
    /// A value or a regex behind the words, or only a name for what comes.
    ///
    /// - Parameter sample: what a message shows; the example where there is none.
    static func pattern(
        _ entry: LanguageEntry, sample: String? = nil,
        when isMeant: @escaping @Sendable (TokenCursor) -> Bool = { !$0.isVariableHere },
        _ meaning: @escaping @Sendable (Pattern, Name?) -> Meaning
    ) -> Phrase {
        Phrase(entry, when: isMeant) { parser throws(Abandoned) in
            let (pattern, name) = try parser.parsePattern(sample ?? entry.example)
            return meaning(pattern, name)
        }
    }
}
