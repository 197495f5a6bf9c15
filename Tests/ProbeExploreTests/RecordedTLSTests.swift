import ProbeBase
import ProbeExplore
import Testing

/// Tests scenarios that are written from recorded TLS conversations.
struct RecordedTLSTests {
    typealias Event = RecordedConversation.Event
    typealias Side = ConversationSide

    private static let handshake = RecordedConversation.Handshake(
        serverName: "chat.test", offeredProtocols: ["smtp", "imap"], chosenProtocol: "imap")

    private static func conversation(_ events: [(Side, Event)]) -> RecordedConversation {
        var result = RecordedConversation()
        for (side, event) in events { result.add(event, from: side, at: .zero) }
        return result
    }

    private static func script(
        _ events: [(Side, Event)], _ role: RecordedScript.Role = .client
    ) throws -> [String] {
        var options = RecordedScript.Options()
        (options.role, options.target) = (role, "127.0.0.1:25")
        let bytes = try RecordedScript([conversation(events)], options).bytes
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return lines.filter { !$0.hasPrefix("scenario") && !$0.hasPrefix("timeout") }
    }

    private static func text(_ text: String) -> Event { .bytes(Array(text.utf8)) }

    private static let whole: [(Side, Event)] = [
        (.client, .tls(handshake)), (.client, text("hello\r\n")), (.server, text("bye\r\n")), (.server, .fin),
        (.client, .fin),
    ]

    @Test func handshakeOptionsAreWritten() throws {
        #expect(
            try Self.script(Self.whole) == [
                "client  C -> 127.0.0.1:25 tls name \"chat.test\" alpn \"smtp\" \"imap\"", "C connect",
                "C send line \"hello\"", "C expect line \"bye\"", "C expect eof", "C close",
            ])
        #expect(
            try Self.script(Self.whole, .server) == [
                "server  S tls alpn \"imap\"", "S accept", "S expect line \"hello\"", "S send line \"bye\"",
                "S close",
            ])
        #expect(
            try Self.script(Self.whole, .both).prefix(4) == [
                "server  S tls alpn \"imap\"", "client  C -> S tls name \"chat.test\" alpn \"smtp\" \"imap\"",
                "C connect", "S accept",
            ])
    }

    @Test func plaintextPrecedesTLS() throws {
        let events = [(.server, Self.text("220 go\r\n"))] + Self.whole
        #expect(
            try Self.script(events).prefix(4) == [
                "client  C -> 127.0.0.1:25", "C connect", "C expect line \"220 go\"",
                "C start tls name \"chat.test\" alpn \"smtp\" \"imap\"",
            ])
        let both = try Self.script(events, .both)
        #expect(
            both.drop { $0 != "together {" }.prefix(4) == [
                "together {", "    C start tls name \"chat.test\" alpn \"smtp\" \"imap\"",
                "    S start tls alpn \"imap\"",
                "}",
            ])
    }

    @Test func absentNamesAreOmitted() throws {
        let events: [(Side, Event)] = [(.client, .tls(.init())), (.client, Self.text("a\r\n"))]
        #expect(try Self.script(events).first == "client  C -> 127.0.0.1:25 tls")
        #expect(try Self.script(events, .server).first == "server  S tls")
    }

    @Test(
        arguments: [
            ([(.server, .fin)], ["C expect eof"]), ([(.server, .truncated)], ["C expect truncated"]),
            ([(.server, .notify)], ["C expect notify"]), ([(.server, .alert(40))], ["C expect alert 40"]),
            ([(.server, .reset)], ["C expect reset"]), ([(.client, .fin)], ["C close"]),
            ([(.client, .truncated)], ["C close without notify"]), ([(.client, .alert(40))], ["C send alert fatal 40"]),
            // The server sends its FIN only after the client has closed its side.
            (
                [(.server, .notify), (.client, .truncated), (.server, .fin)],
                ["C expect notify", "C close without notify"]
            ),
            (
                [(.server, .notify), (.client, .fin), (.server, .fin)],
                ["C expect notify", "C close"]
            ),
            ([(.client, .notify), (.server, .fin), (.client, .fin)], ["C close"]),
            ([(.client, .reset), (.server, .fin)], ["C reset"]),
            // The server sends more data after the client has closed its side.
            (
                [(.client, .fin), (.server, .bytes([98, 13, 10])), (.server, .truncated)],
                ["C half-close", "C expect line \"b\"", "C expect closed"]
            ),
        ] as [([(Side, Event)], [String])])
    func endsAreDistinguished(ends: [(Side, Event)], steps: [String]) throws {
        let script = try Self.script([(.client, .tls(.init())), (.client, Self.text("a\r\n"))] + ends)
        #expect(Array(script.dropFirst(3)) == steps)
        // Each conversation must also result in a valid scenario in which the harness plays both sides.
        _ = try Self.script([(.client, .tls(.init())), (.client, Self.text("a\r\n"))] + ends, .both)
    }

    @Test func clientCertificateIsMentioned() throws {
        let handshake = RecordedConversation.Handshake(hasClientCertificate: true)
        let conversation = Self.conversation([(.client, .tls(handshake)), (.client, Self.text("a\r\n"))])
        #expect(try RecordedScript([conversation], RecordedScript.Options()).notes.count == 1)
    }

    @Test func payloadFilesDoNotReuseTakenNames() throws {
        let conversation = Self.conversation([(.client, .bytes([UInt8](repeating: 1, count: 2000)))])
        var options = RecordedScript.Options()
        options.framing = Framing.none
        options.takenNames = ["recorded.1.bin", "recorded.2.bin"]
        #expect(try RecordedScript([conversation], options).files.map(\.name) == ["recorded.3.bin"])
    }
}
