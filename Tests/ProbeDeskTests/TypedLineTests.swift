import ProbeDesk
import ProbeScenario
import Testing

struct TypedLineTests {
    private static func read(_ lines: [String], actor: String = "C") -> [TypedLine?] {
        var reader = LineReader(actor: actor, kind: actor == "C" ? .client : .server)
        return lines.map { reader.read(Array($0.utf8)) }
    }

    private static func text(_ text: String) -> TypedLine { .text(Array(text.utf8)) }

    @Test(arguments: [
        ("send line \"EHLO x\"", TypedLine.step("C send line \"EHLO x\"")),
        ("  expect line /^250/ ", .step("C expect line /^250/")), ("close", .step("C close")),
        ("C stop reading", .step("C stop reading")), ("wait 1s", .step("wait 1s")), ("connect", .step("C connect")),
        ("wire rst from C", .step("wire rst from C")), ("let x = 1", .step("let x = 1")),
        ("wire", .ladder), ("help", .help), ("?", .help), ("quit", .quit), ("exit", .quit),
        ("save a b.scn --force", .save("a b.scn --force")), ("save", .save("")), ("# nothing", .nothing),
        ("", .nothing),
        ("EHLO x", text("EHLO x")), ("QUIT", text("QUIT")), ("  indented", text("  indented")), ("C", text("C")),
        ("Close", text("Close")), ("help me", text("help me")),
    ])
    func firstWordSelectsStepOrText(line: String, expected: TypedLine) {
        #expect(Self.read([line]) == [expected])
    }

    @Test func verbOfTheOtherEndIsText() {
        #expect(Self.read(["accept"]) == [Self.text("accept")])
        #expect(Self.read(["accept", "connect"], actor: "S") == [.step("S accept"), Self.text("connect")])
    }

    @Test func invalidUTF8IsSentUnchanged() {
        var reader = LineReader(actor: "C", kind: .client)
        #expect(reader.read([0xff, 0x20, 0x41]) == .text([0xff, 0x20, 0x41]))
    }

    @Test func emptyLineIsSentAfterText() {
        #expect(
            Self.read(["GET / HTTP/1.0", "", "", "close", ""]) == [
                Self.text("GET / HTTP/1.0"), Self.text(""), Self.text(""), .step("C close"), .nothing,
            ])
    }

    @Test func blockIsReadToItsEnd() {
        let lines = ["for i in 1..2 {", "send line \"a\"", "for j in 1..2 {", "wait 1ms", "}", "}", "close"]
        let block = "for i in 1..2 {\nC send line \"a\"\nfor j in 1..2 {\nwait 1ms\n}\n}"
        #expect(Self.read(lines) == [nil, nil, nil, nil, nil, .step(block), .step("C close")])
    }

    @Test func braceInACommentOpensNoBlock() {
        let lines = ["for i in 1..2 { # twice", "# not this {", "send line \"# {\"", "} # so", "close # now {"]
        let block = "for i in 1..2 { # twice\n# not this {\nC send line \"# {\"\n} # so"
        #expect(Self.read(lines) == [nil, nil, nil, .step(block), .step("C close # now {")])
    }

    @Test func droppedBlockIsForgotten() {
        var reader = LineReader(actor: "C", kind: .client)
        #expect(reader.read(Array("for i in 1..2 {".utf8)) == nil)
        #expect(reader.isInBlock)
        reader.dropBlock()
        #expect(reader.read(Array("close".utf8)) == .step("C close"))
    }

    @Test func namedConnectionAcceptsSteps() {
        var reader = LineReader(actor: "S", kind: .server)
        let line = Array("D send line \"x\"".utf8)
        #expect(reader.read(line) == .text(line))
        reader.add(actor: "D")
        #expect(reader.read(line) == .step("D send line \"x\""))
    }

    // MARK: Completion

    private func completions(_ text: String) -> (typed: String, words: [String]) {
        LineReader(actor: "C", kind: .client).completions(of: text)
    }

    @Test func nextWordIsCompleted() {
        #expect(completions("expe").words == ["expect"])
        #expect(completions("stop r").words == ["reading"])
        #expect(completions("C half").words == ["half-close"])
        #expect(completions("send l").words == ["line"])
        #expect(completions("expect li").words == ["line", "lines"])
        #expect(completions("re").words == ["read", "reboot", "reset", "resume", "retry"])
        #expect(completions("C re").words == ["read", "reboot", "reset", "resume"])
        #expect(completions("sa").words == ["save"])
    }

    @Test func valuesAreNotCompleted() {
        #expect(completions("send \"re").words == [])
        #expect(completions("nothing like it").words == [])
    }

    @Test func typedWordPrecedesTheCursor() {
        #expect(completions("expect l").typed == "l")
        #expect(completions("C expect l").typed == "l")
        #expect(completions("").words.contains("send"))
    }
}
