import ProbeBase
import Testing

@testable import ProbeEditor

struct EditorServerTests {
    private static let shutdown = #"{"jsonrpc":"2.0","id":"s","method":"shutdown"}"#
    private static let exit = #"{"jsonrpc":"2.0","method":"exit"}"#

    @Test func exitCodesFollowTheProtocol() throws {
        var server = try EditorHarness()
        _ = try server.exchange([Self.shutdown])
        #expect(server.server.exitCode == nil && server.server.codeAtEnd == 0)
        _ = try server.exchange([Self.exit])
        #expect(server.server.exitCode == 0)
        var other = try EditorHarness()
        _ = try other.exchange([Self.exit])
        #expect(other.server.exitCode == 1)
        var early = try EditorHarness(isInitialized: false)
        _ = try early.exchange([Self.exit])
        #expect(early.server.exitCode == 1)
    }

    private func code(_ answer: JSONValue) -> Int? { answer["error"]?["code"]?.integer }

    @Test func requestsAreValidatedByState() throws {
        var server = try EditorHarness(isInitialized: false)
        #expect(code(try server.request("textDocument/hover")) == -32002)
        #expect(try server.request("initialize", "{}")["serverInfo"]?["version"]?.text == "1.2.3")
        #expect(code(try server.request("initialize", "{}")) == -32600)
        #expect(code(try server.request("workspace/executeCommand")) == -32601)
        #expect(code(try server.request("textDocument/hover", "{}")) == -32602)
        #expect(try server.request("shutdown").isNull)
        #expect(code(try server.request("textDocument/hover", "{}")) == -32600)
    }

    @Test func cancelledRequestHasNoResult() throws {
        var server = try EditorHarness()
        let answers = try server.exchange([
            #"{"jsonrpc":"2.0","id":70,"method":"textDocument/hover","params":{}}"#,
            #"{"jsonrpc":"2.0","id":"70","method":"textDocument/hover","params":{}}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":70}}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":71}}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":[]}"#,
        ])
        #expect(answers.map(code) == [-32800, -32602])
    }

    @Test func encodingIsNegotiated() throws {
        for (offered, chosen) in [("", "utf-16"), ("\"utf-16\"", "utf-16"), ("\"utf-8\",\"utf-16\"", "utf-8")] {
            var server = try EditorHarness(isInitialized: false)
            let answer = try server.request(
                "initialize", "{\"capabilities\":{\"general\":{\"positionEncodings\":[\(offered)]}}}")
            #expect(answer["capabilities"]?["positionEncoding"]?.text == chosen)
        }
    }

    @Test func diagnosticsFollowChanges() throws {
        var server = try EditorHarness(
            capabilities: #"{"textDocument":{"publishDiagnostics":{"relatedInformation":true}}}"#)
        let wrong =
            "scenario \"😀\"\nserver S\nserver S\nclient C -> S\nC connect\nS accept\nS sned \"😀\"\nC expect \"😀\"\n"
        let published = try server.open(wrong)
        #expect(published.map { $0["code"]?.text } == ["duplicate-name", "unknown-verb"])
        #expect(published.first?["relatedInformation"].map { "\($0)".contains("first declared here") } == true)
        #expect(published.last?["range"]?["start"]?["line"]?.integer == 6)
        #expect(published.last?["range"]?["start"]?["character"]?.integer == 2)
        let right = wrong.replacing("server S\nserver S", with: "server S").replacing("sned", with: "send")
        #expect(try server.open(right).isEmpty)
    }

    private func change(_ character: Int, _ end: Int, _ text: String) -> String {
        let range =
            #"{"start":{"line":0,"character":\#(character)},"end":{"line":0,"character":\#(end)}}"#
        return
            #"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"\#(EditorHarness.uri)","#
            + #""version":2},"contentChanges":[{"range":\#(range),"text":"\#(text)"}]}}"#
    }

    /// A client may send half of a surrogate pair because the text in the editor contains it. Later positions must
    /// refer to the same text on both sides.
    @Test func loneSurrogateIsOneUnit() throws {
        var server = try EditorHarness()
        _ = try server.open("scenario \"ab\"\n")
        _ = try server.exchange([change(11, 11, #"\ud83d"#), change(12, 12, #"\ude00x"#), change(14, 14, "y")])
        let text = server.server.documents[EditorHarness.uri]?.text.bytes ?? []
        #expect(String(decoding: text, as: UTF8.self) == "scenario \"a\u{fffd}\u{fffd}xyb\"\n")
    }

    @Test func includeIsReadFromTheEditor() throws {
        var server = try EditorHarness(files: ["/scripts/common.scn": "server S\n"])
        let script =
            "scenario \"a\"\ninclude \"common.scn\"\nclient C -> S\nC connect\nS accept\nC close\nS expect eof\n"
        #expect(try server.open(script).isEmpty)
        let common = "file:///scripts/common.scn"
        let item = #"{"uri":"\#(common)","version":1,"languageId":"scn","text":"server Q\n"}"#
        let answers = try server.exchange([
            #"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":\#(item)}}"#
        ])
        #expect(Set(answers.compactMap { $0["params"]?["uri"]?.text }) == [common, EditorHarness.uri])
        let definition = try server.ask("definition", line: 1, character: 12)
        #expect(definition["uri"]?.text == common)
    }

    /// No text that is entered piece by piece, and no position in a request, may cause a trap.
    @Test(arguments: 0..<12)
    func requestsNeverTrapAtAnyPosition(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        var server = try EditorHarness()
        let pieces = [
            "scenario \"a\"\n", "server S", "client C -> ", "\n", "\r\n", " ", "S accept as ", "expect ", "{", "}", "(",
            ")",
            "\"${", ".", "/(?<a>", "😀", "each x = 1", "wire S -> ", "link S <-> C", "hex(", "define d {",
            "crowd W = 2 clients -> S\n",
            "W start {", "do ", "# unknown-verb", "process P = cat ${", "ws.", "1..", "200m", ";", "include \"x\"",
            "or", "\r",
        ]
        for _ in 0..<40 {
            let text = (0..<below(24)).map { _ in pieces[below(pieces.count)] }.joined()
            _ = try server.open(text)
            for _ in 0..<6 {
                let (line, character) = (below(6), below(30))
                for method in ["hover", "completion", "definition"] {
                    let answer = try server.ask(method, line: line, character: character)
                    #expect(answer["error"] == nil, "\(text)")
                }
            }
            for method in ["formatting", "codeLens", "documentSymbol"] {
                let answer = try server.request(
                    "textDocument/\(method)", "{\"textDocument\":{\"uri\":\"\(EditorHarness.uri)\"}}")
                #expect(answer["error"] == nil, "\(text)")
            }
        }
    }
}
