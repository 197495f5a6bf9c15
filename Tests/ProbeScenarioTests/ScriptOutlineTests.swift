import ProbeBase
import Testing

@testable import ProbeScenario

/// Tests that the names in a script are found by means of its tokens, even if the script has errors.
struct ScriptOutlineTests {
    private func names(_ text: String) -> [String] {
        ScriptOutline(Array(text.utf8)).bindings.map { "\($0.name) \($0.role)" }
    }

    @Test(arguments: [
        ("server S", ["S actor(ProbeScenario.ActorKind.server)"]),
        ("proxy X -> S", ["X actor(ProbeScenario.ActorKind.proxy)"]),
        ("proxy send", []), ("crowd W = 5 clients -> S", ["W actor(ProbeScenario.ActorKind.crowd)"]),
        ("each a, b in t", ["a value", "b value"]), ("for i in 1..3 { let x = i }", ["i value", "x value"]),
        ("define d { S accept as A }", ["d definition", "A actor(ProbeScenario.ActorKind.connection)"]),
        ("table t = 1", ["t table"]),
        ("C expect line /(?<a>x)\\(?<b>(?<c-d>/ as e", ["a value", "c-d value", "e value"]),
        ("C expect \"(?<a>x)\"", []), ("let", []), ("server", []), ("each", []), ("S accept as", []),
        (
            "subject T -> S\nT expect accept as U",
            ["T actor(ProbeScenario.ActorKind.subject)", "U actor(ProbeScenario.ActorKind.subject)"]
        ),
    ])
    func namesAreFound(_ text: String, _ wanted: [String]) {
        #expect(names(text) == wanted)
    }

    @Test func statementsReferToTheirBlocks() {
        let outline = ScriptOutline(Array("scenario \"a\"\neither { S close; C close } or { C reset }\nwait 1s\n".utf8))
        let shown = outline.statements.map { statement in
            outline.tokens[statement.tokens].map { outline.text(of: $0) }.joined(separator: " ")
                + (statement.opener.map { " in \($0)" } ?? "")
        }
        #expect(shown == ["scenario \"a\"", "either", "S close in 1", "C close in 1", "or", "C reset in 4", "wait 1s"])
        #expect(outline.firstStep == 1)
    }

    @Test func filesAreFound() {
        let outline = ScriptOutline(Array("include \"a.scn\"\nlet x = file(\"b\") + file('c')\nnote \"d\"\n".utf8))
        #expect(outline.files.map(\.path) == ["a.scn", "b", "c"])
        #expect(outline.files.map(\.isInclude) == [true, false, false])
    }

    /// A token is found from the offset of any of its bytes, and a statement from any of its tokens.
    @Test func tokensAndStatementsAreFoundByOffset() {
        let text = "scenario \"a\" # x\nserver S\nS send \"é\" + (1)\n}{ ; \"unclosed"
        let outline = ScriptOutline(Array(text.utf8))
        for offset in -1...text.utf8.count + 2 { _ = outline.token(at: offset) }
        for (index, token) in outline.tokens.enumerated() where token.kind == .word {
            for offset in Int(token.start)..<Int(token.end) { #expect(outline.token(at: offset) == index) }
            #expect(outline.statement(of: index) != nil)
        }
        #expect(outline.isInComment(15) && !outline.isInComment(12))
    }
}
