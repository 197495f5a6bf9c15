@testable import ProbeBase
import Testing

/// Tests WebSocket frames and handshakes (RFC 6455).
struct WebSocketTests {
    private static func scan(_ bytes: [UInt8], limit: Int = 1 << 20) -> WebSocketFrame.Scan {
        WebSocketFrame.scan(bytes.span, limit: limit)
    }

    /// Tests the examples in RFC 6455, section 5.7.
    @Test(
        arguments: [
            ([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], WebSocketFrame(1, Array("Hello".utf8)), nil),
            (
                [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
                WebSocketFrame(1, Array("Hello".utf8)),
                [0x37, 0xFA, 0x21, 0x3D]
            ),
            ([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], WebSocketFrame(9, Array("Hello".utf8)), nil),
        ] as [([UInt8], WebSocketFrame, [UInt8]?)])
    func framesMatchTheRFC(_ bytes: [UInt8], _ frame: WebSocketFrame, _ key: [UInt8]?) {
        var frame = frame
        frame.key = key
        #expect(frame.encoded() == bytes)
        #expect(Self.scan(bytes + [1]) == .frame(frame, length: bytes.count))
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_001])
    func lengthFormsChangeAtTheirLimits(_ count: Int) {
        var frame = WebSocketFrame(2, [UInt8](repeating: 7, count: count))
        for key in [nil, [1, 2, 3, 4]] as [[UInt8]?] {
            frame.key = key
            let bytes = frame.encoded() ?? []
            let header = 2 + (count > 65_535 ? 8 : count > 125 ? 2 : 0) + (key == nil ? 0 : 4)
            #expect(bytes.count == header + count)
            #expect(Self.scan(bytes) == .frame(frame, length: bytes.count))
            if case .incomplete = Self.scan(bytes.dropLast()) {
            } else {
                Issue.record("the truncated frame is not incomplete")
            }
        }
    }

    @Test func overlongLengthFormIsPreserved() {
        var frame = WebSocketFrame(1, [65])
        frame.lengthForm = .eightBytes
        let bytes = frame.encoded() ?? []
        #expect(bytes == [0x81, 127, 0, 0, 0, 0, 0, 0, 0, 1, 65])
        #expect(Self.scan(bytes) == .frame(frame, length: 11))
        #expect(frame.violation(peerIsClient: false) != nil)
        frame.lengthForm = .inHeader
        frame.statedLength = 126
        #expect(frame.encoded() == nil)
    }

    @Test func lengthAboveTheLimitFailsAtOnce() {
        #expect(Self.scan([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]) == .tooLong(1 << 63))
        #expect(Self.scan([0x82, 127] + [UInt8](repeating: 255, count: 8)) == .tooLong(.max))
    }

