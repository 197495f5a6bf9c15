import ProbeBase
import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests the outcomes of `expect` steps that wait for WebSocket frames, however the frames are divided into segments.
struct WebSocketEvaluationTests {
    private typealias Opcode = WebSocketFrame.Opcode

    /// Returns a row about frames, all of which arrived at 3 ms.
    private static func row(
        _ wanted: ConnectionExpectation<Resolved>, _ now: Int, _ outcome: String, _ frames: [WebSocketFrame] = [],
        without last: Int = 0, fin: Int? = nil, peerIsClient: Bool = false
    ) -> ExpectationRow {
        ExpectationRow(
            kind: wanted.spelling, now: now, outcome: outcome,
            evaluate: { window in
                let bytes = frames.flatMap { $0.encoded() ?? [] }.dropLast(last)
                var outcomes: Set<String> = []
                // The bytes arrive all at once or one at a time, with an evaluation after each arrival.
                for step in [max(1, bytes.count), 1] {
                    var view = ConnectionView(name: "C")
                    (view.framing, view.peerIsClient) = (.websocket, peerIsClient)
                    var progress = InputProgress()
                    var latest = ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress)
                    for start in stride(from: 0, to: bytes.count, by: step) {
                        view.receiveBuffer.append(
                            Array(bytes[start..<min(bytes.count, start + step)]), at: .milliseconds(3))
                        if start + step >= bytes.count { view.end = fin.map { .eof(.milliseconds($0)) } }
                        latest = ConnectionEvaluation(view: view, window: window).evaluate(wanted, &progress)
                        if case .satisfied = latest { break }
                        if case .impossible(let why) = latest, !why.isMissed { break }
                    }
                    outcomes.insert(
                        ExpectationRow.text(latest) { match in
                            ", takes \(match.parts.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " "))"
                        })
                }
                return outcomes.sorted().joined(separator: " | ")
            })
    }

    private static func fragment(_ opcode: UInt8, _ text: String, isFinal: Bool = false) -> WebSocketFrame {
        var frame = WebSocketFrame(opcode, Array(text.utf8))
        frame.isFinal = isFinal
        return frame
    }

    private static func masked(_ frame: WebSocketFrame) -> WebSocketFrame {
        var frame = frame
        frame.key = [1, 2, 3, 4]
        return frame
    }

    private static let text = WebSocketFrame(Opcode.text, Array("ab".utf8))
    private static let ping = WebSocketFrame(Opcode.ping, [7])
    private static let anyMessage = ConnectionExpectation<Resolved>.message(.any, as: nil)
    private static let anyText = ConnectionExpectation<Resolved>.messageOfKind(.text, .any, as: nil)
    private static let anyBinary = ConnectionExpectation<Resolved>.messageOfKind(.binary, .any, as: nil)
    private static let binary = WebSocketFrame(Opcode.binary, Array("ab".utf8))
    private static let anyPing = ConnectionExpectation<Resolved>.ping(nil)
    private static let anyPong = ConnectionExpectation<Resolved>.pong(nil)
    private static let normalClose = ConnectionExpectation<Resolved>.closeFrame(code: 1000, reason: nil)

    static let rows: [ExpectationRow] = [
        row(anyMessage, 10, "pending until 100ms"),
        row(anyMessage, 10, "pending until 100ms", [text], without: 1),
        row(anyMessage, 100, "missed, failed: C received no message within 100ms", [text], without: 1),
        row(anyMessage, 10, "satisfied at 3ms, takes 0-4", [text]),
        row(anyMessage, 10, "satisfied at 3ms, takes 3-7", [ping, text]),
        row(
            anyMessage, 10, "satisfied at 3ms, takes 0-3 6-9",
            [fragment(Opcode.text, "a"), ping, fragment(0, "b", isFinal: true)]),
        row(anyMessage, 10, "satisfied at 3ms, takes 0-8", [masked(text)], peerIsClient: true),
        row(
            anyMessage, 10,
            "failed: C received a text frame that was not masked: a client must mask every frame (RFC 6455, section 5.1)",
            [text],
            peerIsClient: true),
        row(
            anyMessage, 10, "failed: C received a close (code 1000), expected a message",
            [.close(1000), text]),
        row(anyMessage, 10, "satisfied at 3ms, takes 0-4", [binary]),
        row(anyText, 10, "pending until 100ms", [text], without: 1),
        row(anyText, 10, "satisfied at 3ms, takes 0-4", [text]),
        row(anyText, 10, "failed: C received a binary message, expected a text message", [binary]),
        row(anyBinary, 10, "pending until 100ms", [binary], without: 1),
        row(anyBinary, 10, "satisfied at 3ms, takes 0-4", [binary]),
        row(anyBinary, 10, "failed: C received a text message, expected a binary message", [text]),
        row(
            anyText, 10, "failed: C received a binary message, expected a text message",
            [fragment(Opcode.binary, "a"), fragment(0, "b", isFinal: true)]),
        row(anyPing, 10, "pending until 100ms", [fragment(Opcode.text, "a")]),
        row(anyPing, 10, "satisfied at 3ms, takes 3-6", [fragment(Opcode.text, "a"), ping]),
        row(anyPing, 10, "failed: C received a text frame, expected a ping", [text, ping]),
        row(anyPong, 10, "pending until 100ms"),
        row(anyPong, 10, "satisfied at 3ms, takes 0-3", [WebSocketFrame(Opcode.pong, [7])]),
        row(anyPong, 10, "failed: C received a ping, expected a pong", [ping]),
        row(normalClose, 10, "pending until 100ms"),
        row(normalClose, 10, "satisfied at 3ms, takes 0-4", [.close(1000)]),
        row(normalClose, 10, "failed: C received a close frame with code 1001, expected code 1000", [.close(1001)]),
        row(.frame(ExpectedFrame(text, .asMust)), 10, "satisfied at 3ms, takes 0-4", [text]),
        row(.frame(ExpectedFrame(text, .unmasked)), 10, "satisfied at 3ms, takes 0-4", [text], peerIsClient: true),
        row(
            .frame(ExpectedFrame(text, .masked)), 10,
            "failed: C received a text frame that differs from the expected frame",
            [text]),
        row(.frame(ExpectedFrame(text, .key([1, 2, 3, 4]))), 10, "satisfied at 3ms, takes 0-8", [masked(text)]),
    ]

    @Test(arguments: rows)
    func expectationHasTheExpectedOutcome(_ row: ExpectationRow) { row.verify() }
}
