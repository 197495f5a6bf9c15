import ProbeBase
import ProbeScenario
import Testing

@Suite struct SendPiecesTests {
    private func pieces(_ text: String, variables: [String: Value] = [:], framing: Framing = .crlf) throws -> [String] {
        let steps = EvaluatorTests.binding(variables)
        let result = compile("scenario \"x\"\nserver S\nS accept\n\(steps)S \(text)\n")
        guard case .act(_, .connection(.send(let statement)), _) = result.plan?.scenario.steps.last?.kind else {
            Issue.record("\(result.rendered)")
            return []
        }
        let scope = BoundScope(variables: variables)
        let evaluator = Evaluator(scope: scope, sources: result.sources, framing: framing)
        return try evaluator.pieces(of: statement).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func barsSeparatePieces() throws {
        #expect(try pieces(#"send "a" | "b" + "c" | "d""#) == ["a", "bc", "d"])
        #expect(try pieces(#"send line "a" | "b""#) == ["a", "b\r\n"])
        #expect(try pieces(#"send line "a" | "b""#, framing: .u16) == ["\0\u{2}a", "b"])
        #expect(try pieces(#"send line "a" | "b""#, framing: .netstring) == ["2:a", "b,"])
        #expect(try pieces(#"send line "a" | "b""#, framing: .delimiter(Array("END".utf8))) == ["a", "bEND"])
        #expect(try pieces(#"send line """#) == ["\r\n"])
    }

    @Test func offsetsCutPieces() throws {
        #expect(try pieces(#"send "abcdef" cut at 1, 4"#) == ["a", "bcd", "ef"])
        #expect(try pieces(#"send line "ab" cut at 3"#) == ["ab\r", "\n"])
        #expect(try pieces(#"send "abcdef" in pieces of 4B"#) == ["abcd", "ef"])
        #expect(try pieces(#"send "abc" in pieces of 4B"#) == ["abc"])
        #expect(try pieces(#"send "abcdef" in pieces of 2B"#) == ["ab", "cd", "ef"])
    }

    @Test func cutValuesArePieces() throws {
        #expect(try pieces("send n", variables: ["n": .pieces([[97], [98]])]) == ["a", "b"])
        #expect(try pieces("send (n)", variables: ["n": .pieces([[97], [98]])]) == ["a", "b"])
        #expect(try pieces(#"send "x" + "${n}""#, variables: ["n": .pieces([[97], [98]])]) == ["xab"])
        #expect(try pieces("send line n", variables: ["n": .pieces([[97], [98]])]) == ["a", "b\r\n"])
    }

    @Test func randomCutsKeepTheBytes() throws {
        let text = "send \"0123456789\" * 20 cut at random seed 3"
        let first = try pieces(text)
        #expect(first.count > 1)
        #expect(first.joined() == String(repeating: "0123456789", count: 20))
        #expect(try pieces(text) == first)
        #expect(try pieces(text.replacing("seed 3", with: "seed 4")) != first)
    }

    @Test(arguments: [0, 3, 4, -1, Int.max])
    func offsetsOutsideAreErrors(_ offset: Int) {
        #expect(throws: EvaluationError.self) {
            try pieces("send \"abc\" cut at n", variables: ["n": .integer(offset)])
        }
    }

    @Test func offsetsOutOfOrderAreErrors() {
        #expect(throws: EvaluationError.self) {
            try pieces("send \"abcdef\" cut at 3, n", variables: ["n": .integer(3)])
        }
    }
}

extension String {
    fileprivate func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
