import ProbeBase
import Testing

/// Tests encodings of bytes as text, and their decoding.
@Suite struct EncodedTextTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64MatchesTheRFC(text: String, encoded: String) {
        let bytes = Array(text.utf8)
        let result = Base64.encode(bytes)
        #expect(result == encoded)
    }

    @Test func base64RoundTrips() {
        for length in 0..<40 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length * 11) }
            let text = Array(Base64.encode(bytes).utf8)
            guard case .bytes(let back) = Base64.decode(text) else {
                Issue.record("not base64")
                return
            }
            #expect(back == bytes)
        }
    }

    @Test(
        arguments: [
            (Array("anna: Jörg\r\n".utf8), #""anna: Jörg\r\n""#), ([0x4a, 0xc3], #""J\xc3""#),
            ([0xb6, 0x72], #""\xb6r""#),
            (Array("a\u{202e}b\u{fffd}".utf8), "\"a\\xe2\\x80\\xaeb\u{fffd}\""),
            ([0xed, 0xa0, 0x80], #""\xed\xa0\x80""#),
            (Array("\"\\\u{1b}".utf8), #""\"\\\x1b""#), ([0xf0, 0x9f, 0x98], #""\xf0\x9f\x98""#),
            (Array("😀".utf8), "\"😀\""),
            ([], "\"\""), ([0xff], #""\xff""#),
        ] as [([UInt8], String)])
    func validCharactersAreNotEscaped(bytes: [UInt8], text: String) {
        #expect(Escaped.readable(bytes) == text)
    }

    /// A payload is shown in the same way in packet lines and in statements.
    @Test(
        arguments: [
            (Array("anna: Jörg\r\n".utf8), 64, #""anna: Jörg\r\n""#), ([0xC3], 64, #""\xc3""#),
            ([0xB6, 0x72], 64, #""\xb6r""#),
            (Array("Jörg".utf8), 2, "\"J\\xc3\"… (5 bytes)"), (Array("Jörg".utf8), 3, "\"Jö\"… (5 bytes)"),
            (Array("a\u{202e}\u{200b}\u{1b}".utf8), 64, #""a\xe2\x80\xae\xe2\x80\x8b\x1b""#),
            (Array("😀\"\\".utf8), 64, #""😀\"\\""#), ([], 64, "\"\""), (Array("ab".utf8), 0, "\"\"… (2 bytes)"),
        ] as [([UInt8], Int, String)])
    func excerptDoesNotEscapeValidCharacters(bytes: [UInt8], limit: Int, text: String) {
        #expect(Escaped.excerpt(bytes, limit: limit) == text)
        #expect(Escaped.excerpt(bytes.span, limit: limit) == text)
    }

    /// In a ladder, the limit on an excerpt is a number of columns, not of bytes.
    @Test(
        arguments: [
            ("Jörg", 6, "\"Jörg\""), ("Jörg", 5, "\"Jör…"), ("日本", 6, "\"日本\""), ("日本", 5, "\"日…"), ("日本", 3, nil),
            ("a", 2, nil),
            ("", 2, "\"\""), ("\u{202e}", 14, #""\xe2\x80\xae""#), ("\u{202e}", 13, nil),
        ] as [(String, Int, String?)])
    func literalFitsTheWidth(content: String, width: Int, text: String?) {
        #expect(Escaped.literal(Array(content.utf8).span, width: width) == text)
    }
}
