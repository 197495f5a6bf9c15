import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests of the output of `--follow --decrypt`, which is composed of a stream's unencrypted data and tshark's output.
struct DecryptionTests {
    private static let client = SocketEndpoint(address: .loopbackV4, port: 40_000)
    private static let server = SocketEndpoint(address: .loopbackV4, port: 443)
    private let conversation = Conversation(client: client, server: server)

    // MARK: The plain text before TLS

    private static let plain = Array("220 \u{16}\u{3}\u{15} ready\r\n".utf8)
    private static let hello: [UInt8] = [22, 3, 3, 0, 10, 2, 0, 0, 6, 3, 3, 9, 9, 9, 9, 23, 3, 3, 0, 2, 65, 65]

    private func shown(_ parts: [[UInt8]], then decrypted: [[UInt8]] = []) -> (text: String, hasTLS: Bool) {
        let collected = Collected()
        let observer = DecryptionObserver(showing: FollowObserver(output: collected.output))
        var offset: Int64 = 0
        for part in parts where !part.isEmpty {
            observer.observe(StreamPart(offset: offset, .bytes(part)), from: .server, in: conversation)
            offset += Int64(part.count)
        }
        observer.end(of: conversation)
        for bytes in decrypted { observer.show(decrypted: bytes, from: .client) }
        observer.endDecrypted()
        return (collected.text, observer.hasTLS)
    }

    @Test func plaintextEndsWhereTLSBegins() {
        let line = #"server  "220 \x16\x03\x15 ready\r\n""# + "\n"
        let stream = Self.plain + Self.hello
        for cut in 0...stream.count {
            let two = shown([Array(stream[..<cut]), Array(stream[cut...])])
            #expect(two.text == line && two.hasTLS)
        }
        let drops = shown(stream.map { [$0] })
        #expect(drops.text == line && drops.hasTLS)
        #expect(shown([Self.hello]).text.isEmpty)
    }

    @Test func streamWithoutTLSIsShownInFull() {
        for end in [[22], [22, 3], [22, 3, 1, 0, 9, 1], [21, 3, 3, 0, 2]] as [[UInt8]] {
            let whole = shown([Self.plain, end])
            let drops = shown((Self.plain + end).map { [$0] })
            #expect(!whole.hasTLS && whole.text == drops.text && whole.text.split(separator: "\n").count == 2)
        }
    }

    @Test func gapEndsThePossibleHeader() {
        let collected = Collected()
        let observer = DecryptionObserver(showing: FollowObserver(output: collected.output))
        observer.observe(StreamPart(offset: 0, .bytes([97, 22])), from: .client, in: conversation)
        let gap = StreamGap(offset: 2, length: 5, cause: .notCaptured)
        observer.observe(StreamPart(offset: 2, .gap(gap)), from: .client, in: conversation)
        observer.observe(StreamPart(offset: 7, .bytes([98, 10])), from: .client, in: conversation)
        observer.end(of: conversation)
        #expect(
            collected.text == """
                client  "a\\x16"
                client  (5 bytes at offset 2 missing from the capture)
                client  "b\\n"

                """)
    }

    // MARK: What tshark prints

    private func read(_ text: String, server: SocketEndpoint = Self.server) -> [String] {
        var reader = TsharkFollowReader(client: Self.client, server: server)
        return text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
            reader.read(Array(line.utf8)).map {
                "\($0.side == .client ? "C" : "S") \(String(decoding: $0.bytes, as: UTF8.self))"
            }
        }
    }

    @Test(arguments: [("127.0.0.1:40000", "C", "S"), ("127.0.0.1:443", "S", "C")])
    func eachLineBelongsToASide(node: String, first: String, other: String) {
        let text = """

            ===================================================================
            Follow: tls,raw
            Filter: tcp.stream eq 0
            Node 0: \(node)
            Node 1: :0
            61620D
            \t63
            64
            ===================================================================

            """
        #expect(read(text) == ["\(first) ab\r", "\(other) c", "\(first) d"])
    }

    @Test func addressesDistinguishSidesWithEqualPorts() {
        let server = SocketEndpoint(address: .loopbackV6, port: 40_000)
        #expect(read("Node 0: ::1:40000\n61", server: server) == ["S a"])
        #expect(read("Node 0: [::1]:40000\n61", server: server) == ["S a"])
        #expect(read("Node 0: 127.0.0.1:40000\n61", server: server) == ["C a"])
    }

    @Test(arguments: [
        "61\n62", "Node 0: :0\n61", "Node 0: x\n61", "Node 0: 127.0.0.1:1\n61",
        "Node 0: 127.0.0.1:443\n6\n6g\nab cd\n\n\t",
    ])
    func otherLinesAreIgnored(text: String) {
        #expect(read(text).isEmpty)
    }
}
