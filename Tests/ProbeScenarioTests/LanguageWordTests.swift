import Testing

@testable import ProbeScenario

struct LanguageWordTests {
    /// All words of the language that appear in the forms of the reference, in the lists of highlighted words and in
    /// the properties.
    private static let words: [String] = {
        let forms = LanguageTable.all.flatMap(\.entry.rows).flatMap(\.forms) + ActorProperty.all.flatMap(\.forms)
        let listed = EditorWords.lists.flatMap(\.words).flatMap { $0.split(separator: " ").map(String.init) }.filter {
            $0 != "a"
        }
        return Set(forms.flatMap { $0.matches(of: /\b[a-z][a-z-]+\b/).map { String($0.output) } } + listed).sorted()
    }()

    private func explanation(of word: String) -> String? {
        let found = LanguageTable.find(word)
        let pages = found.map(EntryExplanation.text)
        let page = LanguageWord.explanation(of: word, hasEntry: !found.isEmpty)
        return pages.isEmpty ? page : pages.joined()
    }

    @Test func everyWordOfTheLanguageIsExplained() {
        #expect(Self.words.count > 200)
        // Text inside the quotes of an example is not part of the language.
        let quoted: Set = [
            "app", "bye", "chat", "common", "hello", "imap", "owner", "re", "repo", "run", "scn", "sock", "title",
        ]
        #expect(Self.words.filter { !quoted.contains($0) && explanation(of: $0) == nil } == [])
    }

    @Test(arguments: [
        "within", "after", "every", "at", "as", "in pieces of", "cut at random", "receive-buffer", "nodelay", "S.port",
        "${C.peer.port}", "peer.port", "passed", "inconclusive", "unsupported", "should", "netstring", "30ms", "4KiB",
        "->", "|", "jitter", "half-close", "ipv6",
        "${E.port}", "E.port", "require capture", "queue",
    ])
    func wordsWithoutAnEntryHaveAPage(_ word: String) throws {
        let page = try #require(explanation(of: word))
        #expect(page.split(separator: "\n").count > 1)
    }

    @Test func otherTextIsNotExplained() {
        for text in ["quux", "cutting", "", " ", "sendd"] {
            #expect(explanation(of: text) == nil, "\(text)")
        }
    }

    @Test func explanationsArePlainText() {
        for listed in LanguageTable.all {
            let text = EntryExplanation.text(of: listed)
            #expect(!text.contains("](") && !text.contains("\\|"), "\(listed.name)")
        }
    }

    @Test func examplesOfWordsParse() {
        for word in LanguageWord.all {
            guard let example = word.example else { continue }
            let actors: [String: ActorKind] = ["S": .server, "C": .client, "T": .subject]
            let errors = ScenarioCompiler.syntaxErrors(in: Array(example.utf8), actors: actors)
            #expect(errors.isEmpty, "\(example)")
        }
    }
}
