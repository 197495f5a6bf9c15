import ProbeEvents
import Testing

/// Tests WebSocket connections between two endpoints of the harness.
struct WebSocketTests {
    /// Returns a scene that begins after the opening handshake.
    private static func scene(_ name: String, _ verdict: Verdict, says: [String] = [], _ steps: String) -> Scene {
        Scene(
            name, verdict, says: says,
            "server S\nclient C -> S\nC connect websocket \"/chat\"\nS accept websocket\n\(steps)")
    }

    @Test(arguments: [
        scene(
            "a message in each direction", .passed,
            "C send line \"hello\"\nS expect message \"hello\"\nS send message \"you\"\nC expect line \"you\""),
        scene(
            "a message with a regex", .passed,
            "C send message \"n=12\"\nS expect message /n=(?<n>[0-9]+)/\ncheck n == \"12\""),
        scene(
            "unexpected message", .failed, says: ["S received \"a\", expected message \"b\""],
            "C send message \"a\"\nS expect message \"b\" #!"),
        scene("the empty message", .passed, "S send message \"\"\nC expect message \"\""),
        scene("a long message", .passed, "C send message \"x\" * 65536\nS expect message \"x\" * 65536"),
        scene(
            "a message in fragments, and a ping between them", .passed,
            """
            S send ws.text("he", fin: no) + ws.ping("7") + ws.frame(0, "llo")
            C expect ping "7"
            C expect message "hello"
            """),
        scene(
            "the message first, then the ping between its fragments", .passed,
            """
            S send ws.text("he", fin: no) + ws.ping("7") + ws.frame(0, "llo")
            C expect message "hello"
            C expect ping "7"
            """),
        scene(
            "a ping after a message does not precede it", .failed,
            says: ["received a text frame, expected a ping"],
            "S send ws.text(\"a\") + ws.ping(\"7\")\nC expect ping \"7\" #!"),
        scene(
            "a control frame that no step consumed", .failed, says: ["bytes that no step consumed"],
            "S send ws.ping(\"7\") + ws.text(\"a\")\nC expect message \"a\""),
        scene(
            "a close with its code and reason", .passed,
            "S send ws.close(1001, \"bye\")\nC expect close 1001 \"bye\"\nC send ws.close(1001, mask: yes)\nS expect close 1001"
        ),
        scene(
            "unexpected code", .failed, says: ["received a close frame with code 1000, expected code 1001"],
            "S send ws.close(1000)\nC expect close 1001 #!"),
        scene(
            "no code", .failed, says: ["received a close frame with no code"],
            "S send ws.close()\nC expect close 1001 #!"),
        scene("a close without a code", .passed, "S send ws.close()\nC expect close"),
        scene(
            "a message after a close", .failed, says: ["no message can follow it"],
            "S send ws.close(1000) + ws.text(\"a\")\nC expect message \"a\" #!"),
        scene(
            "an unmasked frame from a client", .failed, says: ["was not masked"],
            "C send ws.text(\"a\")\nS expect message \"a\" #!"),
        scene(
            "a masked frame from a server", .failed, says: ["was masked"],
            "S send ws.text(\"a\", mask: yes)\nC expect message \"a\" #!"),
        scene(
            "an explicit frame is masked as required", .passed,
            "C send ws.binary(hex(00 ff), mask: yes)\nS expect message ws.binary(hex(00 ff))"),
        scene(
            "a frame from a variable", .error, says: ["would be compared with the content of a message"],
            "let m = ws.text(\"a\")\nS send m\nC expect message m #!"),
        scene(
            "two frames from a variable", .error, says: ["would be compared with the content of a message"],
            "let m = ws.text(\"a\") + ws.text(\"b\")\nS send m\nC expect message m #!"),
        scene(
            "a text with the bytes of a frame with reserved bits", .passed,
            "let m = \"é\" + \"x\" * 45\nS send message m\nC expect message m"),
        scene(
            "a frame with its key", .passed,
            "C send ws.text(\"a\", mask: hex(01 02 03 04))\nS expect message ws.text(\"a\", mask: hex(01 02 03 04))"),
        scene(
            "a frame with a different key", .failed, says: ["received a text frame", "expected a text frame"],
            "C send ws.text(\"a\", mask: hex(01 02 03 04))\nS expect message ws.text(\"a\", mask: hex(01 02 03 05)) #!"),
        scene(
            "an explicit invalid frame", .passed,
            "S send ws.frame(3, \"a\", rsv: 4, fin: no)\nC expect message ws.frame(3, \"a\", rsv: 4, fin: no)"),
        scene(
            "reserved bits", .failed, says: ["has reserved bits"],
            "S send ws.text(\"a\", rsv: 4)\nC expect message \"a\" #!"),
        scene(
            "a reserved opcode", .failed, says: ["has a reserved opcode"],
            "S send ws.frame(3, \"a\")\nC expect message \"a\" #!"),
        scene(
            "a needlessly long length", .failed, says: ["fewer would suffice"],
            "S send ws.text(\"a\", length-form: 8)\nC expect message \"a\" #!"),
        scene(
            "a ping of 126 bytes", .failed, says: ["can have at most 125"],
            "S send ws.ping(\"x\" * 126)\nC expect ping #!"),
        scene(
            "a close with one byte", .failed, says: ["has a payload of one byte"],
            "S send ws.frame(8, \"x\")\nC expect close #!"
        ),
        scene(
            "a code that must not be sent", .failed, says: ["which must not be sent"],
            "S send ws.close(1005)\nC expect close 1005 #!"),
        scene(
            "text that is not UTF-8", .failed, says: ["not UTF-8"],
            "S send ws.text(hex(c3 28))\nC expect message hex(c3 28) #!"),
        scene(
            "a character split across fragments", .passed,
            "S send ws.text(hex(c3), fin: no) + ws.frame(0, hex(a9))\nC expect message \"é\""),
        scene(
            "a continuation without a message", .failed, says: ["a continuation without a message to continue"],
            "S send ws.frame(0, \"a\")\nC expect message \"a\" #!"),
        scene(
            "a message inside a message", .failed, says: ["before the end of the previous one"],
            "S send ws.text(\"a\", fin: no) + ws.text(\"b\")\nC expect message \"b\" #!"),
        scene(
            "a length over the limit", .error, says: ["more than the harness keeps"],
            "S send ws.text(\"a\", length: 9000000000000000000)\nC expect message \"a\" #!"),
        scene(
            "no frames without lines", .error, says: ["has messages instead of lines"],
            "S send ws.text(\"a\")\nC expect until line \"a\" #!"),
        scene(
            "a FIN in a frame", .failed, says: ["was closed by the peer (FIN)"],
            "S send ws.text(\"abc\", length: 5)\nS close\nC expect message \"abc\" #!"),
    ])
    func framesAreJudged(scene: Scene) async throws { try await scene.verify(subject: nil) }

