import ProbeBase
import ProbeWire
import Testing

/// Tests that packets that are not segments of a flow are counted by kind, and that unreadable packets are
/// distinguished from packets that are not TCP.
struct OtherPacketsTests {
    private static let segment = PacketBuilder(payload: bytes("hello"))

    private func analysis(
        _ packets: [(LinkType, [UInt8])], tunnels: TunnelReading = .opened, share: ConnectionShare = .all
    ) -> CaptureAnalysis {
        var analysis = CaptureAnalysis(share: share, tunnels: tunnels)
        for (index, (type, packet)) in packets.enumerated() {
            analysis.add(packet.span, linkType: type, originalLength: packet.count, time: 0, index: index)
        }
        analysis.finish()
        return analysis
    }

    private static let udp: [UInt8] = segment.ipv4(protocolNumber: 17, content: [0, 53, 0, 99, 0, 8, 0, 0])

    @Test func otherPacketsAreCountedByProtocol() {
        let found = analysis([
            (.raw, Self.udp), (.raw, Self.udp), (.raw, Self.segment.ipv4(protocolNumber: 1, content: [8, 0, 0, 0])),
            (.ethernet, PacketBuilder.ethernet([0, 1], type: 0x0806)), (.raw, Self.segment.ipv4()),
        ])
        #expect(found.others.all.map(\.count) == [2, 1, 1] && found.others[.udp] == 2)
        #expect(found.others.text { _ in true } == "2 UDP, 1 ARP, 1 ICMP")
        #expect(found.unread == nil && found.unreadOrHidden == nil && found.packetCount == 5)
    }

    @Test func unreadablePacketsAreNamed() {
        let found = analysis([
            (LinkType(rawValue: 189), [1, 2, 3]), (LinkType(rawValue: 189), [1, 2, 3]),
            (.raw, Array(Self.segment.ipv4().prefix(30))), (.raw, Self.segment.ipv4(fragment: 0x2000)),
        ])
        let text = "2 link type 189 (USB_LINUX) not supported, 1 fragments of incomplete datagrams, 1 truncated"
        #expect(found.unread == "some packets of the capture could not be read: " + text)
        #expect(found.others.unreadCount == 4 && found.undecodableCount == 3)
    }

    /// Encrypted and tunneled packets may contain entire flows, but no segments of the flows that are shown.
    @Test func hiddenPacketsDoNotConcernOtherFlows() {
        let packets: [(LinkType, [UInt8])] = [
            (.raw, Self.segment.ipv4(protocolNumber: 50, content: [1, 2, 3, 4])),
            (.raw, Self.segment.ipv4(protocolNumber: 4, content: Self.segment.ipv4())),
        ]
        let found = analysis(packets, tunnels: .named)
        #expect(found.unread == nil && found.others.hiddenCount == 2)
        #expect(
            found.unreadOrHidden
                == "some packets of the capture could not be read: 1 IP-in-IP (--no-tunnels), 1 IPsec (ESP)")
    }

    /// Each packet is counted by exactly one of the shares into which the analysis is divided.
    @Test func sharesCountLikeOneAnalysis() {
        var packets: [(LinkType, [UInt8])] = []
        for port in 0..<50 as Range<UInt16> {
            let segment = PacketBuilder(sourcePort: 40_000 + port, payload: bytes("hello"))
            packets.append((.ethernet, PacketBuilder.ethernet(segment.ipv4())))
            packets.append((.raw, segment.ipv4(protocolNumber: 4, content: segment.ipv4())))
            packets.append((.raw, Self.udp))
            packets.append((.raw, segment.ipv4(fragment: 0x2000, content: Array(segment.tcp.prefix(16)))))
            if port % 2 == 0 {
                packets.append((.raw, segment.ipv4(fragment: 2, content: Array(segment.tcp.dropFirst(16)))))
            }
            packets.append((.raw, icmpError(about: segment)))
            packets.append((.raw, Array(segment.ipv4().prefix(30))))
        }
        let whole = analysis(packets)
        var merged = analysis(packets, share: ConnectionShare(0, of: 2))
        merged.merge(analysis(packets, share: ConnectionShare(1, of: 2)))
        #expect(merged.others == whole.others && merged.packetCount == whole.packetCount)
        #expect(merged.tcpPacketCount == whole.tcpPacketCount)
        for number in whole.table.conversations.indices {
            #expect(merged.icmpErrors.count(of: number) == whole.icmpErrors.count(of: number))
        }
        #expect(whole.icmpErrors.count(of: 0) == 1)
    }

    private func icmpError(about segment: PacketBuilder) -> [UInt8] {
        segment.ipv4(protocolNumber: 1, content: [3, 4, 0, 0, 0, 0, 5, 120] + segment.ipv4().prefix(28))
    }

    @Test func icmpErrorsBelongToTheirFlow() throws {
        var analysis = analysis([(.raw, Self.segment.ipv4()), (.raw, icmpError(about: Self.segment))])
        let last = analysis.takeICMPError()
        let (number, report) = try #require(last)
        #expect(number == 0 && report.side == .client && report.relativeSequence == 1)
        #expect(report.error.text == "fragmentation needed, MTU 1400" && report.packetIndex == 1)
        #expect(report.error.reporter.description == "10.0.0.1")
        #expect(analysis.icmpErrors.count(of: 0) == 1 && analysis.others[.ip(1)] == 1)
        let next = analysis.takeICMPError()
        #expect(next == nil)
    }

    @Test(
        arguments: [
            (1, 4, 0, "destination unreachable (port)"), (2, 0, 1280, "packet too big, MTU 1280"),
            (3, 0, 0, "hop limit exceeded"), (3, 1, 0, "reassembly time exceeded"), (4, 0, 0, "parameter problem"),
            (1, 99, 0, "destination unreachable (code 99)"),
        ] as [(UInt8, UInt8, UInt32, String)])
    func icmpErrorsOfIPv6AreRead(type: UInt8, code: UInt8, value: UInt32, text: String) throws {
        let head: [UInt8] = [type, code, 0, 0] + PacketBuilder.big(value)
        let quotes = [Self.segment.ipv6(), Self.segment.ipv6(extensions: [6, 0, 1, 4, 0, 0, 0, 0], next: 60)]
        for quote in quotes {
            let packet = Self.segment.ipv6(next: 58, content: head + quote)
            guard case .icmp(let error) = try packet.decoded(.raw) else {
                Issue.record("no error in type \(type)")
                continue
            }
            #expect(error.text == text && error.sequence == SequenceNumber(1_000) && error.destination.port == 80)
        }
    }

    @Test func otherICMPIsNotAnError() throws {
        for content in [[8, 0, 0, 0, 0, 1, 0, 1], [3, 1, 0, 0, 0, 0, 0, 0], [3]] as [[UInt8]] {
            let packet = Self.segment.ipv4(protocolNumber: 1, content: content)
            guard case .otherIP = try packet.decoded(.raw) else { throw PacketError.tooManyHeaders(offset: 0) }
        }
        // An ICMP error about a UDP datagram is not reported as an error about a flow.
        let packet = Self.segment.ipv4(protocolNumber: 1, content: [3, 3, 0, 0, 0, 0, 0, 0] + Self.udp)
        guard case .otherIP = try packet.decoded(.raw) else { throw PacketError.tooManyHeaders(offset: 0) }
    }
}
