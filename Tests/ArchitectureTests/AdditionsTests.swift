import Testing

/// The lists of files in CONTRIBUTING are true: in `Sources` no other file mentions what is added, and each listed file does.
struct AdditionsTests {
    /// The transports under test: each does what it can of what there is.
    private static func isTransport(_ path: String) -> Bool {
        [
            "ProbeTransport/BSD/", "ProbeTransport/AsyncSocket/", "ProbeTransport/Reconnecting/", "ProbeTransportNIO/",
            "ProbeTransportFlyingSocks/",
        ].contains { path.hasPrefix("Sources/\($0)") }
    }

    struct Addition: Sendable, CustomTestStringConvertible {
        var section: String
        /// The most files that it may touch.
        var limit: Int

        var testDescription: String { section }
    }

    @Test(arguments: [
        Addition(section: "A verb of a connection", limit: 6), Addition(section: "A verb of a subject too", limit: 10),
        Addition(section: "An expectation", limit: 10),
        Addition(section: "A wire statement", limit: 6), Addition(section: "A fault of TLS", limit: 9),
        Addition(section: "A fault of a link", limit: 6), Addition(section: "A column of `inspect`", limit: 3),
        Addition(section: "An option of `run`", limit: 3),
    ])
    func listsAreTrue(_ addition: Addition) throws {
        let page = try #require(Repository.text("CONTRIBUTING.md"))
        let section = try #require(
            page.split(separator: "\n### ").first { $0.hasPrefix(addition.section + "\n") })
        // `name` (`spelling`) is one:
        let example = try #require(section.firstMatch(of: /`(\w+)` \(`([^`]+)`\)/))
        let (name, spelling) = (String(example.1), String(example.2))
        let listed = Set(section.matches(of: /\n\d+\. `([^`]+)`/).map { String($0.1) })
        #expect(listed.count <= addition.limit && listed.count > 2)

        let identifier = try Regex(#"\b\#(name)\b"#)
        let sources = Repository.files(below: "Sources", ending: ".swift").filter {
            Repository.text($0)?.firstMatch(of: identifier) != nil
        }
        #expect(Set(sources.filter { !Self.isTransport($0) }) == listed.filter { $0.hasPrefix("Sources/") })
        for path in listed {
            let text = Repository.text(path) ?? ""
            // The adapter protocol joins the words of an op.
            let spellings = [spelling, spelling.replacing(" ", with: "-")]
            let mentions = text.firstMatch(of: identifier) != nil || spellings.contains { text.contains($0) }
            #expect(mentions, "\(path) does not mention \(spelling)")
        }
    }
}
