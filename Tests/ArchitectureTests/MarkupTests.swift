import Testing

/// Pages are built from the elements of `HTMLText`, which escapes every text: no other file writes a tag.
struct MarkupTests {
    @Test func onlyElementsWriteTags() {
        let files = ["ProbeReport", "ProbeInspect"].flatMap {
            Repository.files(below: "Sources/\($0)", ending: ".swift")
        }
        .filter { Repository.text($0)?.contains("HTMLText") == true }
        #expect(files.count > 10)
        for path in files where !path.hasSuffix("/HTMLText.swift") {
            let tag = Repository.text(path)?.firstMatch(of: /"<\/?[a-z]/)
            #expect(tag == nil, "\(path) writes a tag")
        }
    }
}
