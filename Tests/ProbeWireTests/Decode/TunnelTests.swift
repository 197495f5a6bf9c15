import ProbeBase
import ProbeWire
import Testing

/// Tests that decode a segment in each kind of tunnel, alone and nested in other tunnels.
struct TunnelTests {
    private static let segment = PacketBuilder(payload: bytes("hello"))

    private static func udp(port: UInt16, _ content: [UInt8]) -> [UInt8] {
        PacketBuilder.big(50_000 as UInt16) + PacketBuilder.big(port) + PacketBuilder.big(UInt16(content.count + 8))
            + [0, 0] + content
    }

    /// Returns a datagram in each kind of tunnel, that is, the payload of an outer IP datagram with the given protocol
    /// number.
    private static func tunnels(_ ip: [UInt8]) -> [(kind: TunnelProtocol, number: UInt8, content: [UInt8])] {
        let frame = PacketBuilder.ethernet(ip)
        let vxlan: [UInt8] = [0x08, 0, 0, 0, 0, 0, 42, 0]
        let counted = PacketBuilder.big(UInt16(ip.count + 4))
        let mirror: [UInt8] = .joined([0x10, 0, 0x22, 0xeb, 0, 0, 0, 9], .zeros(10))
        let pptp: [UInt8] = .joined([0x88, 0x0b], counted, [0, 1])
        let gre: [[UInt8]] = [
            .joined([0, 0, 8, 0], ip), .joined([0x80, 0, 8, 0, 1, 2, 0, 0], ip),
            .joined([0xb0, 0, 8, 0], .zeros(12), ip),
            .joined([0x40, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0], ip),
            .joined([0, 0, 0x65, 0x58], frame), .joined([0, 0, 0x88, 0x47, 0, 1, 1, 64], ip),
            .joined([0, 0, 0x88, 0x0b, 0xff, 3, 0, 0x21], ip),
            .joined([0x30, 0x81], pptp, [0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21], ip),
            .joined([0x20, 0x01], pptp, [0x21], ip), .joined([0, 0, 0x88, 0x3e], ip),
            .joined([0, 0, 0x88, 0x3e, 0, 1, 2, 3], ip),
        ]
        let erspan: [[UInt8]] = [
            .joined([0, 0, 0x88, 0xbe], frame), .joined([0x10, 0, 0x88, 0xbe, 0, 0, 0, 9], .zeros(8), frame),
            .joined(mirror, [0, 0], frame), .joined(mirror, [0, 1], .zeros(8), frame), .joined(mirror, [8, 0], ip),
        ]
        let overUDP: [(TunnelProtocol, UInt16, [UInt8])] = [
            (.vxlan, 4789, .joined(vxlan, frame)), (.vxlan, 8472, .joined(vxlan, frame)),
            (.vxlan, 4790, .joined([0x0c, 0, 0, 1, 0, 0, 42, 0], ip)),
            (.vxlan, 4790, .joined([0x0c, 0, 0, 3, 0, 0, 42, 0], frame)),
            (.geneve, 6081, .joined([0, 0, 0x65, 0x58, 0, 0, 42, 0], frame)),
            (.geneve, 6081, .joined([2, 0, 8, 0, 0, 0, 42, 0], .zeros(8), ip)),
            (.gtp, 2152, .joined([0x30, 255, 0, 40], .zeros(4), ip)),
            (.gtp, 2152, .joined([0x32, 255, 0, 40], .zeros(8), ip)),
            (.gtp, 2152, .joined([0x34, 255, 0, 40], .zeros(7), [0x85, 1, 1, 1, 0x40], [1, 0, 0, 0], ip)),
        ]
        return [(.ipInIP, 4, ip)] + gre.map { (.gre, 47, $0) } + erspan.map { (.erspan, 47, $0) }
            + overUDP.map { ($0.0, 17, udp(port: $0.1, $0.2)) }
    }

    private static func read(_ packet: [UInt8], _ reading: TunnelReading = .opened) throws(PacketError) -> DecodedPacket
    {
        try PacketDecoder.decode(packet.span, linkType: .raw, originalLength: packet.count, tunnels: reading)
    }

    private static func outer(_ number: UInt8, _ content: [UInt8], isV6: Bool) -> [UInt8] {
        isV6 ? segment.ipv6(next: number, content: content) : segment.ipv4(protocolNumber: number, content: content)
    }

    @Test(arguments: [false, true])
    func everyTunnelIsDecoded(isV6: Bool) throws {
        for (kind, number, content) in Self.tunnels(Self.segment.ipv4()) {
            let packet = Self.outer(number, content, isV6: isV6) + [9, 9, 9, 9]
            guard case .tcp(let tcp) = try Self.read(packet) else {
                Issue.record("no segment in \(kind), protocol \(number)")
                continue
            }
            #expect(Array(packet[tcp.payload]) == bytes("hello") && !tcp.payloadIsCut, "\(kind)")
            #expect(tcp.source.description == "10.0.0.1:40000")
        }
        let six = Self.outer(41, Self.segment.ipv6(), isV6: isV6)
        guard case .tcp(let tcp) = try Self.read(six) else { throw PacketError.tooManyHeaders(offset: 0) }
        #expect(tcp.source.description == "[2001:db8::1]:40000")
    }

