import Testing

/// What the pages for maintainers name is there.
struct PagesTests {
    /// Paths between backticks, of the repository or below `Sources/`, and the targets of links.
    @Test(arguments: ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"])
    func everyFileThatAPageNamesIsThere(_ page: String) throws {
        let text = try #require(Repository.text(page))
        // What a run of the fuzzer leaves is not in the repository.
        let made = [".fuzz/verdicts/"]
        for match in text.matches(of: /`(\.?[A-Za-z][\w.+-]*\/[\w.+\/-]*)`/) where !made.contains(String(match.1)) {
            let path = match.1
            #expect(Repository.exists("\(path)") || Repository.exists("Sources/\(path)"), "\(page) names \(path)")
        }
        let folder = page.contains("/") ? "docs/" : ""
        for match in text.matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/) {
            #expect(Repository.exists(folder + match.1), "\(page) links to \(match.1)")
        }
    }
}
