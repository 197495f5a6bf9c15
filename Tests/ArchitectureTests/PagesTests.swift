import Testing

/// Checks that the files, headings and names to which the documentation refers exist.
struct PagesTests {
    /// Paths in backticks on pages for maintainers are relative to the repository or to `Sources/`.
    @Test(arguments: ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"])
    func everyNamedFileExists(_ page: String) throws {
        let text = try #require(Repository.text(page))
        // The output of a fuzzer is not in the repository.
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

    /// A relative link must lead to an existing file, and the link's anchor must be a heading in that file.
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

    /// Returns the text without code blocks, and without the backticks of code spans.
    private static func prose(of text: String) -> String {
        text.replacing(/(?ms)^ *```.*?^ *```$/, with: "").replacing(/`[^`\n]+`/) { match in
            // The words in a code span are kept, because they are part of a heading's anchor.
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

    /// Returns the anchor that GitHub generates for a heading.
    private static func anchor(of heading: Substring) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
    }
}
