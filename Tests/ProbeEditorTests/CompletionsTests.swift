import ProbeBase
import ProbeScenario
import Testing

@testable import ProbeEditor

struct CompletionsTests {
    private static let script = """
        scenario "a"
        let body = "x"
        table rows = "a" /b/
        server S
        client C -> S
        crowd W = 5 clients -> S
        define login { C send "a" }
        C connect
        S accept as A

        """

    struct Case: Sendable, CustomTestStringConvertible {
        var typed: String
        var has: [String]
        var lacks: [String] = []

        var testDescription: String { typed }
    }

    @Test(arguments: [
        Case(typed: "", has: ["S", "C", "A", "wait", "wire"], lacks: ["server", "timeout", "send", "or"]),
        Case(typed: "S ", has: ["accept", "send", "expect", "reboot"], lacks: ["connect", "wait"]),
        Case(typed: "A ", has: ["send", "expect"], lacks: ["accept", "connect"]),
        Case(typed: "W ", has: ["start", "stop", "expect"], lacks: ["send"]),
        Case(typed: "W start { ", has: ["connect", "repeat"], lacks: ["S", "wire"]),
        Case(typed: "W start { connect; repeat { ", has: ["send", "wait"], lacks: ["together"]),
        Case(typed: "W start { connect }\n", has: ["wire"], lacks: ["repeat"]),
        Case(typed: "C stop ", has: ["reading"], lacks: ["stop reading", "send"]),
        Case(typed: "C start sending \"a\" ", has: ["in", "every"], lacks: ["start sending"]),
        Case(typed: "C expect send failed ", has: ["reset"]),
        Case(typed: "C expect ", has: ["line", "eof", "body", "u16"], lacks: ["expect", "send", "login"]),
        Case(typed: "W expect ", has: ["connected", "done"], lacks: ["eof"]),
        Case(typed: "C expect nothing for ", has: ["200ms"], lacks: ["line"]),
        Case(typed: "C expect line \"a\" within 20", has: ["20ms", "20s"], lacks: ["within"]),
        Case(typed: "do ", has: ["login"], lacks: ["body", "S"]),
        Case(typed: "for a in ", has: ["rows"], lacks: ["body"]),
        Case(typed: "wire ", has: ["S", "C", "A", "no rst"], lacks: ["gap", "login"]),
        Case(typed: "wire S -> ", has: ["C"], lacks: ["gap"]),
        Case(typed: "wire S -> C ", has: ["gap", "segments"], lacks: ["C", "no rst"]),
        Case(typed: "link S -> C ", has: ["drop", "delay"], lacks: ["gap"]),
        Case(typed: "link S -> C drop ", has: ["data", "syn"]),
        Case(typed: "S accept ", has: ["as", "tls", "without", "websocket"], lacks: ["failed", "unknown-ca", "path"]),
        Case(typed: "S accept tls ", has: ["failed"], lacks: ["without", "path"]),
        Case(typed: "C send \"a\" ", has: ["cut", "in", "every", "with"], lacks: ["pieces", "random", "fin", "seed"]),
        Case(typed: "C send \"a\" cut at random ", has: ["seed"], lacks: ["every", "cut"]),
        Case(typed: "C expect \"a\" within 1s ", has: ["after"], lacks: ["within"]),
        Case(typed: "link S -> C delay 20ms ", has: ["jitter"], lacks: ["by", "burst"]),
        Case(typed: "link S -> C loss 5% seed 7 ", has: ["burst"], lacks: ["jitter", "seed"]),
        Case(typed: "C framing ", has: ["crlf", "netstring"], lacks: ["body"]),
        Case(typed: "C send \"a ${", has: ["body", "S", "A"], lacks: ["login", "rows"]),
        Case(typed: "C send \"${S.", has: ["port", "tls.version"], lacks: ["body"]),
        Case(typed: "C send \"${S.tls.", has: ["version"], lacks: ["port"]),
        Case(typed: "C send \"a", has: [], lacks: ["body", "send"]),
        Case(typed: "C send \"a\" # C ", has: [], lacks: ["send", "every"]),
        Case(typed: "C send ws.", has: ["text", "close"], lacks: ["ws.text", "body"]),
        Case(typed: "either { S expect \"a\" } ", has: ["or"]),
        Case(typed: "together { S expect \"a\" } ", has: ["S"], lacks: ["or"]),
    ])
    func stepCompletionsFitTheirContext(_ one: Case) throws {
        var server = try EditorHarness()
        let found = try server.completed(Self.script + one.typed)
        #expect(Set(one.has).subtracting(found) == [], "\(found)")
        #expect(Set(one.lacks).intersection(found) == [], "\(found)")
    }

