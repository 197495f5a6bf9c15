import ProbeRegex
import ProbeScenario
import Testing

@Suite struct CaseExpansionTests {
    private let steps = "server S\nclient C -> S\nC connect\nS accept\nS send \"x\"\nC expect \"x\"\n"

    private func plan(_ header: String, settings: [String: [UInt8]] = [:]) throws -> Plan {
        let result = compile("scenario \"x\"\n\(header)\n\(steps)", settings: settings)
        return try #require(result.plan, "\(result.rendered)")
    }

    private func labels(_ header: String) throws -> [String] { try plan(header).cases.map(\.label) }

    @Test func withoutEachThereIsOneCase() throws {
        #expect(try labels("") == [""])
        #expect(
            try plan("let a = 5\nlet b = \"${a}!\"").cases[0].bindings == ["a": .integer(5), "b": .bytes([53, 33])])
    }

    @Test func listsAndRangesAreExpanded() throws {
        #expect(try labels("each x = 1022, 1023") == ["[x=1022]", "[x=1023]"])
        #expect(try labels("each n = 1..3") == ["[n=1]", "[n=2]", "[n=3]"])
        #expect(try labels("each n = 5..5") == ["[n=5]"])
        #expect(try labels("let top = 2\neach n = 1..(top + 1)") == ["[n=1]", "[n=2]", "[n=3]"])
    }

    @Test func parametersMultiplyAndTheLastVariesFastest() throws {
        let plan = try plan("each x = 1, 2\neach y = \"a\", \"b\"\nlet z = \"${x}${y}\"")
        #expect(plan.cases.map(\.label) == ["[x=1,y=a]", "[x=1,y=b]", "[x=2,y=a]", "[x=2,y=b]"])
        #expect(plan.cases[2].bindings["z"] == .bytes(Array("2a".utf8)))
    }

    @Test func parameterMayDependOnAnother() throws {
        #expect(try labels("each x = 1, 2\neach y = x..2") == ["[x=1,y=1]", "[x=1,y=2]", "[x=2,y=2]"])
    }

    @Test func tableRowsAreCases() throws {
        let plan = try plan("table t = \"NOOP\" /^250 /, \"RSET\" /^251 /i\neach cmd, reply in t")
        #expect(plan.cases.map(\.label) == ["[cmd=NOOP]", "[cmd=RSET]"])
        #expect(plan.cases[1].bindings["cmd"] == .bytes(Array("RSET".utf8)))
        guard case .regex(let regex) = plan.cases[1].bindings["reply"] else {
            Issue.record("the cell is not a regex")
            return
        }
        #expect(regex.source == "^251 " && regex.ignoresCase)
        #expect(try labels("table t = \"a\" 1, \"a\" 2\neach c, n in t") == ["[c=a,n=1]", "[c=a,n=2]"])
    }

    @Test func labelsEscapeBackslashesAndQuotes() throws {
        // The first value contains a line feed, and the second value contains a backslash and an n.
        #expect(
            try labels(#"each x = "a\nb", "a\\nb", "\"q\"""#) == [#"[x="a\nb"]"#, #"[x="a\\nb"]"#, #"[x="\"q\""]"#])
        // An escape sequence is never cut.
        let long = String(repeating: "a", count: 23)
        #expect(try labels("each x = \"\(long)\\nb\"") == ["[x=\"\(long)...\"]"])
    }

    @Test func singleCutsAreEnumerated() throws {
        let plan = try plan(#"each piece = cuts("ab\r\n")"#)
        #expect(plan.cases.map(\.label) == ["[piece=1]", "[piece=2]", "[piece=3]"])
        #expect(plan.cases[1].bindings["piece"] == .pieces([[97, 98], [13, 10]]))
    }

    @Test func doubleCutsAreEnumerated() throws {
        let plan = try plan(#"each p = cuts("abcd", 2)"#)
        #expect(plan.cases.map(\.label) == ["[p=1+2]", "[p=1+3]", "[p=2+3]"])
        #expect(plan.cases[1].bindings["p"] == .pieces([[97], [98, 99], [100]]))
    }

    @Test func labelsContainNoRawBytes() throws {
        let values = #""a b", "a\r\n\x1b[31m\xff", "", "a,b]", "é", "\u{202e}", "x" * 100, "x" * 101, "NOOP-1.5_""#
        let labels = try labels("each v = \(values)")
        #expect(Set(labels).count == 9)
        for label in labels {
            for scalar in label.unicodeScalars { #expect(scalar.value >= 0x20 && scalar.value != 0x7F) }
            #expect(label.count < 60)
        }
        #expect(labels[0] == "[v=\"a b\"]")
        #expect(labels[1] == #"[v="a\r\n\x1b[31m\xff"]"#)
        #expect(labels[2] == "[v=\"\"]")
        #expect(labels[3] == "[v=\"a,b]\"]")
        #expect(labels[7].hasSuffix("#2]"))
        #expect(labels[8] == "[v=NOOP-1.5_]")
    }

    @Test func equalValuesAreSeparateCases() throws {
        #expect(try labels("each x = 1, 1, 1") == ["[x=1]", "[x=1#2]", "[x=1#3]"])
    }

    @Test func tenThousandCasesAreExpanded() throws {
        let plan = try plan("each a = 1..100\neach b = 1..100")
        #expect(plan.cases.count == 10_000)
        #expect(plan.cases.last?.label == "[a=100,b=100]")
        #expect(plan.cases.last?.bindings == ["a": .integer(100), "b": .integer(100)])
    }

    @Test func cutsOfALargeValueAreRefused() {
        let result = compile("scenario \"x\"\neach p = cuts(\"a\" * 64KiB)\n\(steps)")
        #expect(result.plan == nil)
        #expect(result.diagnostics.map(\.id) == [.tooManyCases])
    }

    @Test func runtimeValuesAreNotBound() throws {
        let plan = try plan("let address = \"${S.port}\"\nlet other = \"a${address}\"\nlet c = 1")
        #expect(plan.cases[0].bindings == ["c": .integer(1)])
    }

    @Test func settingsReplaceLets() throws {
        let plan = try plan("let n = 5\nlet s = \"a\"\neach x = 1..n", settings: ["n": Array("2".utf8), "s": [0xFF]])
        #expect(plan.cases.map(\.label) == ["[x=1]", "[x=2]"])
        #expect(plan.cases[0].bindings["s"] == .bytes([0xFF]))
        let wrong = compile("scenario \"x\"\nlet size = 5\n\(steps)", settings: ["szie": [0x35]])
        #expect(wrong.diagnostics.map(\.id) == [.unknownSetting])
        #expect(wrong.diagnostics.first?.hint == "did you mean `size`?")
    }
}
