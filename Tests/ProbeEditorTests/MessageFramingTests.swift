import ProbeBase
import Testing

@testable import ProbeEditor

struct MessageFramingTests {
    private func messages(_ text: String, piece: Int) throws(MessageFraming.Failure) -> [String] {
        var framing = MessageFraming()
        var found: [String] = []
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + piece)
            framing.append(bytes.span.extracting(start..<end))
            while let message = try framing.next() { found.append(String(decoding: message, as: UTF8.self)) }
            start = end
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func messagesAreFoundWhateverTheCuts(_ piece: Int) throws {
        let text =
            "Content-Length: 2\r\n\r\n{}content-LENGTH:0\r\nContent-Type: a; charset=utf-8\r\n\r\n"
            + "Content-Type: a; charset=\"utf8\"\r\nContent-Length: 4 \r\n\r\n\"é\""
        #expect(try messages(text, piece: piece) == ["{}", "", "\"é\""])
    }

    @Test(arguments: [
        "\n", "\r\n", "hello\r\n\r\n", "Content-Length: 1\n\n1", "Content-Length: -1\r\n\r\n",
        "Content-Length: 1x\r\n\r\n",
        "Content-Length: 9999999999999999999999\r\n\r\n", "Content-Length: 999999999999\r\n\r\n", "A: b\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "Content-Type: a; charset=latin1\r\nContent-Length: 1\r\n\r\n1",
        "\u{1B}[2J\r\n\r\n", "é: 1\r\n\r\n", String(repeating: "a", count: 9000),
    ])
    func invalidHeadersFail(_ text: String) {
        for piece in [1, 5, 10_000] {
            #expect(throws: MessageFraming.Failure.self) { try messages(text, piece: piece) }
        }
    }

    @Test func partialMessageIsDetected() throws {
        var framing = MessageFraming()
        #expect(!framing.isInside)
        for (text, isInside) in [("Content-Le", true), ("ngth: 3\r\n\r\n", true), ("12", true), ("3", false)] {
            framing.append(Array(text.utf8).span)
            _ = try framing.next()
            #expect(framing.isInside == isInside, "\(text)")
        }
    }

    @Test func arbitraryBytesNeverTrap() {
        var random = SplitMix64(seed: 18)
        for _ in 0..<300 {
            var bytes = Array("Content-Length: 5\r\n\r\n12345".utf8)
            for _ in 0..<3 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            var framing = MessageFraming()
            framing.append(bytes.span)
            _ = try? framing.next()
        }
    }
}
