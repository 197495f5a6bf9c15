import ProbeBase
import ProbeWire
import Testing

/// Every link type that the decoder knows, with a segment in a frame of that type.
struct LinkTypeTests {
    private static let segment = PacketBuilder(payload: bytes("hello"))
    private static let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
    /// NFLOG's attributes: a prefix, and the packet.
    private static let prefix: [UInt8] = [7, 0, 10, 0] + bytes("in: \0") + [0, 0, 0]

    /// A frame of each type around an IPv4 datagram.
    private static func frames(_ ip: [UInt8]) -> [(LinkType, [UInt8])] {
        let data: [UInt8] = [0x08, 0x01, 0, 0] + Array(repeating: 1, count: 18) + [0x10, 0]
        let qos: [UInt8] = [0x88, 0x01, 0, 0] + Array(repeating: 1, count: 18) + [0x10, 0, 0, 0]
        let fourAddresses: [UInt8] = [0x88, 0x83, 0, 0] + Array(repeating: 1, count: 18) + [0x10, 0]
        let pppoe: [UInt8] = [0x11, 0, 0, 1] + PacketBuilder.big(UInt16(ip.count + 2)) + [0x00, 0x21]
        let length = UInt16(ip.count + 4)
        let nflog =
            [2, 0, 0, 5] as [UInt8] + Self.prefix
            + [UInt8(length & 255), UInt8(length >> 8), 9, 0]
        let bigNflog: [UInt8] = [2, 0, 0, 5, 0, 8, 0, 1, 8, 0, 0, 0] + PacketBuilder.big(length) + [0, 9]
        let cooked: [UInt8] = Array(repeating: 0, count: 14) + [8, 0]
        return [
            (.null, [2, 0, 0, 0] + ip), (.loop, [0, 0, 0, 2] + ip), (.ethernet, PacketBuilder.ethernet(ip)),
            (.raw, ip), (.rawDLT, ip), (.rawOpenBSD, ip), (.ipv4, ip), (.linuxSLL, cooked + ip),
            (.linuxSLL2, [8, 0] + Array(repeating: 0, count: 18) + ip),
            (.ppp, [0xff, 3, 0, 0x21] + ip), (.ppp, [0, 0x21] + ip), (.ppp, [0x21] + ip),
            (.pppHDLC, [0xff, 3, 0, 0x21] + ip), (.pppHDLC, [0x0f, 0, 8, 0] + ip),
            (.pppd, [0, 3, 0, 0x21] + ip), (.pppWithDirection, [1, 0xff, 3, 0, 0x21] + ip),
            (.pppWithDirection, [0, 0, 0x21] + ip), (.pppoe, pppoe + ip + [9, 9]),
            (.ciscoHDLC, [0x0f, 0, 8, 0] + ip), (.ciscoHDLC, [0x8f, 0, 8, 0] + ip), (.atmRFC1483, snap + ip),
            (.fddi, Array(repeating: 0, count: 13) + snap + ip),
            (.appleIPOver1394, Array(repeating: 0, count: 16) + [8, 0] + ip),
            (.pflog, [61] + Array(repeating: 0, count: 63) + ip), (.enc, Array(repeating: 0, count: 12) + ip),
            (.nflog, nflog + ip), (.nflog, bigNflog + ip),
            (.wireless, data + snap + ip), (.wireless, qos + snap + ip),
            (.wireless, fourAddresses + Array(repeating: 2, count: 6) + [0, 0] + snap + ip),
            // With HT control, and in an A-MSDU of its own.
            (.wireless, [0x88, 0x81] + qos.dropFirst(2) + [0, 0, 0, 0] + snap + ip),
            (
                .wireless,
                qos.dropLast(2) + [0x80, 0] + Array(repeating: 3, count: 12)
                    + PacketBuilder.big(UInt16(ip.count + 8)) + snap + ip
            ),
            // Without fields; with a time stamp and flags after two words of presence: the header is padded.
            (.wirelessRadiotap, [0, 0, 8, 0, 0, 0, 0, 0] + data + snap + ip),
            (
                .wirelessRadiotap,
                [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 7, count: 8) + [0x20] + qos
                    + [0, 0] + snap + ip
            ),
            (.wirelessPrism, [0, 0, 0, 0x44, 16, 0, 0, 0] + Array(repeating: 0, count: 8) + data + snap + ip),
            (.wirelessAVS, [0x80, 0x21, 0x10, 1, 0, 0, 0, 16] + Array(repeating: 0, count: 8) + data + snap + ip),
            (.ppi, [0, 0, 12, 0, 105, 0, 0, 0] + [1, 2, 3, 4] + data + snap + ip),
            (.ppi, [0, 0, 8, 0, 1, 0, 0, 0] + PacketBuilder.ethernet(ip)),
        ]
    }

