import ProbeCapture
import ProbeWire
import Testing

/// Tests filters in libpcap's syntax with packets in memory.
@Suite struct PacketFilterTests {
    /// An IPv4 packet with an RST, from port 80 to port 40000 at 127.0.0.1.
    private static let packet: [UInt8] =
        [0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
        + [0, 80, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x04, 0, 0, 0, 0, 0, 0]

    private static let frame = [UInt8](repeating: 0, count: 12) + [8, 0] + packet

    @Test(arguments: [
        ("tcp port 80", true), ("port 81", false), ("src port 80 and dst host 127.0.0.1", true), ("udp", false),
        ("tcp[tcpflags] & tcp-rst != 0", true), ("", true), ("greater 1000", true), ("less 1000", false),
    ])
    func expressionsSelectPackets(expression: String, isChosen: Bool) throws {
        let filter = try PacketFilter(expression)
        for (type, bytes) in [(LinkType.ethernet, Self.frame), (.raw, Self.packet), (.ipv4, Self.packet)] {
            let matches = filter.matches(bytes.span, linkType: type, originalLength: 1500)
            #expect(matches == isChosen)
        }
        // A packet that is shorter than its headers does not match, and causes no invalid access.
        if expression.contains("port") {
            for count in 0..<34 {
                let short = Array(Self.frame.prefix(count))
                let matches = filter.matches(short.span, linkType: .ethernet, originalLength: 54)
                #expect(!matches)
            }
        }
    }

    @Test(arguments: ["tcp prt 80", "port", "host 300.1.1.1", "("])
    func invalidExpressionsAreRefused(expression: String) {
        #expect(throws: CaptureError.self) { try PacketFilter(expression) }
    }

    /// Raw IP has no Ethernet header, so an expression about Ethernet headers does not match.
    @Test func expressionAboutAMissingHeaderMatchesNothing() throws {
        let filter = try PacketFilter("ether src 00:00:00:00:00:00")
        let hasMatched = filter.matches(Self.frame.span, linkType: .ethernet, originalLength: 54)
        let matchesRaw = filter.matches(Self.packet.span, linkType: .raw, originalLength: 40)
        #expect(hasMatched && !matchesRaw)
    }
}