    /// Arbitrary bytes must not cause a trap, and a frame that was read must be encoded to the same bytes.
    @Test(arguments: 0..<200)
    func arbitraryBytesNeverTrap(_ seed: Int) {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in UInt8.random(in: 0...255) }
        guard case .frame(let frame, let length) = Self.scan(bytes, limit: 64) else { return }
        #expect(frame.encoded() == Array(bytes.prefix(length)), "\(bytes)")
        _ = frame.violation(peerIsClient: seed % 2 == 0)
    }

    @Test(
        arguments: [
            (WebSocketFrame.close(1000), nil), (.close(nil), nil), (.close(1000, Array("é".utf8)), nil),
            (.close(4999), nil), (.close(1004), "the code 1004"), (.close(1005), "the code 1005"),
            (.close(1006), "the code 1006"), (.close(1015), "the code 1015"), (.close(999), "the code 999"),
            (.close(1016), "the code 1016"), (.close(5000), "the code 5000"), (.close(1000, [0xC3]), "not valid UTF-8"),
            (WebSocketFrame(8, [3]), "one byte"), (WebSocketFrame(9, [UInt8](repeating: 0, count: 126)), "at most 125"),
            (WebSocketFrame(11, []), "a reserved opcode"), (WebSocketFrame(0, []), nil),
        ] as [(WebSocketFrame, String?)])
    func violationsAreFound(_ frame: WebSocketFrame, _ what: String?) {
        let violation = frame.violation(peerIsClient: false)
        if let what {
            #expect(violation?.contains(what) == true, "\(violation ?? "nothing")")
        } else {
            #expect(violation == nil)
        }
        #expect(frame.violation(peerIsClient: true)?.contains("was not masked") == true)
    }

    // MARK: The opening handshake

    /// Tests the example in RFC 6455, section 1.3.
    @Test func acceptValueMatchesTheRFC() {
        #expect(
            WebSocketHandshake.accept(Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    /// Tests the examples in FIPS 180-4, and messages whose lengths are close to the size of a block.
    @Test func sha1MatchesTheStandard() {
        func hex(_ text: String) -> String {
            SHA1.digest(Array(text.utf8)).map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
        }
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    }

    @Test func handshakeRoundTrips() throws {
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        let request = WebSocketHandshake.request(Array("/a?b".utf8), host: "x:1", key: key)
        let read = try WebSocketHandshake.readRequest(request)
        #expect(read.path == Array("/a?b".utf8) && read.key == Array(key.utf8))
        try WebSocketHandshake.readAnswer(WebSocketHandshake.answer(to: read.key), to: key)
    }

    @Test(arguments: [
        ("GET", "POST", "its method is not GET"), ("HTTP/1.1", "HTTP/1.0", "its version is not HTTP/1.1"),
        ("Host: x\r\n", "", "it has no Host"), ("websocket", "h2c", "it has no `Upgrade: websocket`"),
        ("Connection: Upgrade", "Connection: close", "it has no `Connection: upgrade`"),
        ("13", "8", "its Sec-WebSocket-Version is \"8\", not 13"),
        ("Sec-WebSocket-Key", "X-Key", "it has no Sec-WebSocket-Key"),
        ("nonce", "n", "is not 16 bytes in base64"), ("Host:", "Host :", "is not a header field"),
        ("Host: x", "Host: x\r\nHost: y", "it has 2 Host fields"), ("GET / ", "GET  ", "which is not a request line"),
    ])
    func invalidRequestsAreExplained(_ old: String, _ new: String, _ what: String) {
        let request =
            "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: nonce\r\nSec-WebSocket-Version: 13\r\n\r\n"
        let key = Base64.encode(Array("0123456789abcdef".utf8))
        let wrong =
            new == "n"
            ? request.replacing("nonce", with: "n") : request.replacing(old, with: new).replacing("nonce", with: key)
        let error = #expect(throws: WebSocketHandshake.Problem.self) {
            try WebSocketHandshake.readRequest(Array(wrong.utf8))
        }
        #expect(error?.text.contains(what) == true, "\(error?.text ?? "")")
    }

    @Test(arguments: [
        ("101 Switching Protocols", "200 OK", "its status is \"200 OK\", not 101"),
        ("HTTP/1.1", "HTTP/1.0", "which is not a status line of HTTP/1.1"),
        ("Upgrade: websocket", "X: y", "it has no `Upgrade: websocket`"),
        ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", "but the client did not offer any"),
        ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n", "but the client did not offer any"),
        ("s3pPL", "S3pPL", "its Sec-WebSocket-Accept is"),
    ])
    func invalidAnswersAreExplained(_ old: String, _ new: String, _ what: String) {
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        let answer = String(decoding: WebSocketHandshake.answer(to: Array(key.utf8)), as: UTF8.self)
        let error = #expect(throws: WebSocketHandshake.Problem.self) {
            try WebSocketHandshake.readAnswer(Array(answer.replacing(old, with: new).utf8), to: key)
        }
        #expect(error?.text.contains(what) == true, "\(error?.text ?? "")")
    }
}
