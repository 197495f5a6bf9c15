import Testing

/// Checks the lists in CONTRIBUTING of the files that must be changed for an addition to the language or the tool. Each
/// list names an existing example of such an addition. Every listed file must mention the example, and no other file in
/// `Sources` may mention it.
struct AdditionsTests {
    /// Whether the path belongs to a transport under test. The lists don't have to include transports, because each
    /// transport implements only some capabilities.
    private static func isTransport(_ path: String) -> Bool {
        [
            "ProbeTransport/BSD/", "ProbeTransport/AsyncSocket/", "ProbeTransport/Reconnecting/", "ProbeTransportNIO/",
            "ProbeTransportFlyingSocks/",
        ].contains { path.hasPrefix("Sources/\($0)") }
    }

    struct Addition: Sendable, CustomTestStringConvertible {
        var section: String
        /// The maximum number of files in the list.
        var limit: Int

        var testDescription: String { section }
    }

    @Test(arguments: [
        Addition(section: "A verb of a connection", limit: 4),
        Addition(section: "A verb of connections and subjects", limit: 9),
        Addition(section: "An expectation", limit: 6), Addition(section: "A wire statement", limit: 5),
        Addition(section: "A fault of TLS", limit: 4), Addition(section: "A fault of a link", limit: 5),
        Addition(section: "A column of `inspect`", limit: 3), Addition(section: "An option of `run`", limit: 3),
        Addition(section: "A framing", limit: 8), Addition(section: "A report", limit: 4),
    ])
    func listedFilesMatchSources(_ addition: Addition) throws {
        let page = try #require(Repository.text("CONTRIBUTING.md"))
        let section = try #require(
            page.split(separator: "\n### ").first { $0.hasPrefix(addition.section + "\n") })
        // Matches the text that names a list's example: `name` (`spelling`).
        let example = try #require(section.firstMatch(of: /`(\w+)` \(`([^`]+)`\)/))
        let (name, spelling) = (String(example.1), String(example.2))
        let listed = Set(section.matches(of: /\n\d+\. `([^`]+)`/).map { String($0.1) })
        #expect(listed.count <= addition.limit && listed.count > 2)

        let identifier = try Regex(#"\b\#(name)\b"#)
        // The identifier's name is searched for first, which is much faster than matching the regular expression in
        // every file.
        let sources = Repository.sources.filter { $0.text.contains(name) && $0.text.firstMatch(of: identifier) != nil }
        #expect(Set(sources.map(\.path).filter { !Self.isTransport($0) }) == listed.filter { $0.hasPrefix("Sources/") })
        for path in listed {
            let text = Repository.text(path) ?? ""
            // In the adapter protocol, the words of an operation's name are separated by hyphens.
            let spellings = [spelling, spelling.replacing(" ", with: "-")]
            let mentions = text.firstMatch(of: identifier) != nil || spellings.contains { text.contains($0) }
            #expect(mentions, "\(path) does not mention \(spelling)")
        }
    }

    /// The tests of each report verify `RecorderContract`. Two recorders have separate tests: the console, which writes
    /// control sequences, and the results recorder, whose output `merge` reads.
    @Test func everyRecorderVerifiesTheContract() {
        let tests = Repository.files(below: "Tests/ProbeReportTests", ending: ".swift").compactMap(Repository.text)
            .filter { $0.contains("RecorderContract.verify") }
        let names = Repository.files(below: "Sources/ProbeReport", ending: ".swift").compactMap(Repository.text)
            .flatMap { $0.matches(of: /struct (\w+): Recorder\b/).map { String($0.1) } }
        #expect(names.count > 7)
        for name in names where !["ConsoleRecorder", "ResultsRecorder"].contains(name) {
            #expect(tests.contains { $0.firstMatch(of: /verify \{ (\w+)\(/)?.1 == name[...] }, "\(name)")
        }
    }
}
