import ProbeBase
import Testing

@testable import ProbeDiagnose

/// Tests which messages are recognized as incomplete. A wrong answer makes a healthy connection look broken.
@Suite struct MessageProgressTests {
    /// Returns the progress after the texts, each of which arrives in two pieces.
    private func progress(_ text: String, from side: ConversationSide) -> MessageProgress {
        progress(bytes: Array(text.utf8), from: side)
    }

    private func progress(bytes: [UInt8], from side: ConversationSide) -> MessageProgress {
        var progress = MessageProgress()
        let middle = bytes.count / 2
        progress.read(bytes.span.extracting(0..<middle), from: side, packet: 1)
        progress.read(bytes.span.extracting(middle..<bytes.count), from: side, packet: 2)
        return progress
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\n", "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n123456789",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        "GET /a HTTP/1.1\r\n\r\nGET /b HTT",
    ])
    func incompleteRequestIsRecognized(_ text: String) {
        #expect(progress(text, from: .client).isIncomplete)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        // The body is not sent if the server rejects the request.
        "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        // These are not HTTP messages, or no longer.
        "CONNECT a:443 HTTP/1.1\r\n\r\n\u{16}", "GET key\r\n", "EHLO example.com\r\n", "PING",
    ])
    func completeOrUnknownMessageIsNotIncomplete(_ text: String) {
        #expect(!progress(text, from: .client).isIncomplete)
    }

    /// A response to HEAD announces a body that is not sent.
    @Test func bodyOfHeadIsSkipped() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        var response = progress(text, from: .server)
        #expect(response.isIncomplete)
        response.skipBody()
        #expect(!response.isIncomplete)
        #expect(progress("HEAD / HTTP/1.1\r\n\r\n", from: .client).http.isHead)
    }

    @Test func recordsAreFollowed() {
        let hello: [UInt8] = [22, 3, 1, 0, 5, 1, 0, 0, 1, 0]
        #expect(progress(bytes: hello, from: .client).tls.hasHello)
        #expect(!progress(bytes: hello, from: .client).isIncomplete)
        #expect(progress(bytes: hello.dropLast(), from: .client).isIncomplete)
        let alert = progress(bytes: hello + [21, 3, 3, 0, 2, 2, 40], from: .server).tls.alert
        #expect(alert?.content?.isFatal == true && alert?.content?.description == 40)
        // What follows ChangeCipherSpec is encrypted.
        let encrypted = progress(bytes: hello + [20, 3, 3, 0, 1, 1, 21, 3, 3, 0, 2, 9, 9], from: .server).tls.alert
        #expect(encrypted != nil && encrypted?.content == nil)
        // A Modbus response whose transaction number looks like the type and the version of a record.
        #expect(progress(bytes: [0x16, 3, 1, 0, 0, 3, 0, 0x80, 1], from: .server).kind == .unknown)
    }
}
