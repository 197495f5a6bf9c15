import ProbeScenario
import Testing

/// Files that are not scripts at all.
@Suite struct UnreadableScriptTests {
    private func only(_ bytes: [UInt8]) -> Diagnostic? {
        let result = ScenarioCompiler.compile(path: "x.scn", bytes: bytes) { (_) throws(LoadError) in throw .notFound }
        #expect(result.plan == nil)
        #expect(result.diagnostics.count == 1)
        return result.diagnostics.first
    }

    @Test func emptyScriptIsReported() {
        #expect(only([])?.id == .emptyScript)
        #expect(only(Array("\u{FEFF}\n\r\n  \t\n# x".utf8))?.id == .emptyScript)
    }

    @Test(arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80]])
    func invalidUTF8IsReported(_ bytes: [UInt8]) throws {
        let diagnostic = try #require(only(Array("scenario \"é\"\n".utf8) + bytes + [0x0A]))
        #expect(diagnostic.id == .notUTF8)
        #expect(diagnostic.span.start == 14)
        #expect(diagnostic.text.contains("offset 14"))
    }

    @Test func nulByteIsReported() throws {
        let diagnostic = try #require(only(Array("scenario \"x\"\n\0".utf8)))
        #expect(diagnostic.id == .nulByte)
        #expect(diagnostic.span.start == 13)
    }

    @Test func oversizedScriptIsReported() {
        #expect(only([UInt8](repeating: 0x20, count: (64 << 20) + 1))?.id == .tooLarge)
    }

    @Test func errorCountIsLimited() {
        let result = compile("scenario \"x\"\n" + String(repeating: "wait 5\n", count: 2_000))
        #expect(result.diagnostics.count == 501)
        #expect(result.diagnostics.filter { $0.id == .tooManyErrors }.count == 1)
    }

    @Test(arguments: ["\u{1B}", "\u{7F}", "\r", "\u{1}"])
    func hiddenCharactersInStringsAreReported(_ character: String) {
        let result = compile(
            LexicalRulesTests.head + "S send \"a\(character)b\" + 'c\(character)d'\nC expect \"x\ty\"\r\n")
        #expect(result.diagnostics.map(\.id) == [.unexpectedCharacter, .unexpectedCharacter])
        #expect(result.diagnostics.map(\.span.start) == [64, 72])
    }

    // MARK: Texts with a scenario in them

    private static let example = "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\nC expect eof\n"

    @Test(arguments: [
        "# Title\n\nSome prose, and more of it.\n\n```scn\n" + example + "```\n\nMore prose.\n",
        "```\n" + example + "```\n", "Prose.\n\n  ~~~ scn\n" + example + "~~~\n",
        "Title\n=====\n\n```sh\nmake run\n```\n", "- a list\n\n\t```\n\tC send \"a\"\n\t```\n",
    ])
    func markdownGetsOneMessage(_ text: String) throws {
        let diagnostic = try #require(only(Array(text.utf8)))
        #expect(diagnostic.id == .noScenario)
        #expect(diagnostic.text.contains("Markdown"))
        #expect(diagnostic.hint?.contains(".scn") == true)
        let fence = try #require(text.firstRange(of: "```") ?? text.firstRange(of: "~~~"))
        #expect(diagnostic.span.start == text.utf8.distance(from: text.startIndex, to: fence.lowerBound))
    }

    @Test func proseAroundAScenarioGetsOneMessage() throws {
        let prose = (1...8).map { "This is line \($0), of a text.\n" }.joined()
        let diagnostic = try #require(only(Array((prose + Self.example + prose).utf8)))
        #expect(diagnostic.id == .noScenario)
        #expect(diagnostic.text.contains("line 9"))
    }

    /// A scenario with a stray code fence or another mistake is reported with its usual messages, and a fence in a
    /// comment or a string is not reported.
    @Test func scenarioIsNotMistakenForMarkdown() {
        let stray = compile(Self.example + "```\n")
        #expect(stray.diagnostics.contains { $0.id != .noScenario && stray.sources.location(of: $0.span).line == 7 })
        #expect(!compile("# ```\n" + Self.example + "C send \"```\"\n").diagnostics.contains { $0.id == .noScenario })
        let late = compile("timeout five\n" + Self.example)
        #expect(!late.diagnostics.contains { $0.id == .noScenario }, "\(late.rendered)")
    }

    @Test func longLinesAreHandled() throws {
        let head = "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\n"
        let result = compile(head + "S send \"" + String(repeating: "a", count: 1 << 20) + "\"\n")
        #expect(result.diagnostics.map(\.id) == [.nothingTested])
        let garbage = compile(head + String(repeating: "@ ", count: 1 << 18))
        #expect(garbage.plan == nil)
        #expect(garbage.diagnostics.count <= 501)
        #expect(garbage.rendered.utf8.count < 200_000)
    }
}
