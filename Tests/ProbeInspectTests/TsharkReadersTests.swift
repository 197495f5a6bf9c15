import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests of the parsers for tshark's output about TLS.
struct TsharkReadersTests {
    private static let client = SocketEndpoint(address: .loopbackV4, port: 40_000)
    private static let server = SocketEndpoint(address: .loopbackV4, port: 443)

    // MARK: Data

    private func parts(_ text: String, server: SocketEndpoint = Self.server) -> [TsharkDataReader.Part] {
        var reader = TsharkDataReader(client: Self.client, server: server)
        var parts = text.split(separator: "\n", omittingEmptySubsequences: false).compactMap {
            reader.read(Array($0.utf8))
        }
        if let last = reader.finish() { parts.append(last) }
        return parts
    }

    private static let head = """
        peers:
          - peer: 0
            host: 127.0.0.1
            port: 443
          - peer: 1
            host:
            port: 0
        packets:

        """

    @Test func eachPacketBelongsToASide() {
        let text =
            Self.head + """
                  - packet: 10
                    peer: 1
                    index: 0
                    timestamp: 1795580897.296013117
                    data: !!binary |
                      aGVs
                      bG8NCg==
                  - packet: 11
                    peer: 0
                    timestamp: 1795580898.5
                    data: !!binary |
                      YnllDQo=
                """
        #expect(
            parts(text) == [
                .init(side: .client, frame: 10, time: 1_795_580_897_296_013_117, bytes: Array("hello\r\n".utf8)),
                .init(side: .server, frame: 11, time: 1_795_580_898_500_000_000, bytes: Array("bye\r\n".utf8)),
            ])
    }

    @Test(arguments: [
        "", "packets:\n  - packet: 1\n    peer: 0\n    data: !!binary |\n      YQ==",
        "    port: 443\n  - packet: 1\n    peer: 5\n    data:\n      YQ==", "      YQ==\n- packet:\n  - packet: x",
        "  - peer: -9223372036854775808\n    host: a\n    port: 443\n  - packet: 1\n    peer: 0\n    data:\n      YQ==",
    ])
    func otherLinesAreIgnored(text: String) {
        #expect(parts(text).isEmpty)
    }

    @Test func invalidBase64IsIgnored() {
        #expect(parts(Self.head + "  - packet: 1\n    peer: 0\n    data: !!binary |\n      Y!Q=").isEmpty)
        #expect(
            parts(
                Self.head + "  - packet: 1\n    peer: 0\n    timestamp: 99999999999999999999\n    data: x\n      YQ=="
            ).count == 1)
    }

    // MARK: Records

    private func records(_ lines: [String]) -> TsharkRecordReader {
        var reader = TsharkRecordReader(client: Self.client, server: Self.server)
        for line in lines { reader.read(Array(line.replacing("|", with: "\t").utf8)) }
        return reader
    }

    @Test func tls13HandshakeIsRead() {
        let records = records([
            "4|1.5|40000|127.0.0.1||1|chat.test|\\n\\n,smtp,imap,\u{fffd}z||22||322",
            "6|1.6|443|127.0.0.1||2,8,11,15,20||imap||22,20,22,22,22,22|23,23,23,23|122,1,34,498,95,69",
            "8|1.7|40000|127.0.0.1||20||||20,22|23|1,69", "10|1.8|40000|127.0.0.1||||||23|23|24",
            "12|1.9|40000|127.0.0.1|||||0|21|23|19",
        ])
        #expect(records.serverName == "chat.test" && records.offeredProtocols == ["smtp", "imap"])
        #expect(records.chosenProtocol == "imap" && !records.hasClientCertificate)
        #expect(records.finished == [.client, .server] && records.undecrypted == nil)
        #expect(records.alerts == [.init(side: .client, frame: 12, time: 1_900_000_000, number: 0)])
    }

    @Test func undecryptedRecordsAreFound() {
        let hello = "4|1.5|40000|127.0.0.1||1|||||22||322"
        #expect(records([hello, "6|1|443|127.0.0.1||2||||22,20|23,23|122,1,34,498"]).undecrypted == 6)
        #expect(records(["8|1|40000|127.0.0.1||||||20|23|1,69"]).undecrypted == 8)
        #expect(records(["10|1|40000|127.0.0.1|||||||23|24"]).undecrypted == 10)
        // In TLS 1.2, the type of each record is visible without decryption.
        let old = records(["10|1|40000|127.0.0.1||||||23||24", "11|1|443|127.0.0.1||15||||22||24"])
        #expect(old.undecrypted == nil && old.senders == [.client] && !old.hasClientCertificate)
        #expect(records(["8|1|40000|127.0.0.1||11,16,15,20||||22||24"]).hasClientCertificate)
    }

    @Test(arguments: [
        "", "1", "x|||||||||||", "1|||||||||||", "1|1|9|127.0.0.1||20||||22||1", "1|1|40000|127.0.0.1||0x|,|,|-|0x|,|,",
    ])
    func invalidRecordsAreIgnored(line: String) {
        let records = records([line])
        #expect(records.finished.isEmpty && records.alerts.isEmpty && records.serverName == nil)
    }
}