    @Test(arguments: [
        Scene(
            "the path is bound", .passed,
            "server S\nclient C -> S\nC connect websocket \"/a?b=c\"\nS accept as A websocket path as p\ncheck p == \"/a?b=c\"\nA send message \"x\"\nC expect message \"x\""
        ),
        Scene(
            "over TLS", .passed,
            "server S tls\nclient C -> S tls ca run\nC connect websocket \"/\"\nS accept websocket\nS send message \"x\"\nC expect message \"x\"\nC close\nS expect eof"
        ),
        Scene(
            "by hand", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            C send "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            S expect until line ""
            S send "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ${k}\r\n\r\n"
            C expect until line ""
            S framing websocket
            C framing websocket
            S send message "x"
            C expect message "x"
            """#.replacing("S accept\n", with: "S accept\nlet k = ws.accept(\"dGhlIHNhbXBsZSBub25jZQ==\")\n")),
        Scene(
            "the server sends a wrong Accept", .failed, says: ["its Sec-WebSocket-Accept is"],
            #"""
            server S
            client C -> S
            C connect websocket "/chat"
            S accept
            S expect until line ""
            S send "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
            C expect message "x"
            """#),
        Scene(
            "the server refuses", .failed, says: ["its status is \"404 Not Found\", not 101"],
            #"""
            server S
            client C -> S
            C connect websocket "/chat"
            S accept
            S expect until line ""
            S send "HTTP/1.1 404 Not Found\r\n\r\n"
            """#),
        Scene(
            "the server never answers", .failed, says: ["the answer was not complete within"],
            #"""
            timeout 300ms
            server S
            client C -> S
            C connect websocket "/chat"
            S accept
            S expect until line ""
            """#),
        Scene(
            "an answer followed by a frame, in pieces", .passed,
            #"""
            server S
            client C -> S
            C connect websocket "/chat"
            S accept
            S expect until line /^Sec-WebSocket-Key: (?<k>.*)/
            S expect until line ""
            S send "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + ws.accept(k) + "\r\n\r\n" + ws.text("x") in pieces of 7B
            C expect message "x"
            """#),
        Scene(
            "an invalid request", .failed, says: ["does not open a WebSocket: it has no Host"],
            #"""
            server S
            client C -> S
            C connect
            C send "GET / HTTP/1.1\r\n\r\n"
            S accept websocket #!
            """#),
        Scene(
            "no path", .error, says: ["is not a request path"],
            "server S\nclient C -> S\nC connect websocket \"chat\" #!\nS accept websocket"),
    ])
    func handshakesAreJudged(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
