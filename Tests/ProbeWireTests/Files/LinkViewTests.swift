import ProbeBase
import ProbeWire
import Testing

/// Tests with a capture that contains both ends of a link.
@Suite struct LinkViewTests {
    private static let writer = PcapNGWriter(interfaces: [
        .init(name: "lo", linkType: .ethernet, snapLength: 0),
        .init(name: "S", linkType: .ethernet, snapLength: 0, linkEnd: .left),
        .init(name: "T", linkType: .ethernet, snapLength: 0, linkEnd: .right),
    ])

    /// A capture with a packet from S that arrives, a packet from T that is lost, a packet on loopback, and a packet
    /// that the link duplicated.
    private static let capture: [UInt8] = {
        func packet(
            _ byte: UInt8, on interface: Int, _ direction: PacketDirection? = nil, comments: [String] = []
        ) -> [UInt8] {
            writer.packet(
                CapturedPacket(time: UInt64(byte), originalLength: 1, bytes: [byte]), comments: comments,
                on: interface, direction: direction)
        }
        return writer.header(application: "a", system: "b") + packet(1, on: 1, .outbound)
            + packet(2, on: 2, .inbound) + packet(3, on: 2, .outbound) + packet(4, on: 0)
            + packet(5, on: 1, .inbound, comments: [LinkView.copyComment + ": x.scn:3 link"])
    }()

    private func read(_ view: LinkView) throws -> (bytes: [UInt8], leftOut: Int, ends: [CaptureLinkEnd?]) {
        var reader = CaptureFileReader(view: view)
        var bytes: [UInt8] = []
        try reader.feed(Self.capture.span) { _, packet in bytes.append(packet[0]) }
        try reader.finish()
        #expect(reader.packetCount == 5)
        return (bytes, reader.leftOutCount, reader.interfaces.map(\.linkEnd))
    }

    @Test(
        arguments: [
            (LinkView.received, [2, 4]), (.sent, [1, 3, 4]), (.at(.left), [1, 4]), (.at(.right), [2, 3, 4]),
        ] as [(LinkView, [UInt8])])
    func eachViewHasItsPacketsOnce(view: LinkView, packets: [UInt8]) throws {
        let found = try read(view)
        #expect(found.bytes == packets)
        #expect(found.leftOut == 5 - packets.count)
        #expect(found.ends == [nil, .left, .right])
    }
}
