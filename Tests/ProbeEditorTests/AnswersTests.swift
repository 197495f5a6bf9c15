import ProbeBase
import ProbeScenario
import Testing

@testable import ProbeEditor

struct AnswersTests {
    private static let script = """
        scenario "a"
        each n = 1, 2
        server S
        client C -> S
        define login { C send "${n}" }
        C connect
        S accept as A
        do login
        A expect line /^(?<word>.*)$/
        C expect "${word}${S.port}" within 2s
        C send sized(u16, ws.text("a"))
        wire S -> C gap 1 >= 25ms
        C sned "a" # unknown-variable
        """

    /// A hover shows the first line of an explanation, or the beginning of the description of a name.
    @Test(arguments: [
        (0, 2, "scenario: a header statement"), (3, 7, "C: a client, defined on line 4"),
        (3, 12, "S: a server, defined on line 3"),
        (4, 1, "define: a header statement"), (4, 25, "n: a value, defined on line 2"),
        (5, 3, "connect: a verb for a client"),
        (6, 12, "A: an accepted connection, defined on line 7"), (7, 4, "login: a block of steps, defined on line 5"),
        (8, 11, "expect line: an expectation for a connection"), (8, 20, "word: a value, defined on line 9"),
        (9, 13, "word: a value, defined on line 9"), (9, 20, "S: a server, defined on line 3"),
        (9, 23, "S: a server, defined on line 3"),
        (9, 32, "expect: a verb for a connection"), (10, 8, "sized: a function"),
        (10, 22, "ws.text: a function"),
        (11, 13, "wire gap: a statement about captured packets"), (12, 4, "unknown-verb"),
        (12, 15, "unknown-variable"),
    ])
    func hoverExplainsTheWord(_ line: Int, _ character: Int, _ beginning: String) throws {
        var server = try EditorHarness()
        _ = try server.open(Self.script)
        let text = try server.ask("hover", line: line, character: character)["contents"]?["value"]?.text ?? ""
        #expect(text.hasPrefix(beginning), "\(text)")
    }

    @Test(arguments: [
        (3, 12, 2, 7), (4, 25, 1, 5), (6, 0, 2, 7), (7, 4, 4, 7), (8, 0, 6, 12), (9, 13, 8, 19), (9, 20, 2, 7),
        (11, 10, 3, 7),
    ])
    func definitionsAreFound(_ line: Int, _ character: Int, _ toLine: Int, _ toCharacter: Int) throws {
        var server = try EditorHarness()
        _ = try server.open(Self.script)
        let start = try server.ask("definition", line: line, character: character)["range"]?["start"]
        #expect(start?["line"]?.integer == toLine)
        #expect(start?["character"]?.integer == toCharacter)
    }

    @Test(arguments: ["", "```", "a ````` b"])
    func fenceIsLongerThanBackticksInItsText(_ text: String) {
        let lines = HoverText.fenced(text, "scn").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines[0] == lines[2] + "scn" && !text.contains(lines[2]))
    }

    @Test func scriptNamesAreEscapedInMarkdown() throws {
        let text = HoverText.text([.sentence("a_b: [x](y)")], isMarkdown: true)
        #expect(text == "a\\_b: \\[x\\](y)")
    }

    @Test(arguments: [
        "scenario \"a\"\nserver   S\nclient C -> S\nC connect\nS accept\n",
        "scenario \"a\"\r\nserver S\r\nclient C -> S\r\nC connect\r\n",
        "scenario \"é😀\"\n\n\n\nserver S", "scenario  \"a\"\n", "scenario \"a\"\nserver S\n\n\n",
    ])
    func formattingEditMatchesFmt(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard case .formatted(let wanted) = ScenarioFormatter.format(path: "a", bytes: bytes) else {
            Issue.record("the script can't be formatted")
            return
        }
        var changed = bytes
        if let edit = FormattingEdit.edit(path: "a", bytes: bytes) {
            changed.replaceSubrange(edit.range, with: edit.text)
        }
        #expect(changed == wanted)
        #expect(FormattingEdit.edit(path: "a", bytes: changed) == nil)
    }

    @Test func unparsableTextIsNotFormatted() {
        #expect(FormattingEdit.edit(path: "a", bytes: Array("scenario  \"a\nserver S".utf8)) == nil)
        #expect(FormattingEdit.edit(path: "a", bytes: [0xFF, 0, 1]) == nil)
    }

    @Test func lensesRunAllCasesAndEachCase() throws {
        var server = try EditorHarness()
        let each = "scenario \"a\"\neach n = 1..9\nserver S\nclient C -> S\nC connect\nS accept\n"
        for (text, titles) in [
            (each, ["▶ run 9 cases", "▶ [n=1]", "▶ [n=2]", "▶ [n=3]", "▶ [n=4]", "▶ [n=5]"]),
            (each.replacing("each n = 1..9\n", with: ""), ["▶ run"]), (each + "oops", []),
        ] {
            _ = try server.open(text)
            let answer = try server.request(
                "textDocument/codeLens", "{\"textDocument\":{\"uri\":\"\(EditorHarness.uri)\"}}")
            guard case .array(let lenses) = answer else { continue }
            #expect(lenses.map { $0["command"]?["title"]?.text } == titles)
        }
        #expect(RunLens.id(of: "/x/a b.scn", label: "[n=1]") == "a b[n=1]")
    }
}
