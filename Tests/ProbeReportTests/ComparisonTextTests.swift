import ProbeEvents
import Testing

@testable import ProbeReport

@Suite struct ComparisonTextTests {
    private func text(_ expected: String, _ actual: String) -> String {
        ComparisonText.text(expected: Array(expected.utf8), actual: Array(actual.utf8))
    }

    @Test func firstDifferenceIsMarked() {
        #expect(
            text("220 ready", "220 rexdy") == """
                    expected  "220 ready"
                    actual    "220 rexdy"
                                     ^ first difference at byte 7

                """)
    }

    @Test func escapesAreMarkedWhole() {
        #expect(
            text("a\r\nb", "a\u{1}b") == """
                    expected  "a\\r\\nb"
                    actual    "a\\x01b"
                                ^^^^ first difference at byte 2

                """)
    }

    /// Valid characters are shown unescaped and marked across their full width; invalid UTF-8 is shown as escaped
    /// bytes.
    @Test func validCharactersAreNotEscaped() {
        #expect(
            text("Jörg", "Järg") == """
                    expected  "Jörg"
                    actual    "Järg"
                                ^ first difference at byte 3

                """)
        #expect(text("日本x", "日本y").contains("                   ^ first difference at byte 7"))
        let cut = ComparisonText.text(expected: Array("Jörg".utf8), actual: [0x4A, 0xC3, 0x72, 0x67])
        #expect(cut.contains(#"actual    "J\xc3rg""#))
        #expect(cut.contains("expected  \"Jörg\""))
        #expect(text(#"J\xc3"#, "J").contains(#"expected  "J\\xc3""#))
        #expect(text("a\u{202e}b", "ab").contains(#""a\xe2\x80\xaeb""#))
    }

    @Test func missingAndExtraBytesAreReported() {
        #expect(text("220 ready", "220 r").contains("^ ends here: 4 bytes missing, starting at byte 6"))
        #expect(text("220", "220\n").contains("^^ 1 extra byte, starting at byte 4"))
        #expect(text("", "x") == "    expected  no bytes\n    actual    \"x\"\n")
        #expect(text("x", "") == "    expected  \"x\"\n    actual    no bytes\n")
        #expect(text("x", "x").contains("(the same bytes)"))
    }

    /// The mark is below the first byte that differs, regardless of the bytes before it and of its distance from the
    /// start.
    @Test(arguments: [0, 1, 30, 90, 91, 95, 96, 97, 500, 100_000])
    func firstDifferenceIsMarkedHoweverFarItIs(offset: Int) throws {
        for filler: UInt8 in [0x61, 0x00, 0xff, 0x0a] {
            var expected = [UInt8](repeating: filler, count: offset + 300)
            var actual = expected
            expected[offset] = UInt8(ascii: "E")
            actual[offset] = UInt8(ascii: "A")
            let lines = ComparisonText.text(expected: expected, actual: actual).split(separator: "\n").map(Array.init)
            try #require(lines.count == 3)
            let column = try #require(lines[2].firstIndex(of: "^"))
            #expect(lines[0][column] == "E")
            #expect(lines[1][column] == "A")
            #expect(lines[0][..<column].dropFirst(14) == lines[1][..<column].dropFirst(14))
            #expect(lines.allSatisfy { $0.count <= 160 })
            #expect(String(lines[2]).hasSuffix("at byte \(offset + 1)"))
        }
    }
}
