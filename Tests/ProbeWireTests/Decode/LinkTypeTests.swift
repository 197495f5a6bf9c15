import ProbeBase
import ProbeWire
import Testing

/// Tests that decode a segment in a frame of every supported link type.
struct LinkTypeTests {
    private static let segment = PacketBuilder(payload: bytes("hello"))
    private static let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
    /// An NFLOG prefix attribute, which precedes the attribute with the packet.
    private static let prefix: [UInt8] = [9, 0, 10, 0] + bytes("in: \0") + [0, 0, 0]

    /// Returns a frame of each link type that contains an IPv4 datagram.
    private static func frames(_ ip: [UInt8]) -> [(LinkType, [UInt8])] {
        let addresses = [UInt8](repeating: 1, count: 18)
        let data: [UInt8] = .joined([0x08, 0x01, 0, 0], addresses, [0x10, 0])
        let qosHead: [UInt8] = .joined([0x88, 0x01, 0, 0], addresses, [0x10, 0])
        let qos: [UInt8] = .joined(qosHead, [0, 0])
        let llc: [UInt8] = .joined(snap, ip)
        let pppoe: [UInt8] = .joined([0x11, 0, 0, 1], PacketBuilder.big(UInt16(ip.count + 2)), [0x00, 0x21])
        let length = PacketBuilder.big(UInt16(ip.count + 4))
        let ppp: [UInt8] = .joined([0xff, 3, 0, 0x21], ip)
        var frames: [(LinkType, [UInt8])] = [
            (.null, .joined([2, 0, 0, 0], ip)), (.loop, .joined([0, 0, 0, 2], ip)),
            (.ethernet, PacketBuilder.ethernet(ip)), (.raw, ip), (.rawDLT, ip), (.rawOpenBSD, ip), (.ipv4, ip),
            (.linuxSLL, .joined(.zeros(14), [8, 0], ip)), (.linuxSLL2, .joined([8, 0], .zeros(18), ip)),
            (.ppp, ppp), (.ppp, .joined([0, 0x21], ip)), (.ppp, .joined([0x21], ip)),
            (.pppHDLC, ppp), (.pppHDLC, .joined([0x0f, 0, 8, 0], ip)), (.pppd, .joined([0, 3, 0, 0x21], ip)),
            (.pppWithDirection, .joined([1], ppp)), (.pppWithDirection, .joined([0, 0, 0x21], ip)),
            (.pppoe, .joined(pppoe, ip, [9, 9])), (.ciscoHDLC, .joined([0x0f, 0, 8, 0], ip)),
            (.ciscoHDLC, .joined([0x8f, 0, 8, 0], ip)), (.atmRFC1483, llc), (.fddi, .joined(.zeros(13), llc)),
            (.appleIPOver1394, .joined(.zeros(16), [8, 0], ip)), (.pflog, .joined([61], .zeros(63), ip)),
            (.enc, .joined(.zeros(12), ip)),
            (.nflog, .joined([2, 0, 0, 5], prefix, length.reversed(), [9, 0], ip)),
            (.nflog, .joined([2, 0, 0, 5, 0, 8, 0, 1, 8, 0, 0, 0], length, [0, 9], ip)),
        ]
        frames += [
            (.wireless, .joined(data, llc)), (.wireless, .joined(qos, llc)),
            (.wireless, .joined([0x88, 0x03, 0, 0], addresses, [0x10, 0], .zeros(6), [0, 0], llc)),
            // The following frames have an HT Control field and carry an A-MSDU with a single packet.
            (.wireless, .joined([0x88, 0x81, 0, 0], addresses, [0x10, 0, 0, 0], .zeros(4), llc)),
            (
                .wireless,
                .joined(qosHead, [0x80, 0], .zeros(12), PacketBuilder.big(UInt16(ip.count + 8)), llc)
            ),
            // The first radiotap header has no fields. The second header has a timestamp and flags after two presence
            // words, and its flags state that the 802.11 header is padded.
            (.wirelessRadiotap, .joined([0, 0, 8, 0, 0, 0, 0, 0], data, llc)),
            (
                .wirelessRadiotap,
                .joined(
                    [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0], .zeros(8), [0x20], qos, [0, 0], llc)
            ),
            (.wirelessPrism, .joined([0, 0, 0, 0x44, 16, 0, 0, 0], .zeros(8), data, llc)),
            (.wirelessAVS, .joined([0x80, 0x21, 0x10, 1, 0, 0, 0, 16], .zeros(8), data, llc)),
            (.ppi, .joined([0, 0, 12, 0, 105, 0, 0, 0], [1, 2, 3, 4], data, llc)),
            (.ppi, .joined([0, 0, 8, 0, 1, 0, 0, 0], PacketBuilder.ethernet(ip))),
        ]
        return frames
    }

