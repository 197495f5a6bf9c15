import ProbeBase
import ProbeWire
import Testing

struct PacketDecoderTests {
    private let segment = PacketBuilder(payload: bytes("hello"))

    @Test func plainSegmentIsDecoded() throws {
        let frame = PacketBuilder.ethernet(segment.ipv4())
        let tcp = try #require(try frame.decodedTCP())
        #expect(tcp.source.description == "10.0.0.1:40000")
        #expect(tcp.destination.description == "10.0.0.2:80")
        #expect(tcp.sequence == SequenceNumber(1_000) && tcp.acknowledgment == SequenceNumber(2_000))
        #expect(tcp.flags == [.psh, .ack] && tcp.window == 512)
        #expect(Array(frame[tcp.payload]) == bytes("hello") && !tcp.payloadIsCut)
    }

    /// Padding and a frame check sequence after the datagram are not part of the payload.
    @Test(arguments: [0, 1, 6, 46])
    func paddingIsNotPayload(count: Int) throws {
        let frame = PacketBuilder.ethernet(segment.ipv4()) + Array(repeating: 0xaa, count: count)
        let tcp = try #require(try frame.decodedTCP())
        #expect(tcp.payloadLength == 5 && Array(frame[tcp.payload]) == bytes("hello"))
        let six = PacketBuilder.ethernet(segment.ipv6(), type: 0x86dd) + Array(repeating: 0xaa, count: count)
        #expect(try six.decodedTCP()?.payloadLength == 5)
    }

    @Test func snapLengthTruncatesThePayload() throws {
        let frame = PacketBuilder.ethernet(segment.ipv4())
        let tcp = try #require(try Array(frame.dropLast(3)).decodedTCP(originalLength: frame.count))
        #expect(tcp.payload.count == 2 && tcp.payloadLength == 5 && tcp.payloadIsCut)
        let bare = try #require(try Array(frame.dropLast(5)).decodedTCP(originalLength: frame.count))
        #expect(bare.payload.isEmpty && bare.payloadLength == 5 && bare.payloadIsCut)
    }

    /// With TSO, the total length is 0, so the packet's actual length is used.
    @Test func totalLengthOfZeroMeansTheWholePacket() throws {
        let frame = PacketBuilder.ethernet(segment.ipv4(totalLength: 0))
        #expect(try frame.decodedTCP()?.payloadLength == 5)
        #expect(try Array(frame.dropLast(2)).decodedTCP(originalLength: frame.count)?.payloadLength == 5)
    }

    @Test func ipOptionsAndExtensionHeadersAreSkipped() throws {
        let options: [UInt8] = [7, 3, 4, 0, 1, 1, 1, 0]
        #expect(try PacketBuilder.ethernet(segment.ipv4(options: options)).decodedTCP()?.payloadLength == 5)
        let hopByHop: [UInt8] = [60, 0, 1, 4, 0, 0, 0, 0]
        let destination: [UInt8] = [51, 0, 1, 4, 0, 0, 0, 0]
        let authentication: [UInt8] = [6, 4] + Array(repeating: 0, count: 22)
        let packet = segment.ipv6(extensions: hopByHop + destination + authentication, next: 0)
        let tcp = try #require(try packet.decodedTCP(.raw))
        #expect(tcp.source.description == "[2001:db8::1]:40000" && tcp.payloadLength == 5)
    }

    @Test(
        arguments: [
            [0x81, 0x00, 0x00, 0x05], [0x88, 0xa8, 0x00, 0x05, 0x81, 0x00, 0x00, 0x06],
            [0x91, 0x00, 0, 1, 0x81, 0x00, 0, 2, 0x81, 0x00, 0, 3],
            // In provider backbone bridging and FabricPath, the tag is followed by a complete frame (here with a VLAN
            // tag). A VN-Tag is followed by an EtherType.
            .joined([0x88, 0xa8, 0, 1, 0x88, 0xe7, 0, 0, 0, 7], .zeros(12), [0x81, 0x00, 0, 2]),
            .joined([0x89, 0x03, 0x80, 0x20], .zeros(12), [0x81, 0x00, 0, 2]), [0x89, 0x26, 0, 0, 0, 9],
            [0x89, 0x3f, 0, 0, 0, 9, 0, 0],
        ] as [[UInt8]])
    func vlanTagsAreSkipped(tags: [UInt8]) throws {
        #expect(try PacketBuilder.ethernet(segment.ipv4(), tags: tags).decodedTCP()?.payloadLength == 5)
    }

