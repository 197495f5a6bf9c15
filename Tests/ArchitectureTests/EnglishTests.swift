import Testing

/// Rejects a few phrases that are never idiomatic in this project's text. All text that people read is checked. Other
/// phrases are left to reviews.
struct EnglishTests {
    /// Each unidiomatic phrase, and the phrase to write instead.
    private static let phrases = [
        ("is told", "reports, is reported as"), ("was told", "was asked to"), ("are told", "are reported"),
        ("what comes", "what is received"), ("as they come", "as they arrive"), ("bytes came", "bytes were received"),
        ("came within", "was received within"), ("so many bytes", "N bytes"), ("so many times", "N times"),
        ("can't be told", "is unknown"), ("that is none", "an invalid …"), ("for ever", "forever"),
        ("wrong use", "invalid usage"), ("takes amiss", "rejects"), ("amounts to", "is"),
        ("a folder of its own", "a private folder"), ("stands behind", "follows"), ("comes behind", "follows"),
    ]
    private static let endings = [
        ("Sources", ".swift"), ("Tests", ".swift"), ("Examples", ".swift"), ("Scenarios", ".scn"), ("docs", ".md"),
        ("docs", ".json"), ("Tests", ".txt"), ("Tests", ".py"), ("Benchmarks", ".py"), ("Fuzz", ".py"),
    ]

    @Test(arguments: endings)
    func textsAreIdiomatic(folder: String, ending: String) throws {
        let paths = Repository.files(below: folder, ending: ending)
        #expect(!paths.isEmpty)
        for path in paths where !path.hasSuffix("EnglishTests.swift") {
            // A phrase may be divided between two lines of a comment.
            let text = try #require(Repository.text(path)).replacing(/\s+(?:\/\/+|#)?\s*/, with: " ")
            for (phrase, better) in Self.phrases {
                for range in text.ranges(of: " \(phrase)") where !(text[range.upperBound...].first?.isLetter ?? false) {
                    Issue.record(
                        "\(path): \"\(phrase)\": write \"\(better)\" (\(text[range.lowerBound...].prefix(60)))")
                }
            }
        }
    }
}
