import ProbeScenario
import Testing

/// Files that are no scripts at all.
@Suite struct UnreadableScriptTests {
    private func only(_ bytes: [UInt8]) -> Diagnostic? {
        let result = ScenarioCompiler.compile(path: "x.scn", bytes: bytes) { (_) throws(LoadError) in throw .notFound }
        #expect(result.plan == nil)
        #expect(result.diagnostics.count == 1)
        return result.diagnostics.first
    }

    @Test func empty() {
        #expect(only([])?.id == .emptyScript)
        #expect(only(Array("\u{FEFF}\n\r\n  \t\n# x".utf8))?.id == .emptyScript)
    }

    @Test(arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80]])
    func notUTF8(_ bytes: [UInt8]) throws {
        let diagnostic = try #require(only(Array("scenario \"é\"\n".utf8) + bytes + [0x0A]))
        #expect(diagnostic.id == .notUTF8)
        #expect(diagnostic.span.start == 14)
        #expect(diagnostic.text.contains("offset 14"))
    }

    @Test func nul() throws {
        let diagnostic = try #require(only(Array("scenario \"x\"\n\0".utf8)))
        #expect(diagnostic.id == .nulByte)
        #expect(diagnostic.span.start == 13)
    }

    @Test func tooLarge() {
        #expect(only([UInt8](repeating: 0x20, count: (64 << 20) + 1))?.id == .tooLarge)
    }

    @Test func moreErrorsThanAnyoneReads() {
        let result = compile("scenario \"x\"\n" + String(repeating: "wait 5\n", count: 2_000))
        #expect(result.diagnostics.count == 501)
        #expect(result.diagnostics.filter { $0.id == .tooManyErrors }.count == 1)
    }

    @Test(arguments: ["\u{1B}", "\u{7F}", "\r", "\u{1}"])
    func hiddenCharactersInStrings(_ character: String) {
        let result = compile(
            LexicalRulesTests.head + "S send \"a\(character)b\" + 'c\(character)d'\nC expect \"x\ty\"\r\n")
        #expect(result.diagnostics.map(\.id) == [.unexpectedCharacter, .unexpectedCharacter])
        #expect(result.diagnostics.map(\.span.start) == [64, 72])
    }

    @Test func oneMebibyteOnOneLine() throws {
        let head = "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\n"
        let result = compile(head + "S send \"" + String(repeating: "a", count: 1 << 20) + "\"\n")
        #expect(result.diagnostics.map(\.id) == [.nothingTested])
        let garbage = compile(head + String(repeating: "@ ", count: 1 << 18))
        #expect(garbage.plan == nil)
        #expect(garbage.diagnostics.count <= 501)
        #expect(garbage.rendered.utf8.count < 200_000)
    }
}