    @Test func everyTunnelIsTested() {
        let tested = Set(Self.tunnels([]).map(\.kind))
        #expect(TunnelProtocol.allCases.allSatisfy(tested.contains))
    }

    /// With `--no-tunnels`, packets in tunnels are recognized as tunneled but not decoded further. In a run, they are
    /// packets of the tunnel's own protocol.
    @Test func unopenedTunnelsAreNamedOrIgnored() throws {
        for (kind, number, content) in Self.tunnels(Self.segment.ipv4()) {
            let packet = Self.outer(number, content, isV6: false)
            #expect(try Self.read(packet, .named) == .other(.tunnel(kind)))
            switch try Self.read(packet, .ignored) {
            case .udp: #expect(number == 17)
            case .otherIP(_, _, let found): #expect(found == number)
            case let other: Issue.record("\(kind) is read as \(other)")
            }
        }
    }

    /// If a mirror sends only the beginning of a frame, the payload is truncated, and bytes after the outer datagram
    /// are not part of it.
    @Test func shortenedFramesAreTruncated() throws {
        let mirrored = PacketBuilder.ethernet(Self.segment.ipv4()).dropLast(3)
        let packet = Self.outer(47, [0, 0, 0x88, 0xbe] + mirrored, isV6: false) + [9, 9, 9, 9]
        guard case .tcp(let tcp) = try Self.read(packet) else { throw PacketError.tooManyHeaders(offset: 0) }
        #expect(Array(packet[tcp.payload]) == bytes("he") && tcp.payloadLength == 5)
    }

    @Test func nestedTunnelsAreDecodedToALimit() throws {
        var packet = Self.segment.ipv4()
        for depth in 1...20 {
            packet = Self.outer(4, packet, isV6: depth % 2 == 0)
            if depth <= 6 {
                guard case .tcp = try Self.read(packet) else { throw PacketError.tooManyHeaders(offset: depth) }
            } else {
                #expect(throws: PacketError.self) { try Self.read(packet) }
            }
        }
    }

    /// Datagrams to a tunnel's port that lack the tunnel's header are ordinary UDP datagrams.
    @Test(
        arguments: [
            (4789, [0, 0, 0, 0, 0, 0, 0, 0]), (4789, [8, 0, 0]), (8472, [8, 1, 0, 0, 0, 0, 0, 0]),
            (6081, [0xc0, 0, 8, 0, 0, 0, 0, 0, 1]), (6081, [0, 0, 0x12, 0x34, 0, 0, 0, 0, 1]), (6081, []),
            (2152, [0x30, 1, 0, 0, 0, 0, 0, 0]), (2152, [0x10, 255, 0, 0, 0, 0, 0, 0, 0x45]), (2152, [0x34, 255]),
            (2152, [0x34, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(UInt16, [UInt8])])
    func otherDatagramsRemainUDP(port: UInt16, content: [UInt8]) throws {
        guard case .udp = try Self.read(Self.outer(17, Self.udp(port: port, content), isV6: false)) else {
            throw PacketError.tooManyHeaders(offset: 0)
        }
    }

    /// Fragments are reassembled whether the outer datagram, the inner datagram or both are fragmented.
    @Test(arguments: [(true, false), (false, true), (true, true)])
    func innerAndOuterFragmentsAreReassembled(isOuter: Bool, isInner: Bool) throws {
        let tcp = Self.segment.tcp
        func pieces(_ content: [UInt8], _ number: UInt8, _ isDivided: Bool) -> [[UInt8]] {
            guard isDivided else { return [Self.segment.ipv4(protocolNumber: number, content: content)] }
            return [
                Self.segment.ipv4(fragment: 0x2000, protocolNumber: number, content: Array(content.prefix(16))),
                Self.segment.ipv4(fragment: 2, protocolNumber: number, content: Array(content.dropFirst(16))),
            ]
        }
        var analysis = CaptureAnalysis()
        var index = 0
        for inner in pieces(tcp, 6, isInner) {
            for packet in pieces([0, 0, 8, 0] + inner, 47, isOuter) {
                analysis.add(packet.span, linkType: .raw, originalLength: packet.count, time: 0, index: index)
                index += 1
            }
        }
        analysis.finish()
        #expect(analysis.tcpPacketCount == 1 && analysis.packetCount == index && analysis.undecodableCount == 0)
        #expect(analysis.others.unreadCount == 0 && analysis.others[.fragment] == index - 1)
        #expect(analysis.table.conversations.first?.fromClient.stream.end == 5)
    }

    /// For arbitrary bytes, the decoder does not trap, and all ranges are valid.
    @Test func randomBytesNeverTrap() {
        var random = SeededRandom(seed: 38)
        let seeds = Self.tunnels(Self.segment.ipv4()).map { Self.outer($0.number, $0.content, isV6: false) }
        for round in 0..<20_000 {
            var packet = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                packet[Int.random(in: 0..<packet.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 3 == 0 { packet.removeLast(Int.random(in: 0...packet.count, using: &random)) }
            let length = Int.random(in: -1...packet.count * 2, using: &random)
            // This test also accepts a packet that can't be decoded.
            let result = try? PacketDecoder.decode(
                packet.span, linkType: .raw, originalLength: length, tunnels: .opened)
            if case .tcp(let tcp) = result {
                #expect(tcp.payload.upperBound <= packet.count && tcp.payloadLength >= 0)
            }
        }
    }
}
