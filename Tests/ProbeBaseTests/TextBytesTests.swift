import ProbeBase
import Testing

/// `TextBytes` must produce the same text as an interpolated `String`.
struct TextBytesTests {
    @Test(arguments: ["", "x", "a\u{e4}\u{1f600}b", String(repeating: "long ", count: 500)])
    func interpolationMatchesString(name: String) {
        for number in [0, 7, -7, 10, 1_234_567_890, Int.max, Int.min] {
            let text: TextBytes = "\(name): \(number) bytes, \(name)\n"
            #expect(text.string == "\(name): \(number) bytes, \(name)\n")
        }
    }

    @Test(arguments: ["192.0.2.7:65535", "0.0.0.0:0", "255.255.255.255:80", "[2001:db8::1]:0", "[::ffff:192.0.2.7]:1"])
    func endpointIsAppendedAsText(text: String) throws {
        var bytes = Array("to ".utf8)
        bytes.append(try #require(SocketEndpoint(text)))
        #expect(String(decoding: bytes, as: UTF8.self) == "to \(text)")
    }

    @Test func literalIsKept() {
        let text: TextBytes = "nothing to put in, \u{e4}"
        #expect(text.string == "nothing to put in, \u{e4}" && text.utf8 == Array(text.string.utf8))
    }

    @Test(arguments: [0, 1, 63, 64, 65, 256])
    func quotedBytesAreExcerpted(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let text: TextBytes = "there: \(quoted: bytes)"
        #expect(
            text.string == "there: " + Escaped.excerpt(bytes) && Escaped.excerpt(bytes) == Escaped.excerpt(bytes.span))
        #expect(Escaped.excerpt(bytes).hasSuffix(count > 64 ? "\"\u{2026} (\(count) bytes)" : "\""))
    }
}
