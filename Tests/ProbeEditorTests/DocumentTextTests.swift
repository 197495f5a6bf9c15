import ProbeBase
import Testing

@testable import ProbeEditor

struct DocumentTextTests {
    @Test func allLineEndingsAreRecognized() {
        let text = DocumentText(Array("a\nb\r\nc\rd".utf8))
        #expect(text.lineCount == 4)
        #expect((0..<4).map { text.range(ofLine: $0) } == [0..<1, 2..<3, 5..<6, 7..<8])
        #expect(text.range(ofLine: 4) == 8..<8)
        #expect(text.offset(of: TextPosition(line: 1, character: 9), .utf16) == 3)
        #expect(text.offset(of: TextPosition(line: 9, character: 0), .utf16) == 8)
    }

    @Test func columnsFollowTheEncoding() {
        let text = DocumentText(Array("aé😀z".utf8))
        for (offset, utf16, utf8) in [(0, 0, 0), (1, 1, 1), (3, 2, 3), (7, 4, 7), (8, 5, 8)] {
            #expect(text.position(of: offset, .utf16).character == utf16)
            #expect(text.position(of: offset, .utf8).character == utf8)
            #expect(text.offset(of: TextPosition(line: 0, character: utf16), .utf16) == offset)
            #expect(text.offset(of: TextPosition(line: 0, character: utf8), .utf8) == offset)
        }
        // Positions inside a character are moved to its start.
        #expect(text.offset(of: TextPosition(line: 0, character: 3), .utf16) == 3)
        #expect(text.offset(of: TextPosition(line: 0, character: 5), .utf8) == 3)
        #expect(text.position(of: 5, .utf16).character == 2)
    }

    /// In UTF-16, a change may begin or end between the halves of a surrogate pair. The text must always have the same
    /// number of UTF-16 code units as the client's text.
    @Test(arguments: [
        (0, 1, "", "\u{fffd}z"), (1, 2, "", "\u{fffd}z"), (1, 1, "x", "\u{fffd}x\u{fffd}z"), (1, 1, "", "😀z"),
        (1, 3, "", "\u{fffd}"),
        (2, 1, "y", "\u{fffd}yz"), (0, 2, "", "z"),
    ])
    func surrogatePairsCanBeSplit(from start: Int, to end: Int, new: String, result: String) {
        var text = DocumentText(Array("😀z".utf8))
        text.replace(
            TextPosition(line: 0, character: start), TextPosition(line: 0, character: end), with: Array(new.utf8),
            .utf16)
        #expect(String(decoding: text.bytes, as: UTF8.self) == result)
    }

    /// After arbitrary changes, the lines are the same as those of a document created with the resulting text.
    @Test(arguments: 0..<20)
    func linesMatchAfterChanges(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        var text = DocumentText(Array("one\r\ntwo\rthree\n\n\r\r\nfour".utf8))
        for _ in 0..<200 {
            let piece = ["", "\n", "\r", "\r\n", "a", "\n\r", "x\ny"][below(7)]
            let first = below(text.bytes.count + 1)
            text.replace(first, min(text.bytes.count, first + below(4)), with: Array(piece.utf8))
            let whole = DocumentText(text.bytes)
            #expect(text.lineCount == whole.lineCount)
            for line in 0...whole.lineCount { #expect(text.start(ofLine: line) == whole.start(ofLine: line)) }
        }
    }

    @Test(arguments: [
        ("file:///a/b.scn", "/a/b.scn"), ("file:///a%20b/%C3%A9%25.scn", "/a b/é%.scn"), ("FILE:///a", "/a"),
        ("file:/a", "/a"), ("file://localhost/a", "/a"), ("file:///a+b?c#d", "/a+b?c#d"), ("file://host/a", nil),
        ("untitled:Untitled-1", nil), ("file:a", nil), ("file:///a%", nil), ("file:///a%2", nil), ("file:///a%zz", nil),
        ("file:///a%00b", nil), ("file:///%FF", nil), ("", nil), ("file:", nil), ("git:/a/b.scn", nil),
    ])
    func fileURIsHavePaths(_ uri: String, _ path: String?) {
        #expect(DocumentPath.path(of: uri) == path)
    }

    @Test(arguments: ["/a/b.scn", "/a b/é%😀.scn", "/a?b#c&d", "/"])
    func pathsRoundTrip(_ path: String) {
        #expect(DocumentPath.path(of: DocumentPath.uri(of: path)) == path)
    }
}