    @Test func tunnelsBelowIPAreSkipped() throws {
        let labels: [UInt8] = [0, 1, 0, 64, 0, 2, 1, 64]
        #expect(try PacketBuilder.ethernet(labels + segment.ipv4(), type: 0x8847).decodedTCP()?.payloadLength == 5)
        let ip = segment.ipv4()
        let pppoe: [UInt8] = [0x11, 0, 0, 1] + PacketBuilder.big(UInt16(ip.count + 2)) + [0x00, 0x21]
        #expect(try PacketBuilder.ethernet(pppoe + ip + [9, 9], type: 0x8864).decodedTCP()?.payloadLength == 5)
        // The PPP protocol field may be compressed to one byte (RFC 1661, section 6.5).
        let compressed: [UInt8] = [0x11, 0, 0, 1] + PacketBuilder.big(UInt16(ip.count + 1)) + [0x21]
        #expect(try PacketBuilder.ethernet(compressed + ip + [9, 9], type: 0x8864).decodedTCP()?.payloadLength == 5)
        let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
        #expect(
            try PacketBuilder.ethernet(snap + ip, type: UInt16(ip.count + 8)).decodedTCP()?.payloadLength == 5)
    }

    /// If the datagram's length exceeds that of the packet that carries it, the bytes after the outer packet are
    /// padding or a trailer, never payload.
    @Test func innermostPacketIsBoundedByEveryOuterLength() throws {
        let ip = segment.ipv4()
        let trailer: [UInt8] = [9, 9, 9, 9]
        func pppoe(_ length: Int, _ content: [UInt8], protocolNumber: UInt16 = 0x0021) -> [UInt8] {
            [0x11, 0, 0, 1] + PacketBuilder.big(UInt16(length + 2)) + PacketBuilder.big(protocolNumber) + content
        }
        let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
        let length = UInt16(ip.count - 2 + 8)
        let udp: [UInt8] = [0, 53, 0x13, 0x88, 0, 40, 0, 0] + bytes("ping")
        let frames: [[UInt8]] = [
            PacketBuilder.ethernet(pppoe(ip.count - 2, ip) + trailer, type: 0x8864),
            PacketBuilder.ethernet(
                pppoe(ip.count - 2, ip) + trailer, type: 0x8864, tags: [0x81, 0, 0, 5, 0x88, 0xa8, 0, 6]),
            // If the total length of an IPv4 datagram is 0 (TSO), the length of the outer packet still applies.
            PacketBuilder.ethernet(pppoe(ip.count - 2, segment.ipv4(totalLength: 0)) + trailer, type: 0x8864),
            PacketBuilder.ethernet(
                pppoe(segment.ipv6().count - 2, segment.ipv6(), protocolNumber: 0x0057) + trailer, type: 0x8864),
            PacketBuilder.ethernet(snap + ip + trailer, type: length),
            PacketBuilder.ethernet(snap + ip + trailer, type: length, tags: [0x81, 0, 0, 5]),
        ]
        for frame in frames {
            let tcp = try #require(try frame.decodedTCP())
            #expect(tcp.payloadLength == 3 && Array(frame[tcp.payload]) == bytes("hel") && !tcp.payloadIsCut)
        }
        let datagram = segment.ipv4(protocolNumber: 17, content: udp)
        guard
            case .udp(let short) = try PacketBuilder.ethernet(pppoe(datagram.count - 1, datagram), type: 0x8864)
                .decoded()
        else {
            Issue.record("no datagram")
            return
        }
        #expect(short.payloadLength == 3)
        guard
            case .fragment(let part) = try PacketBuilder.ethernet(
                pppoe(ip.count - 2, segment.ipv4(fragment: 0x2000)), type: 0x8864
            ).decoded()
        else {
            Issue.record("no fragment")
            return
        }
        #expect(part.payloadLength == 23)
    }

    /// If the length of the outer packet leaves no room for the inner header, decoding fails.
    @Test func headerBeyondTheOuterLengthIsAnError() {
        let ip = segment.ipv4()
        func pppoe(_ length: UInt16) -> [UInt8] {
            PacketBuilder.ethernet([0x11, 0, 0, 1] + PacketBuilder.big(length) + [0x00, 0x21] + ip, type: 0x8864)
        }
        for length in 0..<UInt16(22) {
            #expect(throws: PacketError.malformed(.ipv4, offset: 22)) { try pppoe(length).decoded() }
        }
        for length in 22..<UInt16(42) {
            #expect(throws: PacketError.malformed(.tcp, offset: 42)) { try pppoe(length).decoded() }
        }
        #expect(throws: Never.self) { try pppoe(42).decoded() }
    }

    /// If the frame's length on the wire is less than the datagram's length, the end of the datagram is missing from
    /// the capture, even if the record's two lengths are equal.
    @Test func datagramLongerThanItsFrameIsTruncated() throws {
        let frame = Array(PacketBuilder.ethernet(segment.ipv4()).dropLast(2))
        let tcp = try #require(try frame.decodedTCP(originalLength: frame.count))
        #expect(tcp.payload.count == 3 && tcp.payloadLength == 5 && tcp.payloadIsCut)
    }

    /// In a cooked capture, the protocol number 4 is not a length; the number means that an LLC header follows.
    @Test func cookedLLCHasNoLength() throws {
        let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
        let sll: [UInt8] = Array(repeating: 0, count: 14) + [0, 4]
        #expect(try (sll + snap + segment.ipv4()).decodedTCP(.linuxSLL)?.payloadLength == 5)
    }

    @Test(arguments: [LinkType.raw, .rawDLT, .rawOpenBSD, .ipv4])
    func rawLinksHaveNoFrameHeader(link: LinkType) throws {
        #expect(try segment.ipv4().decodedTCP(link)?.payloadLength == 5)
    }

    @Test func cookedAndLoopbackHeadersAreSkipped() throws {
        let sll: [UInt8] = Array(repeating: 0, count: 14) + [8, 0]
        #expect(try (sll + segment.ipv4()).decodedTCP(.linuxSLL)?.payloadLength == 5)
        let sll2: [UInt8] = [0x86, 0xdd] + Array(repeating: 0, count: 18)
        #expect(try (sll2 + segment.ipv6()).decodedTCP(.linuxSLL2)?.payloadLength == 5)
        #expect(try ([2, 0, 0, 0] + segment.ipv4()).decodedTCP(.null)?.payloadLength == 5)
        #expect(try ([0, 0, 0, 2] + segment.ipv4()).decodedTCP(.null)?.payloadLength == 5)
        #expect(try ([0, 0, 0, 30] + segment.ipv6()).decodedTCP(.loop)?.payloadLength == 5)
        #expect(try [UInt8]([1, 2, 3, 4, 5]).decoded(.null) == .notIP(etherType: 0x0304))
    }

    @Test func fragmentsAreFlagged() throws {
        let first = PacketBuilder.ethernet(segment.ipv4(fragment: 0x2000))
        guard case .fragment(let fragment) = try first.decoded() else {
            Issue.record("no fragment")
            return
        }
        #expect(fragment.offset == 0 && fragment.hasMore && fragment.payloadLength == 25)
        let later = segment.ipv6(extensions: [6, 0, 0x05, 0xa8, 0, 0, 0, 9], next: 44)
        guard case .fragment(let six) = try later.decoded(.raw) else {
            Issue.record("no fragment")
            return
        }
        #expect(six.offset == 0x5a8 && !six.hasMore && six.identification == 9 && six.protocolNumber == 6)
        let atomic = segment.ipv6(extensions: [6, 0, 0, 0, 0, 0, 0, 9], next: 44)
        #expect(try atomic.decodedTCP(.raw)?.payloadLength == 5)
    }

    @Test func otherProtocolsAreDistinguished() throws {
        let udp: [UInt8] = [0, 53, 0x13, 0x88, 0, 12, 0, 0] + bytes("ping")
        let frame = PacketBuilder.ethernet(segment.ipv4(protocolNumber: 17, content: udp))
        guard case .udp(let datagram) = try frame.decoded() else {
            Issue.record("no datagram")
            return
        }
        #expect(datagram.source.port == 53 && datagram.destination.port == 5000)
        #expect(Array(frame[datagram.payload]) == bytes("ping") && datagram.payloadLength == 4)
        let icmp = PacketBuilder.ethernet(segment.ipv4(protocolNumber: 1, content: [8, 0]))
        #expect(
            try icmp.decoded()
                == .otherIP(
                    source: IPAddress(v4: 0x0a00_0001), destination: IPAddress(v4: 0x0a00_0002), protocolNumber: 1))
        #expect(try PacketBuilder.ethernet([0, 1], type: 0x0806).decoded() == .notIP(etherType: 0x0806))
    }

    @Test func knownOptionsAreRead() throws {
        var builder = segment
        builder.tcpOptions =
            [2, 4, 5, 0xb4, 1, 3, 3, 7, 4, 2] + [8, 10, 0, 0, 0, 1, 0, 0, 0, 2] + [5, 10, 0, 0, 0, 3, 0, 0, 0, 9]
            + [34, 4, 1, 2]
        let tcp = try #require(try builder.ipv4().decodedTCP(.raw))
        #expect(tcp.options.maximumSegmentSize == 1460 && tcp.options.windowScale == 7 && tcp.options.isSACKPermitted)
        #expect(tcp.options.timestamp == TCPTimestamp(value: 1, echo: 2) && tcp.options.fastOpenCookieLength == 2)
        #expect(tcp.options.sack.blocks == [SACKBlock(start: SequenceNumber(3), end: SequenceNumber(9))])
        #expect(!tcp.options.isMalformed && tcp.payloadLength == 5)
    }

    @Test(arguments: [[2], [2, 0, 0, 0], [2, 1], [2, 40, 0, 0], [5, 3, 0, 0], [3, 4, 1, 1]] as [[UInt8]])
    func damagedOptionsAreMarked(options: [UInt8]) throws {
        var builder = segment
        builder.tcpOptions = options.count == 1 ? [1, 1, 1, 2] : options
        let tcp = try #require(try builder.ipv4().decodedTCP(.raw))
        #expect(tcp.options.isMalformed && tcp.payloadLength == 5)
    }

    @Test func impossibleHeadersAreMalformed() {
        var noHeader = segment.tcp
        noHeader[12] = 0x40
        #expect(throws: PacketError.malformed(.tcp, offset: 32)) {
            try segment.ipv4(content: noHeader).decoded(.raw)
        }
        noHeader[12] = 0xf0
        #expect(throws: PacketError.malformed(.tcp, offset: 32)) {
            try segment.ipv4(content: noHeader).decoded(.raw)
        }
        #expect(throws: PacketError.malformed(.ipv4, offset: 0)) { try segment.ipv4(totalLength: 19).decoded(.raw) }
        #expect(throws: PacketError.malformed(.tcp, offset: 20)) { try segment.ipv4(totalLength: 30).decoded(.raw) }
        #expect(throws: PacketError.endsInside(.tcp, offset: 30)) {
            try Array(segment.ipv4().prefix(30)).decoded(.raw)
        }
        #expect(throws: PacketError.unknownLinkType(LinkType(rawValue: 147))) {
            try segment.ipv4().decoded(LinkType(rawValue: 147))
        }
        let tags = Array(repeating: [0x81, 0x00, 0, 1] as [UInt8], count: 40).flatMap(\.self)
        #expect(throws: PacketError.tooManyHeaders(offset: 78)) {
            try PacketBuilder.ethernet(segment.ipv4(), tags: tags).decoded()
        }
    }

    /// For arbitrary bytes, the decoder returns or throws, and all ranges are within the packet.
    @Test func hostileBytesNeverTrap() {
        var random = SeededRandom(seed: 20)
        var builder = segment
        builder.tcpOptions = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]
        let links: [LinkType] = [.ethernet, .raw, .null, .loop, .linuxSLL, .linuxSLL2]
        let seeds = [
            PacketBuilder.ethernet(builder.ipv4()), PacketBuilder.ethernet(builder.ipv6(), type: 0x86dd),
            PacketBuilder.ethernet([0, 1, 1, 64] + builder.ipv4(), type: 0x8847), builder.ipv6(), builder.ipv4(),
        ]
        var decoded = 0
        for round in 0..<40_000 {
            var packet = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                packet[Int.random(in: 0..<packet.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 3 == 0 { packet.removeLast(Int.random(in: 0...packet.count, using: &random)) }
            let length = Int.random(in: -1...packet.count * 2, using: &random)
            // Packets that can't be decoded are skipped, because only the ranges in results are checked.
            guard let result = try? packet.decoded(links[round % links.count], originalLength: length) else { continue }
            decoded += 1
            switch result {
            case .tcp(let tcp): #expect(tcp.payload.upperBound <= packet.count && tcp.payloadLength >= 0)
            case .udp(let udp): #expect(udp.payload.upperBound <= packet.count && udp.payloadLength >= 0)
            case .fragment(let part): #expect(part.payload.upperBound <= packet.count && part.payloadLength >= 0)
            case .otherIP, .notIP, .icmp, .other: break
            }
        }
        #expect(decoded > 1_000)
    }
}
