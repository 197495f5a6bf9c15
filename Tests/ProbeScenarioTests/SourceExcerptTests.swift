import ProbeScenario
import Testing

@Suite struct SourceExcerptTests {
    private func drawn(_ text: String, _ start: Int, _ end: Int) -> [String] {
        let file = SourceFile(path: "x", bytes: Array(text.utf8))
        let excerpt = SourceExcerpt(of: SourceSpan(start: start, end: end), in: file)
        return [excerpt.text, excerpt.carets]
    }

    @Test func caretsPointAtTheSpan() {
        #expect(drawn("abc\nS send \"x\"\n", 6, 10) == ["S send \"x\"", "  ^^^^"])
    }

    @Test func caretMayFollowTheLine() {
        #expect(drawn("wait\r\nx", 4, 4) == ["wait", "    ^"])
        #expect(drawn("wait", 4, 9) == ["wait", "    ^"])
    }

    @Test func tabsAreOneSpace() {
        #expect(drawn("\t\tx y", 4, 5) == ["  x y", "    ^"])
    }

    @Test func wideCharactersTakeTwoColumns() {
        #expect(drawn("日本 x", 7, 8) == ["日本 x", "     ^"])
        #expect(drawn("日本 x", 0, 3) == ["日本 x", "^^"])
        #expect(drawn("e\u{301}x", 3, 4) == ["e\u{301}x", " ^"])
    }

    @Test func controlCharactersAreEscaped() {
        #expect(drawn("a\u{1B}[31mb", 6, 7) == ["a\\x1b[31mb", "         ^"])
        #expect(drawn("a\u{202E}b", 4, 5) == ["a\\u{202e}b", "         ^"])
    }

    @Test func longLinesAreTruncated() {
        let text = String(repeating: "a", count: 500_000) + "X" + String(repeating: "b", count: 500_000)
        let lines = drawn(text, 500_000, 500_001)
        #expect(lines[0].count <= SourceExcerpt.widest + 2)
        #expect(lines[0].hasPrefix("…a") && lines[0].hasSuffix("b…"))
        #expect(lines[1].hasSuffix("^"))
        #expect(Array(lines[0])[lines[1].count - 1] == "X")
    }

    @Test func spanOfALongLineKeepsItsStart() {
        let lines = drawn(String(repeating: "a", count: 1_000), 0, 1_000)
        #expect(lines[0].hasPrefix("aaa") && lines[0].hasSuffix("…"))
        #expect(lines[1].allSatisfy { $0 == "^" })
    }

    @Test func invalidSpansAreHarmless() {
        for (start, end) in [(-5, -1), (100, 200), (3, 1), (Int.max, Int.max)] {
            let file = SourceFile(path: "x", bytes: [0xFF, 0x0A, 0x80])
            let excerpt = SourceExcerpt(of: SourceSpan(start: start, end: end), in: file)
            #expect(excerpt.carets.contains("^"))
        }
    }

    @Test func linesAndColumnsAreComputed() {
        let file = SourceFile(path: "x", bytes: Array("\u{FEFF}aé\r\nb\n\nc".utf8))
        #expect(file.lineAndColumn(at: 3) == (1, 1))
        #expect(file.lineAndColumn(at: 4) == (1, 2))
        #expect(file.lineAndColumn(at: 8) == (2, 1))
        #expect(file.lineAndColumn(at: 10) == (3, 1))
        #expect(file.lineAndColumn(at: 11) == (4, 1))
        #expect(file.lineAndColumn(at: 99) == (4, 2))
        #expect(file.lineCount == 4)
        #expect(file.range(ofLine: 1) == 3..<6)
        #expect(file.range(ofLine: 2) == 8..<9)
    }
}
