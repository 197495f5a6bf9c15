import ProbeBase

/// A construct of a script, with the code that parses it.
///
/// The meaning is a value of a type that the engine switches over without a `default`, so a construct that is parsed
/// but never run is a compile-time error.
struct Phrase<Reader: GrammarPart, Meaning: Sendable>: Sendable {
    typealias Read = @Sendable (Reader) throws(Abandoned) -> Meaning

    var entry: LanguageEntry
    /// The words by which the parser recognizes the phrase, in order.
    var words: [[UInt8]]
    /// Whether the parser reports an error if the first word is not followed by the other words, because the first word
    /// can't be a variable at this position.
    var needsAllWords: Bool
    /// Decides whether the words have this meaning at their place in the script. Called with the cursor at the last
    /// word.
    var isMeant: (@Sendable (TokenCursor) -> Bool)?
    /// Whether messages list the phrase as a choice. An alternative form of an entry is not listed.
    var isListed = true
    /// Parses what follows the words of the phrase.
    var read: Read

    /// Creates a phrase.
    ///
    /// - Parameter words: the words by which the parser recognizes the phrase, if they differ from the spelling.
    init(
        _ entry: LanguageEntry, words: String? = nil, needsAllWords: Bool = false,
        when isMeant: (@Sendable (TokenCursor) -> Bool)? = nil, read: @escaping Read
    ) {
        self.entry = entry
        self.words = (words ?? entry.spelling).utf8.split(separator: UInt8(ascii: " ")).map { Array($0) }
        self.needsAllWords = needsAllWords
        self.isMeant = isMeant
        self.read = read
    }

    private init<Part>(_ part: Phrase<Reader, Part>, read: @escaping Read) {
        entry = part.entry
        words = part.words
        needsAllWords = part.needsAllWords
        isMeant = part.isMeant
        isListed = part.isListed
        self.read = read
    }

    /// Returns the phrase with an optional `if needed` after it.
    func ifNeeded() -> Self {
        var phrase = self
        phrase.entry = entry.ifNeeded()
        return phrase
    }

    /// Returns a phrase with the same words and with its meaning wrapped in a value of a larger type.
    func map<Larger>(_ wrap: @escaping @Sendable (Meaning) -> Larger) -> Phrase<Reader, Larger> {
        let read = read
        return Phrase<Reader, Larger>(self) { (reader: Reader) throws(Abandoned) in wrap(try read(reader)) }
    }
}

/// Phrases grouped by their first letter, with the longest phrases first. If two phrases have the same words, the
/// actor's own phrase comes first.
struct PhraseIndex<Reader: GrammarPart, Meaning: Sendable>: Sendable {
    /// A phrase with its words and position. The type is a class, because copying an entry for each word of a script
    /// would take longer than the search itself.
    final class Candidate: Sendable {
        let phrase: Phrase<Reader, Meaning>
        let words: [[UInt8]]
        /// The position of the candidate phrase in the table.
        let place: Int
        let pointsAtOperand: Bool

        init(_ phrase: Phrase<Reader, Meaning>, place: Int) {
            self.phrase = phrase
            self.place = place
            words = phrase.words
            pointsAtOperand = phrase.entry.pointsAtOperand
        }
    }

    private var buckets: [[Candidate]]

    /// Creates an index.
    ///
    /// - Parameter candidates: all phrases, including the phrases of other kinds of actors, so that a message can name
    ///   them.
    init(_ candidates: [(candidate: Candidate, isOwn: Bool)]) {
        buckets = Array(repeating: [], count: Self.bucketCount)
        let ordered = candidates.sorted { left, right in
            let (a, b) = (left.candidate, right.candidate)
            if a.words.count != b.words.count { return a.words.count > b.words.count }
            return left.isOwn == right.isOwn ? a.place < b.place : left.isOwn
        }
        for (candidate, _) in ordered {
            guard let word = candidate.words.first, let letter = word.first else { continue }
            buckets[Self.bucket(letter, length: word.count)].append(candidate)
        }
    }

    init(_ phrases: [Phrase<Reader, Meaning>]) {
        self.init(phrases.enumerated().map { (Candidate($1, place: $0), isOwn: true) })
    }

    /// The first words of all phrases.
    var firstWords: Set<String> {
        Set(buckets.joined().compactMap { $0.words.first.map { String(decoding: $0, as: UTF8.self) } })
    }

    /// Returns the phrases whose first word may have this first letter and this length, in search order.
    func candidates(beginningWith letter: UInt8, length: Int) -> [Candidate] {
        buckets[Self.bucket(letter, length: length)]
    }

    private static var bucketCount: Int { 512 }

    private static func bucket(_ letter: UInt8, length: Int) -> Int {
        (Int(letter) &* 16 ^ length) & (bucketCount - 1)
    }
}

extension TokenCursor {
    /// Returns the phrase that begins with the next words, and moves the cursor past these words; `nil` if no phrase
    /// matches.
    func take<Reader, Meaning>(
        _ phrases: PhraseIndex<Reader, Meaning>
    ) throws(Abandoned) -> PhraseIndex<Reader, Meaning>.Candidate? {
        guard kind == .word else { return nil }
        var unfinished: [(candidate: PhraseIndex<Reader, Meaning>.Candidate, matched: Int)] = []
        let length = Int(token.end - token.start)
        for candidate in phrases.candidates(beginningWith: bytes[Int(token.start)], length: length) {
            let words = candidate.words
            var matched = 0
            while matched < words.count, isWord(words[matched], ahead: matched) { matched += 1 }
            if matched == words.count {
                if let isMeant = candidate.phrase.isMeant, !at(wordsAhead: words.count - 1, isMeant) { continue }
                for _ in 0..<matched { advance() }
                return candidate
            }
            if matched > 1 || matched == 1 && candidate.phrase.needsAllWords { unfinished.append((candidate, matched)) }
        }
        guard let most = unfinished.map(\.matched).max() else { return nil }
        let nearest = unfinished.filter { $0.matched == most }.map(\.candidate).sorted { $0.place < $1.place }
        for _ in 0..<most { advance() }
        var words: [String] = []
        for candidate in nearest where candidate.phrase.isListed {
            let word = "`\(String(decoding: candidate.phrase.words[most], as: UTF8.self))`"
            if !words.contains(word) { words.append(word) }
        }
        throw expected(words.joined(separator: " or "), nearest[0].phrase.entry.example)
    }
}

extension Phrase where Reader == WireParser {
    /// Returns a phrase whose words are followed by a comparison and a number.
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
    /// Returns a phrase whose words are followed by a value or a regex, or only by a name for the received bytes.
    ///
    /// - Parameter sample: the example that messages show; `nil` means the entry's example.
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
