import Testing

/// What pages name is there.
struct PagesTests {
    /// Paths between backticks on the pages for maintainers, of the repository or below `Sources/`.
    @Test(arguments: ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"])
    func everyFileThatAPageNamesIsThere(_ page: String) throws {
        let text = try #require(Repository.text(page))
        // What a run of the fuzzer leaves is not in the repository.
        let made = [".fuzz/verdicts/"]
        for match in text.matches(of: /`(\.?[A-Za-z][\w.+-]*\/[\w.+\/-]*)`/) where !made.contains(String(match.1)) {
            let path = match.1
            #expect(Repository.exists("\(path)") || Repository.exists("Sources/\(path)"), "\(page) names \(path)")
        }
    }

    private static let pages =
        ["README.md", "CONTRIBUTING.md"]
        + ["docs", "Examples", "Fuzz", "Packaging", "Scenarios", "Tests"].flatMap {
            Repository.files(below: $0, ending: $0 == "docs" ? ".md" : "README.md")
        }

    /// A relative link leads to a file, and its anchor to a heading there.
    @Test(arguments: pages)
    func everyLinkResolves(_ page: String) throws {
        let text = Self.prose(of: try #require(Repository.text(page)))
        let folder = page.split(separator: "/").dropLast()
        for match in text.matches(of: /\]\(([^)#:\s]*)(?:#([^)\s]+))?\)/) {
            let target = match.1.isEmpty ? page : Self.path(of: match.1, in: folder)
            #expect(Repository.exists(target), "\(page) links to \(target)")
            guard let anchor = match.2, let other = Repository.text(target) else { continue }
            let headings = Self.prose(of: other).matches(of: /(?m)^#+ (.+)$/).map { Self.anchor(of: $0.1) }
            #expect(headings.contains(String(anchor)), "\(page) links to \(target)#\(anchor)")
        }
    }

    /// The text without its blocks and spans of code.
    private static func prose(of text: String) -> String {
        text.replacing(/(?ms)^ *```.*?^ *```$/, with: "").replacing(/`[^`\n]+`/) { match in
            // A heading's anchor has the words of its code.
            String(match.output.filter { $0 != "`" && $0 != "]" && $0 != "#" })
        }
    }

    private static func path(of link: Substring, in folder: ArraySlice<Substring>) -> String {
        var parts = folder
        for part in link.split(separator: "/") {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The anchor that GitHub gives to a heading.
    private static func anchor(of heading: Substring) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
    }
}
