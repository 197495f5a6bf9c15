import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

@Suite struct MessageScanTests {
    private static func messages(_ framing: Framing, _ pieces: [String]) -> [MessageScan.Message] {
        var scan = MessageScan(framing: framing)
        var (offset, events): (Int64, [MessageScan.Event]) = (0, [])
        for piece in pieces {
            events += scan.add(StreamPart(offset: offset, .bytes(Array(piece.utf8))))
            offset += Int64(piece.utf8.count)
        }
        events += scan.finish()
        return events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    @Test func bareCRAndLFAreCountedInTheirLine() {
        let text = "a\nb\rc\r\r\nd\r\ne\nf\r"
        // The CR at the end of the text is not counted, because it may be the first half of a CRLF.
        for pieces in [[text], text.unicodeScalars.map { String($0) }] {
            let messages = Self.messages(.crlf, pieces)
            #expect(messages.map(\.bareCount) == [3, 0, 1])
            #expect(messages.map(\.isFinished) == [true, true, false])
        }
        #expect(Self.messages(.crlf, ["220 ready\n"]).map(\.bareCount) == [1])
        #expect(Self.messages(.crlf, ["220\r ready"]).map(\.bareCount) == [1])
        #expect(Self.messages(.lf, ["a\rb\n", "c\r"]).map(\.bareCount) == [0, 0])
    }

    @Test(arguments: [(Framing.netstring, "2:ab,"), (.u8, "\u{2}ab"), (.lf, "ab\n"), (.crlf, "ab\r\n")])
    func contentExcludesTheFraming(_ framing: Framing, _ text: String) throws {
        let message = try #require(Self.messages(framing, [text]).first)
        #expect(message.isFinished)
        #expect(MessageScan.body(of: message, framing) == Array("ab".utf8)[...])
    }

    @Test func unfinishedNetstringHasPartialContent() {
        let bodies = Self.messages(.netstring, ["3:ab"]).map { MessageScan.body(of: $0, .netstring) }
        #expect(bodies == [Array("ab".utf8)[...]])
    }
}
