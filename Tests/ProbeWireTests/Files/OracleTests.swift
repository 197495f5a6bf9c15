import ProbeBase
import ProbeWire
import Testing

/// Tests that compare every stream of the corpus with the results of other tools. The last column of the file with
/// these results states which tool is correct.
@Suite(.enabled(if: Corpus.folder != nil, "there is no corpus next to the project, and TCPPROBE_CORPUS is not set"))
struct OracleTests {
    private static let rows = Corpus.table("ORACLE.tsv").filter { $0.count == 13 }

    @Test func digestIsCorrectAndOracleIsComplete() {
        #expect(sha256([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(sha256(bytes("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Self.rows.count > 70)
    }

    @Test(arguments: rows)
    func streamsMatchTheOracle(row: [String]) throws {
        let file = ReadFile(Corpus.bytes(row[0]))
        let number = try #require(Int(row[1]))
        let colon = try #require(row[2].lastIndex(of: ":"))
        let source = SocketEndpoint(
            address: try #require(IPAddress(String(row[2][..<colon]))),
            port: try #require(UInt16(row[2][row[2].index(after: colon)...])))
        let conversations = file.analysis.table.conversations
        try #require(number < conversations.count)
        let conversation = conversations[number]
        try #require([conversation.client, conversation.server].contains(source))
        let flow = conversation.halfConnection(from: conversation.client == source ? .client : .server)
        let verdict = row[12]
        if row[0] == "zeek-reassembly.pcap" {
            // gopacket and tcpflow use the bytes of the last segment, so the test `firstSegmentWins` compares the
            // streams byte by byte.
            #expect(flow.stream.bytes.count == Int(row[7]) && flow.stream.conflictCount == 5)
            return
        }
        if verdict.hasPrefix("DISPUTED") {
            #expect(!flow.stream.gaps.isEmpty)
            return
        }
        let isOutvoted = verdict.hasPrefix("TSHARK-OUTVOTED")
        let expected = isOutvoted ? row[8] : row[5]
        #expect(flow.stream.bytes.count == Int(isOutvoted ? row[7] : row[4]))
        #expect(sha256(flow.stream.bytes) == expected)
    }

    /// Retransmissions contradict the last bytes of frames 16, 28, 31 and 110. gopacket and tcpflow use the bytes of
    /// the last segment, while tcpprobe uses the bytes of the first. The test computes both streams byte by byte from
    /// the file's packets and compares each with the corresponding hash.
    @Test func firstSegmentWins() throws {
        let file = ReadFile(Corpus.bytes("zeek-reassembly.pcap"))
        let conversation = try #require(file.analysis.table.conversations.first)
        let source = try #require(SocketEndpoint("63.193.213.194:2564"))
        var first: [Int: UInt8] = [:]
        var last: [Int: UInt8] = [:]
        var base: SequenceNumber?
        for (record, packet) in zip(file.records, file.packets) {
            guard let tcp = try packet.decodedTCP(originalLength: record.originalLength), tcp.source == source else {
                continue
            }
            if tcp.isSYN { base = tcp.sequence + 1 }
            let start = tcp.sequence - (try #require(base))
            for (index, byte) in packet[tcp.payload].enumerated() {
                if first[start + index] == nil { first[start + index] = byte }
                last[start + index] = byte
            }
        }
        func bytes(_ stream: [Int: UInt8]) -> [UInt8] { stream.sorted { $0.key < $1.key }.map(\.value) }
        let row = try #require(Self.rows.first { $0[0] == "zeek-reassembly.pcap" })
        #expect(sha256(bytes(last)) == row[8])
        #expect(
            conversation.fromServer.stream.bytes == bytes(first) || conversation.fromClient.stream.bytes == bytes(first)
        )
    }

    private static let manifest = Corpus.table("MANIFEST.tsv").filter { $0.count >= 9 }

    /// The numbers of packets, TCP packets and connections are the same as in tshark.
    @Test(arguments: manifest.map { [$0[0], $0[5], $0[7], $0[8]] })
    func countsMatchTshark(row: [String]) {
        let file = ReadFile(Corpus.bytes(row[0]))
        // tshark counts custom blocks as frames. Each file whose name begins with `hadriel-` contains three custom
        // blocks: one of type 0xbad and two of type 0x40000bad.
        let custom = row[0].hasPrefix("hadriel-") ? 3 : 0
        // tshark counts frame 95 as TCP even though its TCP header length is 0.
        let malformed = row[0] == "gopacket-sll-fuzz.pcapng" ? 1 : 0
        #expect(file.records.count + custom == Int(row[1]))
        #expect(file.analysis.tcpPacketCount + malformed == Int(row[2]))
        #expect(file.analysis.table.conversations.count == Int(row[3]))
    }

    /// The numbers of retransmissions, out-of-order segments and keep-alives are the same as in tshark, which also
    /// counts fast and spurious retransmissions as retransmissions.
    @Test(arguments: manifest.map { [$0[0], $0[9]] })
    func classificationMatchesTshark(row: [String]) {
        let file = ReadFile(Corpus.bytes(row[0]))
        var counts: [String: Int] = [:]
        for entry in row[1].split(separator: ",") {
            let pair = entry.split(separator: "=")
            if pair.count == 2, let count = Int(pair[1]) { counts[String(pair[0])] = count }
        }
        let flows = file.analysis.table.conversations.flatMap { [$0.fromClient, $0.fromServer] }
        let kinds = flows.flatMap { $0.repeats.map(\.kind) + $0.segments.map(\.kind) }
        #expect(flows.reduce(0) { $0 + $1.window.shutCount } == counts["zero_window"] ?? 0)
        // The file `gopacket-sll-fuzz.pcapng` was created by a fuzzer. Its flags and sequence numbers contradict each
        // other, and every tool classifies its packets differently.
        if row[0] == "gopacket-sll-fuzz.pcapng" { return }
        // tshark mistakes packets that a mirror port or a tunnel has duplicated for retransmissions. The duplicates
        // have the same IP identification and arrive within 0.2 ms.
        guard file.analysis.copyCount == 0 else {
            #expect(["zeek-ssh-dups.pcap", "tcpdump-be-pptp.pcap"].contains(row[0]))
            #expect(kinds.count { $0.isRetransmission } == 0)
            #expect(file.analysis.copyCount >= counts["retransmission"] ?? 0)
            return
        }
        #expect(kinds.count { $0.isRetransmission } == counts["retransmission"] ?? 0)
        #expect(flows.reduce(0) { $0 + $1.retransmissionCount } == counts["retransmission"] ?? 0)
        #expect(kinds.count { $0 == .outOfOrder } == counts["out_of_order"] ?? 0)
        // tshark counts frames 26 and 27 as keep-alives, but these frames are copies of acknowledgments sent before a
        // FIN that is still unacknowledged. A side that waits for an acknowledgment is not idle, so it sends no
        // keep-alives (RFC 9293, section 3.8.4).
        let others = row[0] == "zeek-vlan-collisions.pcap" ? 2 : 0
        #expect(kinds.count { $0 == .keepAlive } + others == counts["keep_alive"] ?? 0)
    }

    @Test(
        arguments: [
            ("suri-cut-record.pcap", 5_035), ("libpcap-shb-option-too-long.pcapng", 0),
            ("libpcap-invalid-version.pcap", 0),
        ] as [(String, Int)])
    func damageIsFoundAtItsOffset(name: String, offset: Int) throws {
        let error = try #require(ReadFile(Corpus.bytes(name)).error)
        #expect(error.offset == UInt64(offset))
    }
}
