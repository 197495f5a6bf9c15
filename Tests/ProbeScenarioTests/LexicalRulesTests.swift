import ProbeBase
import ProbeRegex
import ProbeScenario
import Testing

@Suite struct LexicalRulesTests {
    static let head = "scenario \"x\"\nserver S\nclient C -> S\nC connect\nS accept\n"

    /// Returns the pieces that a `send` of the script writes.
    private func sent(_ text: String) throws -> [String] {
        let result = compile(text)
        let plan = try #require(result.plan, "\(result.rendered)")
        for step in plan.scenario.steps {
            guard case .act(_, .connection(.send(let statement)), _) = step.kind else { continue }
            let scope = BoundScope(variables: plan.cases[0].bindings)
            let evaluator = Evaluator(scope: scope, sources: plan.sources, framing: plan.scenario.framing)
            return try evaluator.pieces(of: statement).map { String(decoding: $0, as: UTF8.self) }
        }
        return []
    }

    @Test func linesContinueAfterOperators() throws {
        #expect(
            try sent(Self.head + "S send \"a\" |\n \"b\" +\n\"c\" | # comment\n# another\n\n \"d\"\n") == [
                "a", "bc", "d",
            ])
        #expect(try sent(Self.head + "S send lines(\n\"a\",\n\"b\")\n") == ["a\r\nb\r\n"])
        #expect(
            try sent("scenario \"x\"\nlet v =\n  \"q\"\nserver S\nclient C ->\n S\nC connect\nS accept\nS send v\n")
                == ["q"])
    }

    @Test func leadingBarContinuesTheLine() throws {
        #expect(try sent(Self.head + "S send \"a\"\n  | \"b\"\n\n  | \"c\" every 5ms\n") == ["a", "b", "c"])
    }

    @Test func crlfAndAByteOrderMarkChangeNothing() throws {
        let text = FirstExampleTests.script
        let crlf = "\u{FEFF}" + text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        let result = compile(crlf)
        #expect(result.rendered == "")
        #expect(result.plan?.scenario.steps.count == compile(text).plan?.scenario.steps.count)
        #expect(try sent(crlf) == ["220 rea", "dy\r", "\n"])
    }

    @Test func tabsAreSpacesAndCommentsNeedASpace() throws {
        #expect(try sent(Self.head + "\tS\tsend\t\"a#b\"\t#comment \"x\"\n") == ["a#b"])
    }

    @Test func semicolonsEndStatementsInBraces() throws {
        let plan = try #require(compile(Self.head + "do { S send \"a\"; C expect \"a\"; }\n").plan)
        guard case .sequence(let block) = plan.scenario.steps.last?.kind else {
            Issue.record("no block")
            return
        }
        #expect(block.steps.count == 2)
    }

    @Test func arrowsNeedNoSpace() throws {
        let result = compile("scenario \"x\"\nserver S\nclient C->S\nC connect\nS accept\nwire S->C bytes \"x\"\n")
        #expect(result.rendered == "")
    }

    @Test func contextualKeywordsMayBeVariables() throws {
        let text =
            Self.head + """
                C expect line as line
                C expect until as until
                S send line
                S send line line
                C expect line line
                C expect line within 2s
                C expect until line as reset
                C expect reset + "x"
                C expect any bytes as sent
                S send line every 5ms
                C expect line * 2
                """
        let result = compile(text)
        // In `until as until`, the delimiter is missing, because `as` is a keyword after `until`.
        #expect(result.diagnostics.count == 1)
        let plan = try #require(
            compile(text.split(separator: "\n").filter { !$0.contains("as until") }.joined(separator: "\n")).plan)
        let kinds = plan.scenario.steps.map(\.kind)
        if case .act(_, .connection(.send(let send)), _) = kinds[3] {
            #expect(send.mode == .bytes)
        } else {
            Issue.record("3")
        }
        if case .act(_, .connection(.send(let send)), _) = kinds[4] {
            #expect(send.mode == .line)
        } else {
            Issue.record("4")
        }
        if case .act(_, .connection(.expect(.line(.value, as: nil))), _) = kinds[5] {} else { Issue.record("5") }
        if case .act(_, .connection(.expect(.bytes)), let timing) = kinds[6] {
            #expect(timing.within == .seconds(2))
        } else {
            Issue.record("6")
        }
        if case .act(_, .connection(.expect(.until(_, as: let name?))), _) = kinds[7] {
            #expect(name.value == "reset")
        } else {
            Issue.record("7")
        }
        if case .act(_, .connection(.expect(.bytes)), _) = kinds[8] {} else { Issue.record("8") }
    }

    @Test(arguments: [
        ("a b  c", ["a", "b", "c"]),
        (##"sh -c 'echo "$x" ${y}' # comment"##, ["sh", "-c", #"echo "$x" ${y}"#]),
        (#""a b"c'd e'f"#, ["a bcd ef"]),
        (##"a\ b "\$x \" \\ \n" \# x#y"##, ["a b", #"$x " \ \n"#, "#", "x#y"]),
        (#""" ''"#, ["", ""]),
        ("é --port=1,", ["é", "--port=1,"]),
        ("a | b", ["a", "|", "b"]),
    ])
    func processLinesAreShellWords(_ line: String, _ expected: [String]) throws {
        let result = compile("scenario \"x\"\nprocess P = \(line)\nP start\nP expect exit 0\n")
        let plan = try #require(result.plan, "\(result.rendered)")
        guard case .process(let command) = plan.scenario.actors[0].kind else {
            Issue.record("no process")
            return
        }
        let evaluator = Evaluator(scope: BoundScope(), sources: plan.sources, framing: .crlf)
        let words = try command.words.map {
            String(decoding: try evaluator.bytes(of: $0.value, span: $0.span), as: UTF8.self)
        }
        #expect(words == expected)
    }

    @Test func processLinesInterpolateAndNeverContinue() throws {
        let result = compile(
            "scenario \"x\"\nprocess P = a --port=${P.port} ${P.port.3} \"${dir}/b\" '${P.port.9}' x,\nP start\nP expect exit 0\n"
        )
        let plan = try #require(result.plan, "\(result.rendered)")
        guard case .process(let command) = plan.scenario.actors[0].kind else { return }
        #expect(command.words.count == 6)
        #expect(command.portCount == 3)
        let scope = BoundScope(
            variables: ["dir": .bytes(Array("/d".utf8))], properties: { property, _ in Array("<\(property)>".utf8) })
        let evaluator = Evaluator(scope: scope, sources: plan.sources, framing: .crlf)
        let words = try command.words.map {
            String(decoding: try evaluator.bytes(of: $0.value, span: $0.span), as: UTF8.self)
        }
        #expect(words == ["a", "--port=<port>", "<port.3>", "/d/b", "${P.port.9}", "x,"])
    }

    @Test func processThatIsATargetHasAPort() throws {
        let plan = try #require(
            compile("scenario \"x\"\nprocess P = a\nclient C -> P\nP start\nC connect\nC expect eof\n").plan)
        guard case .process(let command) = plan.scenario.actors[0].kind else { return }
        #expect(command.portCount == 1)
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1"), ("[::1]:80", "::1"), ("localhost:80", "localhost"),
        ("[fe80::1%lo]:80", "fe80::1%lo"),
        ("a-b.example.com:80", "a-b.example.com"), ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1"),
        ("127.0.0.1:(40 * 2)", "127.0.0.1"),
        ("[1:2:3:4:5:6:7:8]:80", "1:2:3:4:5:6:7:8"),
    ])
    func addressesAreParsed(_ text: String, _ host: String) throws {
        let script = "scenario \"x\"\nclient C -> \(text)\nC connect\nC expect eof\n"
        let plan = try #require(compile(script, allowing: nil).plan)
        guard case .client(.address(let address), _) = plan.scenario.actors[0].kind else {
            Issue.record("no address")
            return
        }
        #expect(address.host == host)
        let evaluator = Evaluator(scope: BoundScope(), sources: plan.sources, framing: .crlf)
        #expect(try evaluator.integer(of: try #require(address.port)) == 80)
    }

    @Test(arguments: [
        "[::1", "[:::1]:80", "[1:2:3]:80", "[1::2::3]:80", "1.2.3:80", "1.2.3.4.5:80", "[::1%]:", "256.1.1.1:80",
    ])
    func invalidAddressesAreRefused(_ text: String) {
        #expect(compile("scenario \"x\"\nclient C -> \(text)\nC connect\nC expect eof\n").plan == nil)
    }

    @Test(arguments: [
        ("50us", Duration.microseconds(50)), ("20ms", .milliseconds(20)), ("1.5s", .milliseconds(1_500)),
        ("2min", .seconds(120)),
        ("0.001s", .milliseconds(1)), ("1_000ms", .seconds(1)),
    ])
    func durationsAreParsed(_ text: String, _ expected: Duration) throws {
        let plan = try #require(compile(Self.head + "wait \(text)\nC expect eof\n").plan)
        guard case .wait(let duration) = plan.scenario.steps[2].kind else { return }
        #expect(duration == expected)
    }

    @Test(arguments: ["10B/s": 10, "1KiB/s": 1_024, "1.5kB/s": 1_500, "1MiB/s": 1 << 20])
    func ratesAreParsed(_ text: String, _ expected: Int) throws {
        let plan = try #require(compile(Self.head + "S send \"x\" at \(text)\nC expect eof\n").plan)
        guard case .act(_, .connection(.send(let statement)), _) = plan.scenario.steps[2].kind,
            case .rate(let rate) = statement.pace
        else {
            Issue.record("no rate")
            return
        }
        #expect(rate == expected)
    }

    @Test(arguments: [
        "99999999999999999999", "0xfffffffffffffffff", "1.2.3", "1x", "0xg", "9999999999999GiB", "1.", "1_000min1",
    ])
    func invalidNumbersAreRefused(_ text: String) {
        #expect(compile(Self.head + "S send \"x\" * \(text)\nC expect eof\n").plan == nil)
    }

    @Test func regexesMayContainSlashesInClasses() throws {
        let plan = try #require(compile(Self.head + "C expect line /^[^/]+\\/[/x]$/i\n").plan)
        guard case .act(_, .connection(.expect(.line(.regex(let literal), as: nil))), _) = plan.scenario.steps[2].kind
        else {
            return
        }
        #expect(literal.ignoresCase)
        #expect(literal.compiled?.source == "^[^/]+\\/[/x]$")
    }
}
