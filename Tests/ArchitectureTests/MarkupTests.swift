import Testing

/// Pages are built from the elements of `HTMLText`, which escapes all text. No other file may write a tag, except for
/// the constant head in `PageFrame`.
struct MarkupTests {
    @Test func onlyElementsWriteTags() {
        let files = ["ProbeReport", "ProbeInspect"].flatMap {
            Repository.files(below: "Sources/\($0)", ending: ".swift")
        }
        .filter { Repository.text($0)?.contains("HTMLText") == true }
        #expect(files.count > 10)
        let tag = /<\/[a-z]+>|<[a-z][a-z0-9]*(>| [a-z-]+=\\?")|<![A-Za-z]/
        for path in files where !["HTMLText.swift", "PageFrame.swift"].contains(where: path.hasSuffix) {
            for line in (Repository.text(path) ?? "").split(separator: "\n")
            where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                #expect(line.firstMatch(of: tag) == nil, "\(path) writes a tag: \(line)")
            }
        }
    }
}
