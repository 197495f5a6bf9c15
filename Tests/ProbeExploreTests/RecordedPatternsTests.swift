import ProbeBase
import ProbeExplore
import Testing

/// Tests the patterns that result from two recordings of the same exchange.
struct RecordedPatternsTests {
    private typealias Side = ConversationSide
    private typealias End = (Side, RecordedConversation.Event)

    private static func steps(_ lines: [(String, String)]) throws -> [String] {
        let recordings = [lines.map(\.0), lines.map(\.1)].map { texts in
            RecordedScriptTests.conversation(texts.map { (.server, $0 + "\r\n") })
        }
        return try RecordedScriptTests.steps(recordings).dropFirst().map {
            String($0.dropFirst("C expect line ".count))
        }
    }

    @Test(arguments: [
        (
            "Date: Wed, 25 Nov 2026 04:45:59 GMT", "Date: Wed, 25 Nov 2026 04:46:01 GMT",
            "/^Date: (?<v1>[A-Za-z]+, +[0-9]+ +[A-Za-z]+ +[0-9]+ +[0-9]+:[0-9]+:[0-9]+ +[A-Za-z]+)$/"
        ),
        (
            "at 2026-11-25T04:45:59Z", "at 2026-11-25T04:46:01Z",
            "/^at (?<v1>[0-9]+-[0-9]+-[0-9]+[A-Za-z]+[0-9]+:[0-9]+:[0-9]+[A-Za-z]+)$/"
        ),
        (
            "Wed Nov 25 04:45:59 2026", "Wed Nov 25 04:45:58 2026",
            "/^(?<v1>[A-Za-z]+ +[A-Za-z]+ +[0-9]+ +[0-9]+:[0-9]+:[0-9]+ +[0-9]+)$/"
        ),
        (
            "id=4b1f7a52-7d39-4bfa-8f33-1f7a527d394b.", "id=00000000-7d39-4bfa-8f33-1f7a527d394b.",
            "/^id=(?<v1>[0-9A-Fa-f-]+)\\.$/"
        ),
        ("n 17/20", "n 18/20", "/^n (?<v1>[0-9]+)\\/20$/"), ("n 17/20", "n 17/21", "/^n 17\\/(?<v1>[0-9]+)$/"),
        ("a1 b2", "a2 b3", "/^(?<v1>[^ ]+) (?<v2>[^ ]+)$/"), ("x (1,2)", "x (1)", "/^x \\((?<v1>.+)\\)$/"),
    ])
    func wordsAndDatesBecomePatterns(first: String, second: String, pattern: String) throws {
        #expect(try Self.steps([(first, second)]) == [pattern])
    }

    /// The server sends the same time twice in each recording, but in a later run the two times may differ.
    @Test func equalTimesAreNotCorrelated() throws {
        let line = ("Date: 04:45:59 id 71", "Date: 04:46:01 id 84")
        let steps = try Self.steps([line, line])
        #expect(steps[0] == "/^Date: (?<v1>[0-9]+:[0-9]+:[0-9]+) id (?<v2>[0-9]+)$/")
        #expect(steps[1] == "/^Date: (?<v3>[0-9]+:[0-9]+:[0-9]+) id ${v2}$/")
    }

    @Test func clientRepeatsReceivedValues() throws {
        let recordings = [("71", "04:45:59"), ("84", "04:46:01")].map { id, time in
            RecordedScriptTests.conversation([
                (.server, "+OK <\(id).\(time)>\r\n"), (.client, "USE \(id) of \(time) now \(time.dropLast(3))\r\n"),
            ])
        }
        #expect(
            try RecordedScriptTests.steps(recordings) == [
                "C connect", "C expect line /^\\+OK <(?<v1>[0-9]+)\\.(?<v2>[0-9]+:[0-9]+:[0-9]+)>$/",
                "C send line \"USE ${v1} of ${v2} now 04:45\"",
            ])
    }

    // MARK: The order of the two sides

    private static func ended(_ ends: [End]) -> RecordedConversation {
        RecordedScriptTests.conversation([(.client, "a\r\n"), (.server, "b\r\n")], ends: ends)
    }

    @Test func finsMayArriveInAnyOrder() throws {
        let (first, second) = (
            Self.ended([(.client, .fin), (.server, .fin)]), Self.ended([(.server, .fin), (.client, .fin)])
        )
        #expect(try RecordedScriptTests.steps([first, second]).suffix(2) == ["C half-close", "C expect eof"])
        #expect(try RecordedScriptTests.steps([second, first]).suffix(2) == ["C expect eof", "C close"])
    }

    @Test func differingEndsAreExpectedAsClosed() throws {
        let recordings = [
            Self.ended([(.client, .fin), (.server, .fin)]), Self.ended([(.client, .fin), (.server, .reset)]),
        ]
        #expect(try RecordedScriptTests.steps(recordings).suffix(2) == ["C half-close", "C expect closed"])
    }

    @Test func endInOneRecordingIsNotExpected() throws {
        let recordings = [Self.ended([(.client, .fin), (.server, .fin)]), Self.ended([(.client, .fin)])]
        #expect(try RecordedScriptTests.steps(recordings).last == "C close")
        #expect(try RecordedScriptTests.steps(recordings.reversed()).last == "C close")
    }

    @Test func linesOfBothEndsMayCross() throws {
        let crossing = [
            RecordedScriptTests.conversation([(.client, "a\r\n"), (.client, "b\r\n"), (.server, "1\r\n")]),
            RecordedScriptTests.conversation([(.client, "a\r\n"), (.server, "1\r\n"), (.client, "b\r\n")]),
        ]
        #expect(
            try RecordedScriptTests.steps(crossing).dropFirst() == [
                "C send line \"a\"", "C send line \"b\"", "C expect line \"1\"",
            ])
    }

    @Test(arguments: [["a\r\n", "b\r\nc\r\n"], ["a\r\nb\r\n", "b\r\n"], ["a\r\n", ""]])
    func missingLinesAreADifferentExchange(lines: [String]) {
        let other = RecordedScriptTests.conversation(
            [(.client, lines[0]), (.server, lines[1])].filter { !$0.1.isEmpty })
        for pair in [[Self.ended([]), other], [other, Self.ended([])]] {
            #expect(throws: RecordedScript.Obstacle.self) { try RecordedScript(pair, RecordedScript.Options()) }
        }
    }
}