    @Test func everyLinkTypeIsDecoded() throws {
        for (type, frame) in Self.frames(Self.segment.ipv4()) {
            let tcp = try #require(try frame.decodedTCP(type), "\(type)")
            #expect(Array(frame[tcp.payload]) == bytes("hello") && tcp.payloadLength == 5, "\(type)")
        }
        let six = Self.segment.ipv6()
        #expect(try six.decodedTCP(.ipv6)?.payloadLength == 5)
        #expect(try [UInt8].joined([0, 0x57], six).decodedTCP(.ppp)?.payloadLength == 5)
    }

    /// The retry bit of an 802.11 frame shows that the packet may have been captured before.
    @Test(arguments: [false, true])
    func wirelessRetriesAreRecognized(isRetry: Bool) throws {
        let head: [UInt8] = .joined([0x08, isRetry ? 0x09 : 0x01, 0, 0], [UInt8](repeating: 1, count: 18), [0x10, 0])
        let frame: [UInt8] = .joined(head, Self.snap, Self.segment.ipv4())
        #expect(try frame.decodedTCP(.wireless)?.isWirelessRetry == isRetry)
    }

    @Test func everySupportedTypeIsTested() {
        let tested = Set(Self.frames([]).map(\.0) + [.ipv6])
        #expect(LinkType.supported.allSatisfy { tested.contains($0.type) })
        #expect(LinkType.supported.allSatisfy { $0.type.name == $0.name })
    }

    /// At each length, the decoder returns or throws. It never mistakes a truncated frame for a complete one.
    @Test func truncatedFramesAreDetected() throws {
        for (type, frame) in Self.frames(Self.segment.ipv4()) {
            let start = try #require(try frame.decodedTCP(type)).payload.lowerBound
            for length in 0..<start {
                let cut = Array(frame[..<length])
                let isWhole = (try? cut.decodedTCP(type, originalLength: frame.count)) ?? nil != nil
                #expect(!isWhole, "\(type) cut to \(length) bytes")
            }
        }
    }

    @Test(
        arguments: [
            ([0x80, 0], .wirelessControl), ([0xd4, 0], .wirelessControl), ([0x48, 0x01], .wirelessControl),
            ([0xc8, 0x01], .wirelessControl), ([0x08, 0x41], .encryptedWireless), ([0x88, 0x42], .encryptedWireless),
            ([0x08, 0x05], .wirelessFragment),
        ] as [([UInt8], OtherPacket)])
    func wirelessFramesWithoutReadableDataAreNamed(control: [UInt8], expected: OtherPacket) throws {
        let frame: [UInt8] = .joined(control, .zeros(60))
        #expect(try frame.decoded(.wireless) == .other(expected))
        #expect(
            try [UInt8].joined([0, 0, 9, 0, 2, 0, 0, 0, 0x40], frame).decoded(.wirelessRadiotap)
                == .other(.damagedWireless))
    }

    /// A frame that contains several packets is reported as a frame with several packets, because it can't be decoded
    /// as one segment.
    @Test func aggregatesAreNamed() throws {
        let part: [UInt8] = .joined(.zeros(12), PacketBuilder.big(UInt16(53)), Self.snap, Self.segment.ipv4())
        let frame: [UInt8] = .joined([0x88, 0x01], .zeros(22), [0x80, 0], part, [0, 0, 0], part)
        #expect(try frame.decoded(.wireless) == .other(.wirelessAggregate))
    }

    @Test(
        arguments: [(0x002d, .compressedHeaders), (0x003d, .compressedHeaders), (0x00fd, .encryptedPPP)]
            as [(UInt16, OtherPacket)])
    func unreadablePPPIsNamed(type: UInt16, expected: OtherPacket) throws {
        let frame: [UInt8] = .joined([0xff, 3], PacketBuilder.big(type), .zeros(20))
        #expect(try frame.decoded(.ppp) == .other(expected))
        #expect(try ([0xc0, 0x21, 1, 1, 0, 4] as [UInt8]).decoded(.ppp) == .notIP(etherType: 0x8864))
    }

    @Test func unknownLinkTypeIsNamed() {
        #expect(throws: PacketError.unknownLinkType(LinkType(rawValue: 147))) {
            try [UInt8](repeating: 0, count: 60).decoded(LinkType(rawValue: 147))
        }
        #expect(LinkType(rawValue: 147).description == "link type 147 (USER0)")
        #expect(LinkType(rawValue: 4_000).description == "link type 4000")
        // PPI inside PPI is rejected, because it could be nested indefinitely.
        #expect(throws: PacketError.unknownLinkType(.ppi)) {
            try [UInt8].joined([0, 0, 8, 0, 192, 0, 0, 0], .zeros(60)).decoded(.ppi)
        }
    }
}
