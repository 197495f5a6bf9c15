import ProbeBase
import ProbeWire
import Testing

/// Tests with third-party captures that use further link types or contain tunnels.
@Suite(.enabled(if: Corpus.hasCases, "there are no case captures next to the project"))
struct OtherCapturesTests {
    /// The numbers of packets, TCP packets and flows, and the lengths of both streams, are the same as in tshark.
    @Test(
        arguments: [
            ("06-80211-radiotap.pcap", 26, 26, [4_083, 3_945]), ("07-nflog.pcap", 10, 10, [172, 1_167]),
            ("10-vxlan.pcap", 12, 12, [87, 9_212]), ("11-gre.pcap", 40, 22, [952, 1_671]),
        ] as [(String, Int, Int, [Int64])])
    func flowsMatchTshark(name: String, packets: Int, segments: Int, bytes: [Int64]) throws {
        let file = ReadFile(Corpus.bytes("../cases/captures/" + name))
        #expect(file.error == nil && file.analysis.packetCount == packets && file.analysis.tcpPacketCount == segments)
        #expect(file.analysis.table.conversations.count == 1 && file.analysis.unread == nil)
        let flow = try #require(file.analysis.table.conversations.first)
        #expect([flow.fromClient, flow.fromServer].map(\.stream.deliveredLength) == bytes)
    }
}