    @Test func segmentIsFoundInEachLinkType() throws {
        for (type, frame) in Self.frames(Self.segment.ipv4()) {
            let tcp = try #require(try frame.decodedTCP(type), "\(type)")
            #expect(Array(frame[tcp.payload]) == bytes("hello") && tcp.payloadLength == 5, "\(type)")
        }
        let six = Self.segment.ipv6()
        #expect(try six.decodedTCP(.ipv6)?.payloadLength == 5)
        #expect(try ([0, 0x57] + six).decodedTCP(.ppp)?.payloadLength == 5)
    }

    @Test func eachSupportedTypeHasATest() {
        let tested = Set(Self.frames([]).map(\.0) + [.ipv6])
        #expect(LinkType.supported.allSatisfy { tested.contains($0.type) })
        #expect(LinkType.supported.allSatisfy { $0.type.name == $0.name })
    }

    /// At each length the decoder returns or throws; a frame without its end is never taken for a whole one.
    @Test func cutFramesAreTruncated() throws {
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
        let frame = control + Array(repeating: 0, count: 60)
        #expect(try frame.decoded(.wireless) == .other(expected))
        #expect(try ([0, 0, 9, 0, 2, 0, 0, 0, 0x40] + frame).decoded(.wirelessRadiotap) == .other(.damagedWireless))
    }

    /// Several packets in one frame can't be one segment.
    @Test func aggregatesAreNamed() throws {
        let part = Array(repeating: 3, count: 12) as [UInt8] + PacketBuilder.big(UInt16(53)) + Self.snap
        let ip = Self.segment.ipv4()
        let head: [UInt8] = [0x88, 0x01] + Array(repeating: 0, count: 22) + [0x80, 0]
        #expect(try (head + part + ip + [0, 0, 0] + part + ip).decoded(.wireless) == .other(.wirelessAggregate))
    }

    @Test(
        arguments: [(0x002d, .compressedHeaders), (0x003d, .compressedHeaders), (0x00fd, .encryptedPPP)]
            as [(UInt16, OtherPacket)])
    func unreadablePPPIsNamed(type: UInt16, expected: OtherPacket) throws {
        let known: UInt16 = 0x00fd
        // A protocol whose first byte is 0 may be sent in one byte: the odd one ends it.
        let frame = [0xff, 3] + PacketBuilder.big(type) + Array(repeating: 1, count: 20)
        #expect(try frame.decoded(.ppp) == .other(expected), "\(type == known)")
        #expect(try ([0xc0, 0x21, 1, 1, 0, 4] as [UInt8]).decoded(.ppp) == .notIP(etherType: 0x8864))
    }

    @Test func unknownLinkTypeIsNamed() {
        #expect(throws: PacketError.unknownLinkType(LinkType(rawValue: 147))) {
            try [UInt8](repeating: 0, count: 60).decoded(LinkType(rawValue: 147))
        }
        #expect(LinkType(rawValue: 147).description == "link type 147 (USER0)")
        #expect(LinkType(rawValue: 4_000).description == "link type 4000")
        // PPI in PPI would have no end.
        #expect(throws: PacketError.unknownLinkType(.ppi)) {
            try ([0, 0, 8, 0, 192, 0, 0, 0] as [UInt8] + Array(repeating: 0, count: 60)).decoded(.ppi)
        }
    }
}
