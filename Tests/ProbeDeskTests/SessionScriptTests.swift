import ProbeBase
import ProbeDesk
import ProbeScenario
import Testing

struct SessionScriptTests {
    private static let loader: FileLoader = { (_) throws(LoadError) in throw .notFound }

    private static func client(_ framing: Framing = .crlf) -> SessionScript {
        SessionScript(.client(target: "127.0.0.1:25", options: ""), framing: framing, title: "a \"session\"")
    }

    private static func add(_ text: String, to script: inout SessionScript) throws(SessionScript.Problem) {
        script.add(try script.extended(by: text, allowing: AllowedTargets(), loader: loader))
    }

    private static func rest(_ unread: String, _ ending: String?) -> SessionScript.Rest {
        var rest = SessionScript.Rest(actor: "C")
        (rest.unread, rest.ending) = (Array(unread.utf8), ending)
        return rest
    }

    private static func text(_ saved: SessionScript.Saved) -> String { String(decoding: saved.bytes, as: UTF8.self) }

    @Test func sessionIsSavedAsAScenario() throws {
        var script = Self.client()
        try Self.add("C connect", to: &script)
        let first = try script.extended(by: "C expect line /^220/", allowing: AllowedTargets(), loader: Self.loader)
        #expect(first.first == 1)
        #expect(!first.acts)
        script.add(first)
        try Self.add(script.statement(sending: Array("EHLO ${x}".utf8)), to: &script)
        let failed = try script.extended(by: "C expect line \"251\"", allowing: AllowedTargets(), loader: Self.loader)
        script.note(failureOf: failed, "another line came")
        let saved = Self.text(script.saved([Self.rest("250 ok\r\n25", "eof")]))
        #expect(
            saved == """
                scenario "a \\"session\\""

                client  C -> 127.0.0.1:25

                C connect
                C expect line /^220/
                C send line "EHLO \\${x}"
                # C expect line "251"   (another line came)
                C expect line "250 ok"
                C expect "25"
                C expect eof

                """)
        let compiled = ScenarioCompiler.compile(path: "a.scn", bytes: Array(saved.utf8), loader: Self.loader)
        #expect(compiled.plan?.scenario.steps.count == 6)
    }

    @Test func completedStepsAreNotReadAgain() throws {
        var script = Self.client()
        try Self.add("C connect", to: &script)
        for number in 1...3 { try Self.add("C send line \"\(number)\"", to: &script) }
        try Self.add("C expect line as x", to: &script)
        let next = try script.extended(by: "C send line x", allowing: AllowedTargets(), loader: Self.loader)
        #expect(next.first == 2)
        #expect(next.plan.scenario.steps.count == 3)
        script.add(next)
        #expect(script.count == 6)
        #expect(Self.text(script.saved([])).contains("C send line \"3\"\nC expect line as x\nC send line x\n"))
    }

    @Test func invalidStepIsReportedAndOmitted() throws {
        var script = Self.client()
        try Self.add("C connect", to: &script)
        let problem = #expect(throws: SessionScript.Problem.self) {
            try script.extended(by: "C expect lien \"a\"", allowing: AllowedTargets(), loader: Self.loader)
        }
        #expect(problem?.text.hasPrefix("error: ") == true)
        #expect(problem?.text.contains("`line`") == true)
        #expect(Self.text(script.saved([])).hasSuffix("C connect\n"))
    }

    @Test func actingStepsAreRecognized() throws {
        var script = SessionScript(.server(address: "127.0.0.1:1", options: ""), framing: .crlf, title: "a")
        func extended(_ text: String) throws -> SessionScript.Extension {
            try script.extended(by: text, allowing: AllowedTargets(), loader: Self.loader)
        }
        let accept = try extended("S accept as D")
        #expect(accept.acts)
        #expect(accept.acceptedNames == ["D"])
        script.add(accept)
        #expect(try extended("D close").acts)
        #expect(try !extended("D expect \"a\"").acts)
        #expect(try !extended("wait 1ms").acts)
        #expect(try !extended("S expect no connection for 1ms").acts)
    }

    @Test(arguments: [
        (Framing.crlf, "C send line \"a\"", "C expect line \"a\"", "a\r\n"),
        (.lf, "C send line \"a\"", "C expect line \"a\"", "a\n"),
        (.u16, "C send message \"a\"", "C expect message \"a\"", "\0\u{1}a"),
        (.none, "C send \"a\"", "C expect \"a\"", "a"),
    ])
    func linesFollowTheFraming(framing: Framing, sent: String, taken: String, bytes: String) throws {
        var script = Self.client(framing)
        try Self.add("C connect", to: &script)
        #expect(script.statement(sending: [97]) == sent)
        #expect(script.statements(taking: Array(bytes.utf8)) == taken)
        try Self.add(sent + "\n" + taken, to: &script)
    }

    @Test func longInputIsExpectedByLength() throws {
        var script = Self.client(.none)
        try Self.add("C connect", to: &script)
        let statement = script.statements(taking: [UInt8](repeating: 0, count: 5000))
        #expect(statement == "C expect 5000 bytes")
        try Self.add(statement, to: &script)
    }

    /// For bytes beyond the limit, the saved scenario expects only a count, but it still consumes all of them.
    @Test(arguments: ["\n", "a\n", "\u{1B}\n", "a", "\r\n", "0123456789\n"], [1, 64, 65, 1000, 100_000])
    func writtenBytesAreBounded(_ piece: String, _ limit: Int) throws {
        let bytes = Array(repeating: Array(piece.utf8), count: 50_000).flatMap { $0 }
        for framing in [Framing.lf, .crlf, .none, .u8, .netstring] {
            var script = SessionScript(
                .client(target: "127.0.0.1:25", options: ""), framing: framing, title: "a", limit: limit)
            try Self.add("C connect", to: &script)
            var rest = SessionScript.Rest(actor: "C")
            rest.unread = bytes
            let saved = script.saved([rest, rest])
            // An escape takes four bytes in the script, and a statement is shorter than the number of bytes by which it
            // reduces the remaining limit.
            #expect(saved.bytes.count < 400 + 5 * limit)
            #expect(saved.unwritten <= 2 * bytes.count)
            if framing == .lf, piece.hasSuffix("\n") { #expect(saved.unwritten > bytes.count) }
            let compiled = ScenarioCompiler.compile(path: "a.scn", bytes: saved.bytes, loader: Self.loader)
            #expect(compiled.plan != nil)
        }
    }

    /// The limit applies to the whole session, so bytes that steps have consumed count toward it.
    @Test func consumedBytesCountAgainstTheLimit() throws {
        var script = SessionScript(
            .client(target: "127.0.0.1:25", options: ""), framing: .lf, title: "a", limit: 200)
        try Self.add("C connect", to: &script)
        let first = script.statements(taking: Array("a\nb\nc\nd\n".utf8))
        #expect(first == "C expect line \"a\"\nC expect line \"b\"\nC expect line \"c\"\nC expect 2 bytes")
        try Self.add(first, to: &script)
        #expect(script.statements(taking: Array("e\nf\n".utf8)) == "C expect 4 bytes")
        #expect(script.saved([Self.rest("g\n", nil)]).unwritten == 8)
    }

    /// Lines that are consumed together count as many bytes toward the limit as lines that are consumed one by one.
    @Test func linesConsumedTogetherAreNotReadAgain() throws {
        var script = Self.client()
        try Self.add("C connect", to: &script)
        try Self.add(script.statements(taking: Array("1\r\n2\r\n3\r\n".utf8)), to: &script)
        try Self.add("for i in 1..2 {\nC send line \"a\"\n}", to: &script)
        let next = try script.extended(by: "C send line \"x\"", allowing: AllowedTargets(), loader: Self.loader)
        #expect(next.first == 2)
        #expect(script.count == 5)
    }
}