    @Test(arguments: [
        Case(typed: "", has: ["server", "timeout", "require", "S", "wait"]),
        Case(typed: "client D -> ", has: ["S"], lacks: ["server"]),
        Case(typed: "require ", has: ["capture", "root"], lacks: ["half-close"]),
        Case(typed: "require subject ", has: ["half-close"], lacks: ["capture"]),
        Case(typed: "level ", has: ["must", "should", "may"]),
        Case(typed: "framing ", has: ["crlf", "websocket"]),
        Case(typed: "timeout ", has: ["5s"]),
        Case(typed: "server Q with ", has: ["receive-buffer", "nodelay"]),
        Case(typed: "server Q tls cert ", has: ["expired", "unknown-ca"]),
        Case(typed: "server Q on ", has: ["link", "unix"]),
        Case(typed: "subject T -> S\nT start\nT expect stopped ", has: ["eof", "too-long"], lacks: ["server"]),
        Case(typed: "subject T -> S\nT start\nT expect message ", has: ["as", "within"]),
        Case(typed: "proxy X -> S\nX accept\nX reset ", has: ["client", "server"]),
        Case(typed: "proxy X -> S\nX accept\nX expect line \"a\" ", has: ["from"]),
        Case(typed: "proxy X -> S\nX accept\nX expect line \"a\" from ", has: ["client", "server"]),
        Case(typed: "define d { S ", has: ["accept"], lacks: ["server"]),
    ])
    func headerCompletionsFitTheirContext(_ one: Case) throws {
        var server = try EditorHarness()
        let found = try server.completed("scenario \"a\"\nserver S\n" + one.typed)
        #expect(Set(one.has).subtracting(found) == [], "\(found)")
        #expect(Set(one.lacks).intersection(found) == [], "\(found)")
    }

    /// The parser determines whether a word is offered as a completion, and must never exclude the next word of a valid
    /// statement.
    @Test func everyExampleIsCompletedWordByWord() throws {
        var server = try EditorHarness()
        let script = Self.script.replacing(
            "client C -> S", with: "client C -> S\nsubject T -> S\nproxy X -> S\nprocess P = cat")
        var count = 0
        for listed in LanguageTable.all where ![.header, .function, .step].contains(listed.category) {
            let words = listed.entry.spelling.split(separator: " ").map(String.init)
            let outline = ScriptOutline(Array(listed.example.utf8))
            for token in outline.tokens where words.contains(outline.text(of: token)) {
                let typed = String(decoding: listed.example.utf8.prefix(Int(token.start)), as: UTF8.self)
                let found = try server.completed(script + typed)
                let word = outline.text(of: token)
                count += 1
                #expect(
                    found.contains { $0 == word || $0.hasPrefix(word + " ") || word.hasPrefix($0) },
                    "\(listed.example): \(word): \(found)")
            }
        }
        #expect(count > 150)
    }

    @Test func completionReplacesTheWholeWord() throws {
        var server = try EditorHarness()
        _ = try server.open(Self.script + "C half-cl")
        let answer = try server.ask("completion", line: 9, character: 9)
        guard case .array(let items) = answer["items"] else {
            Issue.record("no items")
            return
        }
        let item = try #require(items.first { $0["label"]?.text == "half-close" })
        #expect(item["textEdit"]?["range"]?["start"]?["character"]?.integer == 2)
        #expect(item["textEdit"]?["range"]?["end"]?["character"]?.integer == 9)
    }
}
