import ProbeBase
import ProbeEvents
import ProbeTransport
import Testing

/// A subject with `framing websocket`, whose reports the test specifies.
struct SubjectWebSocketTests {
    typealias Event = SubjectReport.Event

    private static let head = "framing websocket\nsubject T -> 127.0.0.1:1"

    @Test func operationsReachTheSubject() async throws {
        let source = SecuringSource()
        try await Scene(
            "operations", .passed,
            """
            \(Self.head) with path "/chat?x=1"
            let n = 7
            T start
            T send "a"
            T send binary "b"
            T ping
            T ping "${n}"
            T close
            T close 1000
            T close 2000 + n "bye"
            """
        ).verify(subject: source)
        #expect(
            source.operations.webSocket == [
                "connect /chat?x=1", "send text a", "send binary b", "ping ", "ping 7", "close nothing ", "close 1000 ",
                "close 2007 bye",
            ])
    }

    @Test func otherFramingsPassNoMessageKind() async throws {
        let source = SecuringSource()
        try await Scene("lines", .passed, "subject T -> 127.0.0.1:1\nT start\nT send \"a\"").verify(subject: source)
        #expect(source.operations.webSocket == ["connect /", "send nothing a"])
    }

    private static let wrong: [(header: String, events: [Event], says: String)] = [
        (head, [.ping([]), .started], "before it had reported `started`"),
        (head, [.pong([]), .started], "before it had reported `started`"),
        (head, [.stopped(.closed(code: 1000), detail: nil)], "before it had reported `started`"),
        ("subject T -> 127.0.0.1:1", [.started, .ping([])], "although its framing is not websocket"),
        (
            "subject T -> 127.0.0.1:1", [.started, .stopped(.closed(code: 1000), detail: nil)],
            "although its framing is not websocket"
        ),
        (head, [.started, .stopped(.closed(code: 1001), detail: nil)], "T reported `stopped closed 1001`"),
        (head, [.started, .message([120], kind: .text)], "T reported message text \"x\", but no step expected it"),
    ]

    @Test(arguments: wrong)
    func invalidReportsFail(header: String, events: [Event], says: String) async throws {
        let source = SecuringSource(script: .init(afterConnect: events))
        try await Scene("wrong", .failed, says: [says], header + "\nT start\nT expect started").verify(subject: source)
    }

    /// Pings and pongs don't have to be expected by a step, because many libraries answer pings without reporting them.
    @Test func pingsNeedNoStep() async throws {
        let source = SecuringSource(
            script: .init(afterConnect: [.started, .ping([55]), .message([120], kind: .text)]))
        try await Scene("pings", .passed, Self.head + "\nT start\nT expect message text \"x\"").verify(subject: source)
    }

    @Test func closeCodeOver16BitsIsAnError() async throws {
        try await Scene(
            "code", .error, says: ["a close code must be between 0 and 65535, not 65536"],
            Self.head + "\nT start\ncheck \"65536\" matches /(?<n>.*)/\nT close int(n)"
        ).verify(subject: SecuringSource())
    }
}
