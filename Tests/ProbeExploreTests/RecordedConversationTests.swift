import ProbeBase
import ProbeExplore
import Testing

/// Tests the limit on the recorded bytes of a connection, and the detection of TLS.
struct RecordedConversationTests {
    private static let cost = RecordedConversation.turnCost

    @Test(arguments: 0...12)
    func limitCountsBytesAndTurns(room: Int) {
        let whole = Array("hello, world".utf8)
        var conversation = RecordedConversation(limit: Self.cost + room)
        for byte in whole { conversation.add(.bytes([byte]), from: .client, at: .zero) }
        #expect(conversation.stream(of: .client) == Array(whole.prefix(room)))
        #expect(conversation.isCut == (room < 12) && conversation.hasReachedLimit == conversation.isCut)
        // Once the limit on recorded bytes has been reached, no further bytes are recorded, even bytes that would fit.
        conversation.add(.fin, from: .client, at: .zero)
        #expect(conversation.hasEnded(.client) == (room == 12))
    }

    @Test func emptyPiecesAreNotTurns() {
        var conversation = RecordedConversation()
        conversation.add(.bytes([]), from: .client, at: .zero)
        #expect(conversation.turns.isEmpty && conversation.isEmpty)
        conversation.add(.bytes([65]), from: .client, at: .milliseconds(1))
        conversation.add(.bytes([66]), from: .client, at: .milliseconds(2))
        #expect(conversation.turns.map(\.event) == [.bytes([65, 66])])
        #expect(conversation.turns.map(\.time) == [.milliseconds(1)])
    }

    @Test func oneByteTurnsAreBounded() {
        var conversation = RecordedConversation(limit: 10 * (Self.cost + 1))
        for number in 0..<1000 {
            conversation.add(.bytes([65]), from: number % 2 == 0 ? .client : .server, at: .zero)
        }
        #expect(conversation.turns.count == 10 && conversation.hasReachedLimit)
    }

    @Test func truncatedRecordingIgnoresTheRest() throws {
        var conversation = RecordedScriptTests.conversation([(.client, "a\r\n"), (.server, "b\r\n")])
        conversation.cut()
        conversation.add(.bytes([65]), from: .client, at: .zero)
        #expect(
            try RecordedScriptTests.steps([conversation]).dropFirst() == [
                "C send line \"a\"", "C expect line \"b\"", "C ignore rest",
            ])
        // If a line is incomplete in one of the recordings because that recording was cut off by the limit, the line is
        // in neither result.
        var other = RecordedScriptTests.conversation([(.client, "a\r\n"), (.server, "b")])
        other.cut()
        for pair in [[conversation, other], [other, conversation]] {
            #expect(try RecordedScriptTests.steps(pair).dropFirst() == ["C send line \"a\"", "C ignore rest"])
        }
    }

    @Test func lineCountIsBounded() throws {
        let conversation = RecordedScriptTests.conversation([(.client, String(repeating: "\r\n", count: 101))])
        var options = RecordedScript.Options()
        options.maxUnits = 101
        #expect(try !RecordedScript([conversation], options).hasReachedLimit)
        options.maxUnits = 100
        let script = try RecordedScript([conversation], options)
        #expect(script.hasReachedLimit && !script.notes.isEmpty)
        #expect(String(decoding: script.bytes.suffix(14), as: UTF8.self) == "C ignore rest\n")
        options.framing = Framing.none
        let whole = try RecordedScript([conversation], options)
        #expect(!whole.hasReachedLimit && whole.notes.isEmpty)
    }

    private static let hello: [UInt8] = [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]

    @Test(
        arguments: [
            ([], 0), ([0x16, 3, 3, 0, 1, 2], 0), ([0x15, 3, 3, 0, 2, 2, 40], 0),
            (Array("HTTP/1.1 400 Bad\r\n".utf8), nil),
        ] as [([UInt8], Int?)])
    func clientHelloAnsweredInPlaintextIsNotTLS(answer: [UInt8], first: Int?) {
        var conversation = RecordedConversation()
        conversation.add(.bytes(Self.hello), from: .client, at: .zero)
        if !answer.isEmpty { conversation.add(.bytes(answer), from: .server, at: .zero) }
        #expect(conversation.firstTLSTurn == first)
    }
}
