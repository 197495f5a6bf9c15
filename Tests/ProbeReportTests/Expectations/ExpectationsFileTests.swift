import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

@Suite struct ExpectationsFileTests {
    private func file(_ text: String) -> ExpectationsFile {
        ExpectationsFile(path: "known.txt", bytes: Array(text.utf8))
    }

    @Test func linesAreRead() throws {
        let file = file(
            "\u{feff}# Known.\r\n\r\n# about close\r\nasyncio \t close/eof-mid-line  failed  # delivers the rest\r\n"
                + "-  redis[x=1#2]  inconclusive#no\n- redis[x=1#2] error\n\n  # the end")
        #expect(file.problems.map(\.text) == ["inconclusive#no is not a verdict"])
        #expect(file.header == ["# Known.", ""])
        #expect(file.footer == ["", "  # the end"])
        try #require(file.lines.count == 2)
        let first = file.lines[0]
        #expect(first.above == ["# about close"])
        #expect(
            first.expected
                == ExpectedVerdict(
                    key: CaseKey(id: "close/eof-mid-line", subject: "asyncio"), verdict: .failed,
                    comment: "delivers the rest", path: "known.txt", line: 4))
        #expect(file.lines[1].expected.key == CaseKey(id: "redis[x=1#2]", subject: nil))
        #expect(file.lines[1].expected.verdict == .error)
    }

    @Test(arguments: [
        ("plain", "a"), ("plain", "a[x=\"y\"]"), ("plain", "a'b#c"), ("quoted", "a b"), ("quoted", "-"), ("quoted", ""),
        ("quoted", "'a' \"b\" \\ c"), ("quoted", "#a"), ("quoted", "tab\there"), ("quoted", "\u{1b}[31m\r\n\0"),
        ("quoted", "\u{202e}abc"), ("plain", "été/日本"),
    ])
    func namesRoundTrip(kind: String, name: String) {
        let word = ExpectationWord.quoted(name)
        #expect((word == name) == (kind == "plain"))
        #expect(!word.contains("\n") && !word.contains("\u{1b}") && !word.contains("\u{202e}"))
        let file = file("\(word) \(word) failed # \(word)\n")
        #expect(file.problems.isEmpty)
        #expect(file.lines.map(\.expected.key) == [CaseKey(id: name, subject: name)])
    }

    @Test func diagnosticsShowTheLocation() throws {
        let text = """
            asyncio
            asyncio  close/eof-mid-line
            asyncio  close/eof-mid-line  fialed  # a slip
            asyncio  close/eof-mid-line  broken
            asyncio  a case  failed
            'asyncio  close  failed
            asyncio  "a\\qb"  failed
            asyncio  "a"b  failed
            asyncio  "a\\x4"  failed
            asyncio  "a\\
            asyncio  close/x  failed
            asyncio  close/x  error
            asyncio  close/x  failed?
            asyncio  close/y  passed?
            asyncio  close/y  fialed?
            """
        try GoldenText.check(file(text).diagnostics, "expectations-wrong.txt")
    }

    @Test func invalidUTF8IsReported() {
        let file = ExpectationsFile(
            path: "known.txt", bytes: Array("a b failed\nc ".utf8) + [0xff] + Array(" failed".utf8))
        #expect(file.problems.count == 1)
        #expect(file.diagnostics.hasPrefix("known.txt:2:3: error: the file is not UTF-8 text\n"))
    }

    @Test func diagnosticsAreLimited() {
        let text = file(String(repeating: "x\n", count: 5000)).diagnostics
        #expect(text.split(separator: "\n").count == 20 * 4 + 1)
        #expect(text.hasSuffix("… and 4980 more invalid lines\n"))
    }

    /// No file may cause a trap, and the diagnostics must contain nothing that a terminal interprets.
    @Test(arguments: EscapingTests.hostile.indices) func arbitraryBytesNeverTrap(index: Int) {
        for prefix in ["", "asyncio ", "asyncio a failed #", "\""] {
            let file = ExpectationsFile(path: "x", bytes: Array(prefix.utf8) + EscapingTests.hostile[index])
            let unsafe = file.diagnostics.unicodeScalars.filter { $0.value < 32 && $0 != "\n" || $0.value == 127 }
            #expect(unsafe.isEmpty)
        }
    }
}
