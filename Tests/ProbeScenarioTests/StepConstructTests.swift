import ProbeBase
import ProbeScenario
import Testing

/// Tests the syntax trees of the steps that don't begin with an actor, and of the wire statements with values.
/// `LanguageTableTests` parses the examples of all these statements.
@Suite struct StepConstructTests {
    @Test func controlFlowIsParsed() throws {
        if case .wait(.milliseconds(50)) = try lastStep("wait 50ms") {} else { Issue.record("wait") }
        if case .note = try lastStep("note \"${S.port}\"") {} else { Issue.record("note") }
        if case .assign = try lastStep("let y = x + \"z\"") {} else { Issue.record("let") }
        if case .check(_, .compare(.notEqual), .value) = try lastStep("check x != \"y\"") {} else { Issue.record("!=") }
        if case .check(_, .matches, .regex) = try lastStep("check x matches /y/") {} else { Issue.record("matches") }
        if case .check(_, .contains, .value) = try lastStep("check x contains \"y\"") {
        } else {
            Issue.record("contains")
        }
        if case .check(_, .lacks, .value) = try lastStep("check x lacks \"y\"") {} else { Issue.record("lacks") }
        if case .loop(_, .range, let block) = try lastStep("for i in 1..n { C send \"${i}\" }") {
            #expect(block.steps.count == 1)
        } else {
            Issue.record("for")
        }
        if case .loop(let names, .table, _) = try lastStep("for a, b in replies { C send a; S expect line b }") {
            #expect(names.map(\.value) == ["a", "b"])
        } else {
            Issue.record("for in table")
        }
        if case .invoke(let name) = try lastStep("do login") {
            #expect(name.value == "login")
        } else {
            Issue.record("do")
        }
        if case .sequence = try lastStep("do { C send \"x\" }") {} else { Issue.record("do block") }
        if case .together(let block) = try lastStep("together {\n C send \"x\"\n S expect \"x\"\n}") {
            #expect(block.steps.count == 2)
        } else {
            Issue.record("together")
        }
        if case .either(let branches) = try lastStep(
            "either { C expect \"x\" } or {\n C expect \"y\" \n} or { S accept as A }")
        {
            #expect(branches.count == 3)
        } else {
            Issue.record("either")
        }
        if case .retry(every: .milliseconds(250), within: .seconds(20), _) = try lastStep(
            "retry every 250ms within 20s { C send \"x\" }")
        {
        } else {
            Issue.record("retry")
        }
        if case .finally = try lastStep("finally { P stop }") {} else { Issue.record("finally") }
        if case .whenever(let name, let regex, _) = try lastStep(
            "whenever C gets line /^PING (?<t>.*)/ { C send line \"${t}\" }")
        {
            #expect(name.value == "C" && regex.groupNames == ["t"])
        } else {
            Issue.record("whenever")
        }
    }

    @Test func wireStatementsAreParsed() throws {
        func statement(_ text: String) throws -> WireStatement<Parsed> {
            guard case .wire(let statement, _) = try lastStep(text) else { return .noReset }
            return statement
        }
        func flow(_ text: String) throws -> HalfConnectionStatement<Parsed> {
            guard case .halfConnection(let from, let to, let flow) = try statement("wire S -> C \(text)") else {
                return .urgent
            }
            #expect(from.value == "S" && to.value == "C")
            return flow
        }
        if case .bytes = try flow("bytes x") {} else { Issue.record("bytes") }
        if case .segmentCount(.equal, _) = try flow("segments 3") {} else { Issue.record("segments 3") }
        if case .segmentCount(.equal, _) = try flow("segments n") {} else { Issue.record("segments n") }
        if case .segmentCount(.greaterOrEqual, _) = try flow("segments >= 3") {} else { Issue.record("segments >= 3") }
        if case .segments(let values) = try flow("segments \"a\", x, \"b\"") {
            #expect(values.count == 3)
        } else {
            Issue.record("segments")
        }
        if case .segments(let values) = try flow("segments x") {
            #expect(values.count == 1)
        } else {
            Issue.record("segments x")
        }
        if case .gap(index: nil, .greaterOrEqual, .milliseconds(25)) = try flow("gap >= 25ms") {
        } else {
            Issue.record("gap")
        }
        if case .gap(index: 1, .less, .milliseconds(25)) = try flow("gap 1 < 25ms") {} else { Issue.record("gap 1") }
        if case .largestSegment(.lessOrEqual, _) = try flow("largest segment <= 1460B") {
        } else {
            Issue.record("largest")
        }
        if case .longestLine = try flow("longest line <= 1024") {} else { Issue.record("longest") }
        if case .lines(.crlf) = try flow("lines crlf") {} else { Issue.record("lines") }
        if case .messages(.equal, _, _) = try flow("messages 5") {} else { Issue.record("messages") }
        if case .firstByte(within: .milliseconds(10)) = try flow("first byte within 10ms") {
        } else {
            Issue.record("first byte")
        }
        if case .window(.greaterOrEqual, _) = try flow("window >= 4KiB") {} else { Issue.record("window") }
        if case .retransmissions(.equal, _) = try flow("retransmissions 0") {} else { Issue.record("retransmissions") }
        if case .records(.equal, _) = try flow("records 3") {} else { Issue.record("records 3") }
        if case .records(.greaterOrEqual, _) = try flow("records >= n") {} else { Issue.record("records >= n") }
        if case .frames(.equal, _) = try flow("frames 3") {} else { Issue.record("frames 3") }
        if case .tls(fromStart: false) = try flow("tls within 1s") {} else { Issue.record("tls") }
        if case .tls(fromStart: true) = try flow("tls from the start") {} else { Issue.record("tls from the start") }
        if case .lacks = try flow("lacks \"PASS\" + x") {} else { Issue.record("lacks") }
        if case .fin(let from, to: nil) = try statement("wire fin from C") {
            #expect(from.value == "C")
        } else {
            Issue.record("fin")
        }
        if case .rst(_, to: _?) = try statement("wire rst from C to S") {} else { Issue.record("rst") }
        if case .closedFirst = try statement("wire closed by C first") {} else { Issue.record("closed by") }
        if case .packets(.lessOrEqual, _) = try statement("wire packets <= 20") {} else { Issue.record("packets") }
    }
}
