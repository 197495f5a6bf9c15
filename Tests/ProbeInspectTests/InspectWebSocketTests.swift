import ProbeBase
import ProbeWire
import Testing

@testable import ProbeInspect

/// Tests of WebSocket frames in the output of `inspect`.
struct InspectWebSocketTests {
    private static let head = Array("GET /chat HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

    private static func frame(_ opcode: UInt8, _ text: String, _ change: (inout WebSocketFrame) -> Void = { _ in })
        -> [UInt8]
    {
        var frame = WebSocketFrame(opcode, Array(text.utf8))
        change(&frame)
        return frame.encoded() ?? []
    }

    private static func text(_ pieces: [[UInt8]], width: Int = 120) throws -> String {
        var builder = CaptureBuilder()
        var current = CaptureBuilder.Connection(client: 40_000, server: 80)
        builder.open(current)
        for piece in pieces { builder.send(&current, .client, bytes: piece) }
        let collected = Collected()
        let text = MessageText(framing: .websocket, width: width, output: collected.output)
        _ = try inspect(
            builder.bytes, limits: .deliveringParts,
            observer: MessageObserver(framing: .websocket) { text.write($0, $1, $2) })
        return collected.text
    }

    @Test func framesAreShownUnmasked() throws {
        let key: [UInt8] = [1, 2, 3, 4]
        let masked = Self.frame(1, "hello") { $0.key = key }
        let long = Self.frame(2, "x") { $0.lengthForm = .eightBytes }
        let close = WebSocketFrame.close(1001, Array("bye".utf8)).encoded() ?? []
        let shown = try Self.text([
            Self.head + masked[..<8], Array(masked[8...]),
            Self.frame(1, "a") { $0.isFinal = false } + Self.frame(0, "b") + Self.frame(3, "") { $0.reserved = 5 }
                + long + close,
            [0x81, 9, 97],
        ])
        #expect(
            shown == """
                flow 0  127.0.0.1:40000 -> 127.0.0.1:80
                from      frame    offset   bytes  segments  kind
                client        1         0      31         1  opening                 "GET /chat HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
                client        2        31      11         2  1 text FIN mask         "he" | "llo"
                client        3        42       3         1  1 text                  "a"
                client        4        45       3         1  0 continuation FIN      "b"
                client        5        48       2         1  3 FIN RSV 5             ""
                client        6        50      11         1  2 binary FIN length in 8 bytes  "x"
                client        7        61       7         1  8 close 1001 FIN        "bye"
                client        8        68       3         1  unfinished              "\\x81\\ta"

                """)
    }

    @Test func invalidFrameIsReported() throws {
        let shown = try Self.text([Self.head, Self.frame(9, ""), [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1]])
        #expect(shown.contains("client        2        31       2         1  9 ping FIN"))
        #expect(shown.contains("not a sequence of websocket messages from offset 33 on"))
    }

    @Test func onlyBinaryFramesCarryProtobuf() {
        var frame = WebSocketFrame(2, [8, 1])
        var message = MessageScan.Message(
            number: 1, offset: 0, bytes: [0x82, 2, 8, 1], cuts: [], terminatorLength: 0, bareCount: 0,
            isFinished: true)
        message.frame = frame
        #expect(MessageScan.body(of: message, .websocket) == [8, 1])
        frame.opcode = 1
        message.frame = frame
        #expect(MessageScan.body(of: message, .websocket) == nil)
        message.frame = nil
        #expect(MessageScan.body(of: message, .websocket) == nil)
    }
}
