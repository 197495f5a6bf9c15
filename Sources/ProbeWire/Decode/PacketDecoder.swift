import ProbeBase

/// Decodes one captured packet down to its transport header.
///
/// The decoder never traps, whatever the bytes are, and takes time linear in the length of the headers. It keeps no
/// state between packets: fragments are returned, and `FragmentReassembler` joins them.
///
/// The shortest of the lengths in a packet's headers determines where the packet ends. If the length in a PPPoE or
/// 802.3 header is less than the IP datagram's length, the datagram is shortened accordingly, and the bytes after it
/// are padding. The frame's own length does not limit the datagram, because some programs store the captured length as
/// both lengths of a record. A datagram that is longer than its frame was therefore cut short by the capture.
package enum PacketDecoder {
    /// Decodes a captured packet, beginning with its link-layer header.
    ///
    /// - Parameter originalLength: the packet's length on the wire; a value below `bytes.count` is replaced with
    ///   `bytes.count`.
    package static func decode(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, tunnels: TunnelReading = .ignored
    ) throws(PacketError) -> DecodedPacket {
        let extent = PacketExtent(wireEnd: max(originalLength, bytes.count), reading: tunnels)
        switch linkType {
        case .ethernet:
            guard let etherType = bytes.big16(at: 12) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, etherType: etherType, at: 14, extent)
        case .null, .loop:
            return try decodeLoopback(bytes, extent)
        case .linuxSLL:
            guard let etherType = bytes.big16(at: 14) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, cookedType: etherType, at: 16, extent)
        case .linuxSLL2:
            guard let etherType = bytes.big16(at: 0), bytes.count >= 20 else {
                throw .endsInside(.link, offset: bytes.count)
            }
            return try decode(bytes, cookedType: etherType, at: 20, extent)
        default:
            return try decodeLink(bytes, linkType, at: 0, extent)
        }
    }

    /// Decodes a datagram that was reassembled from its fragments. `bytes` is the datagram's payload after the IP
    /// header.
    package static func decode(
        reassembled bytes: Span<UInt8>, of fragment: IPFragment, length: Int, tunnels: TunnelReading = .ignored
    ) throws(PacketError) -> DecodedPacket {
        let end = max(length, bytes.count)
        return try decodeTransport(
            bytes, protocolNumber: fragment.protocolNumber, at: 0, end: end,
            PacketExtent(wireEnd: end, reading: tunnels),
            source: fragment.source, destination: fragment.destination
        )
    }

    /// Decodes an address family (in the byte order of the capturing system), followed by an IP datagram. The IP
    /// version is taken from the datagram, because the address family of IPv6 differs between systems (10, 24, 28, 30).
    private static func decodeLoopback(_ bytes: Span<UInt8>, _ extent: PacketExtent) throws(PacketError)
        -> DecodedPacket
    {
        guard let family = bytes.big32(at: 0) else { throw .endsInside(.link, offset: bytes.count) }
        let known: Set<UInt32> = [2, 10, 24, 28, 30]
        guard known.contains(family) || known.contains(family.byteSwapped) else {
            return .notIP(etherType: UInt16(truncatingIfNeeded: family))
        }
        return try decodeIP(bytes, at: 4, extent)
    }

    static let maxTags = 16

    /// Decodes a packet according to the protocol number in its cooked-capture header. Small numbers are not lengths: 4
    /// stands for a frame that begins with an LLC header (LINKTYPE_LINUX_SLL).
    private static func decode(
        _ bytes: Span<UInt8>, cookedType: UInt16, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard cookedType <= longestLength else { return try decode(bytes, etherType: cookedType, at: start, extent) }
        guard let inner = snapType(bytes, at: start) else { return .notIP(etherType: cookedType) }
        return try decode(bytes, etherType: inner, at: start + 8, extent)
    }

    /// Returns the EtherType in a SNAP header (RFC 1042); `nil` for any other LLC header.
    static func snapType(_ bytes: Span<UInt8>, at offset: Int) -> UInt16? {
        guard bytes.big32(at: offset) == 0xaaaa_0300, bytes.big16(at: offset + 4) == 0,
            let inner = bytes.big16(at: offset + 6), inner > longestLength
        else { return nil }
        return inner
    }

    /// The largest value of an Ethernet type field that denotes a length rather than a type (IEEE 802.3, section
    /// 3.2.6).
    private static let longestLength: UInt16 = 1500

    /// Decodes a packet according to its EtherType. Skips VLAN tags (IEEE 802.1Q, 802.1ad), the tags of provider
    /// bridges and FabricPath, E-TAGs and VN-Tags, MPLS labels (RFC 3032), PPPoE headers (RFC 2516) and SNAP headers
    /// (RFC 1042).
    @inline(__always)
    static func decode(
        _ bytes: Span<UInt8>, etherType: UInt16, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var type = etherType
        var offset = start
        var extent = extent
        for _ in 0..<maxTags {
            switch type {
            case 0x0800, 0x86dd:
                return try decodeIP(bytes, at: offset, extent)
            case 0x8100, 0x88a8, 0x9100, 0x9200:
                guard let inner = bytes.big16(at: offset + 2) else { throw .endsInside(.vlan, offset: bytes.count) }
                type = inner
                offset += 4
            case 0x8847, 0x8848:
                return try decodeMPLS(bytes, at: offset, extent)
            case 0x8864:
                return try decodePPPoE(bytes, at: offset, extent)
            case 0...longestLength:
                guard let inner = snapType(bytes, at: offset) else { return .notIP(etherType: type) }
                extent = extent.bounded(by: offset + Int(type))
                type = inner
                offset += 8
            case 0x88e7, 0x8903, 0x8926, 0x893f:
                let length = bridgeTagLength(type)
                guard let inner = bytes.big16(at: offset + length - 2) else {
                    throw .endsInside(.vlan, offset: bytes.count)
                }
                type = inner
                offset += length
            default:
                return .notIP(etherType: type)
            }
        }
        throw .tooManyHeaders(offset: offset)
    }

    /// Returns the number of bytes from the start of a bridge tag to the end of the type field that follows the tag.
    private static func bridgeTagLength(_ type: UInt16) -> Int {
        let addresses = 12
        return switch type {
        case 0x88e7: 4 + addresses + 2  // service instance tag (IEEE 802.1Q, section 9.7), then the encapsulated frame
        case 0x8903: 2 + addresses + 2  // Cisco's FabricPath tag, then the encapsulated frame
        case 0x893f: 6 + 2  // E-TAG (IEEE 802.1BR, section 7.5)
        default: 4 + 2  // VN-Tag
        }
    }

    static func decodeMPLS(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var offset = start
        for _ in 0..<maxTags {
            guard let label = bytes.big32(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            offset += 4
            guard label & 0x100 != 0 else { continue }  // not the bottom of the label stack
            guard let first = bytes.byte(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            // MPLS labels do not identify the protocol of the payload, so the payload's first nibble determines the
            // protocol, as it does in routers (RFC 4928).
            return first >> 4 == 4 || first >> 4 == 6
                ? try decodeIP(bytes, at: offset, extent) : .notIP(etherType: 0x8847)
        }
        throw .tooManyHeaders(offset: offset)
    }

    static func decodePPPoE(
        _ bytes: Span<UInt8>, at offset: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let length = bytes.big16(at: offset + 4) else { throw .endsInside(.pppoe, offset: bytes.count) }
        return try decodePPP(bytes, at: offset + 6, extent.bounded(by: offset + 6 + Int(length)))
    }

    // MARK: IP

    static func decodeIP(_ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent) throws(PacketError)
        -> DecodedPacket
    {
        guard let first = bytes.byte(at: start) else { throw .endsInside(.link, offset: bytes.count) }
        switch first >> 4 {
        case 4: return try decodeIPv4(bytes, at: start, extent)
        case 6: return try decodeIPv6(bytes, at: start, extent)
        default: throw .malformed(.ipv4, offset: start)
        }
    }

    /// Decodes an IPv4 datagram (RFC 791, section 3.1).
    @inline(__always)
    private static func decodeIPv4(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let source = bytes.big32(at: start + 12), let destination = bytes.big32(at: start + 16),
            let first = bytes.byte(at: start), let totalLength = bytes.big16(at: start + 2),
            let identification = bytes.big16(at: start + 4), let fragmentation = bytes.big16(at: start + 6),
            let hopLimit = bytes.byte(at: start + 8), let protocolNumber = bytes.byte(at: start + 9)
        else { throw .endsInside(.ipv4, offset: bytes.count) }
        let headerLength = Int(first & 15) * 4
        // The total length is 0 if the packet was captured before the network card segmented it (TSO), or if the packet
        // is longer than 64 KiB (BIG TCP).
        let end = extent.end(of: start, length: Int(totalLength))
        guard headerLength >= 20, start + headerLength <= end else { throw .malformed(.ipv4, offset: start) }
        let offset = Int(fragmentation & 0x1fff) * 8
        let hasMore = fragmentation & 0x2000 != 0
        if offset > 0 || hasMore {
            return .fragment(
                IPFragment(
                    source: IPAddress(v4: source), destination: IPAddress(v4: destination),
                    identification: UInt32(identification), protocolNumber: protocolNumber, offset: offset,
                    hasMore: hasMore, payload: captured(start + headerLength..<end, of: bytes),
                    payloadLength: end - start - headerLength
                ))
        }
        return try decodeTransport(
            bytes, protocolNumber: protocolNumber, at: start + headerLength, end: end, extent,
            source: IPAddress(v4: source), destination: IPAddress(v4: destination), identification: identification,
            hopLimit: hopLimit
        )
    }

    /// Decodes an IPv6 datagram (RFC 8200, sections 3 and 4).
    private static func decodeIPv6(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let source = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 8..<start + 24))),
            let destination = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 24..<start + 40))),
            let payloadLength = bytes.big16(at: start + 4), var next = bytes.byte(at: start + 6),
            let hopLimit = bytes.byte(at: start + 7)
        else { throw .endsInside(.ipv6, offset: bytes.count) }
        // The payload length is 0 for a jumbogram (RFC 2675), and for a packet larger than 64 KiB that has not been
        // segmented yet (TSO).
        let end = extent.end(of: start + 40, length: Int(payloadLength))
        guard start + 40 <= end else { throw .malformed(.ipv6, offset: start) }
        var offset = start + 40
        for _ in 0..<maxTags {
            switch next {
            case 0, 43, 60, 135, 139, 140:
                guard let following = bytes.byte(at: offset), let length = bytes.byte(at: offset + 1) else {
                    throw .endsInside(.ipv6, offset: bytes.count)
                }
                next = following
                offset += 8 + Int(length) * 8
            case 51:  // AH (RFC 4302, section 2.2), whose length field counts 4-byte words
                guard let following = bytes.byte(at: offset), let length = bytes.byte(at: offset + 1) else {
                    throw .endsInside(.ipv6, offset: bytes.count)
                }
                next = following
                offset += 8 + Int(length) * 4
            case 44:
                guard let following = bytes.byte(at: offset), let word = bytes.big16(at: offset + 2),
                    let identification = bytes.big32(at: offset + 4)
                else { throw .endsInside(.ipv6, offset: bytes.count) }
                offset += 8
                next = following
                if word & 0xfff9 == 0 { continue }  // an atomic fragment is a complete datagram (RFC 6946)
                guard offset <= end else { throw .malformed(.ipv6, offset: start) }
                return .fragment(
                    IPFragment(
                        source: source, destination: destination, identification: identification,
                        protocolNumber: following, offset: Int(word & 0xfff8), hasMore: word & 1 != 0,
                        payload: captured(offset..<end, of: bytes), payloadLength: end - offset
                    ))
            default:
                return try decodeTransport(
                    bytes, protocolNumber: next, at: offset, end: end, extent, source: source, destination: destination,
                    hopLimit: hopLimit
                )
            }
        }
        throw .tooManyHeaders(offset: offset)
    }

    // MARK: Transport

    /// Decodes a transport header. `end` is the end of the datagram on the wire; the bytes after it are padding.
    @inline(__always)
    private static func decodeTransport(
        _ bytes: Span<UInt8>, protocolNumber: UInt8, at start: Int, end: Int, _ extent: PacketExtent, source: IPAddress,
        destination: IPAddress, identification: UInt16 = 0, hopLimit: UInt8 = 0
    ) throws(PacketError) -> DecodedPacket {
        if protocolNumber == 6 {
            var tcp = try decodeTCP(bytes, at: start, end: end, source: source, destination: destination)
            tcp.identification = identification
            tcp.hopLimit = hopLimit
            return .tcp(tcp)
        }
        return try decodeOther(
            bytes, protocolNumber: protocolNumber, at: start, end: end, extent, source: source, destination: destination
        )
    }

    @inline(never)
    private static func decodeOther(
        _ bytes: Span<UInt8>, protocolNumber: UInt8, at start: Int, end: Int, _ extent: PacketExtent, source: IPAddress,
        destination: IPAddress
    ) throws(PacketError) -> DecodedPacket {
        switch protocolNumber {
        case 17:
            guard let sourcePort = bytes.big16(at: start), let destinationPort = bytes.big16(at: start + 2),
                let length = bytes.big16(at: start + 4)
            else { throw .endsInside(.udp, offset: bytes.count) }
            let payloadEnd = length == 0 ? end : min(end, start + Int(length))
            guard payloadEnd >= start + 8 else { throw .malformed(.udp, offset: start) }
            if extent.reading != .ignored, mayBeTunnel(port: destinationPort),
                let inner = try decodeTunnel(bytes, port: destinationPort, at: start + 8, end: payloadEnd, extent)
            {
                return inner
            }
            return .udp(
                DecodedUDP(
                    source: SocketEndpoint(address: source, port: sourcePort),
                    destination: SocketEndpoint(address: destination, port: destinationPort),
                    payload: captured(start + 8..<payloadEnd, of: bytes), payloadLength: payloadEnd - start - 8
                ))
        case 4, 41:
            if extent.reading != .ignored { return try decodeIPInIP(bytes, at: start, end: end, extent) }
        case 47:
            if extent.reading != .ignored { return try decodeGRE(bytes, at: start, end: end, extent) }
        case 50: return .other(.encryptedIP)
        case 1, 58:
            if let error = ICMPError(bytes, isV6: protocolNumber == 58, at: start, from: source) { return .icmp(error) }
        default: break
        }
        return .otherIP(source: source, destination: destination, protocolNumber: protocolNumber)
    }

    /// Decodes a TCP segment (RFC 9293, section 3.1). If the capture cut the options short, the options that are
    /// present are read.
    private static func decodeTCP(
        _ bytes: Span<UInt8>, at start: Int, end: Int, source: IPAddress, destination: IPAddress
    ) throws(PacketError) -> DecodedTCP {
        guard start + 20 <= end else { throw .malformed(.tcp, offset: start) }
        guard let ports = bytes.big32(at: start), let sequence = bytes.big32(at: start + 4),
            let acknowledgment = bytes.big32(at: start + 8), let offsetAndFlags = bytes.big16(at: start + 12),
            let window = bytes.big16(at: start + 14), let checksum = bytes.big16(at: start + 16),
            let urgentPointer = bytes.big16(at: start + 18)
        else { throw .endsInside(.tcp, offset: bytes.count) }
        let headerLength = Int(offsetAndFlags >> 12) * 4
        guard headerLength >= 20, start + headerLength <= end else { throw .malformed(.tcp, offset: start + 12) }
        return DecodedTCP(
            source: SocketEndpoint(address: source, port: UInt16(truncatingIfNeeded: ports >> 16)),
            destination: SocketEndpoint(address: destination, port: UInt16(truncatingIfNeeded: ports)),
            sequence: SequenceNumber(sequence), acknowledgment: SequenceNumber(acknowledgment),
            flags: TCPFlags(rawValue: offsetAndFlags & 0x1ff), window: window, urgentPointer: urgentPointer,
            options: headerLength == 20
                ? TCPOptions()
                : TCPOptions(parsing: bytes.extracting(bytes.clamping(start + 20..<start + headerLength))),
            payload: captured(start + headerLength..<end, of: bytes), payloadLength: end - start - headerLength,
            checksum: checksum
        )
    }

    @inline(__always)
    private static func captured(_ range: Range<Int>, of bytes: Span<UInt8>) -> Range<Int> {
        range.clamped(to: 0..<bytes.count)
    }
}

/// Decodes the headers of link types other than Ethernet and plain IP.
extension PacketDecoder {
    static func decodeLink(
        _ bytes: Span<UInt8>, _ linkType: LinkType, at start: Int, _ extent: PacketExtent, isInner: Bool = false
    ) throws(PacketError) -> DecodedPacket {
        switch linkType {
        case .ethernet:
            guard let etherType = bytes.big16(at: start + 12) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, etherType: etherType, at: start + 14, extent)
        case .raw, .rawDLT, .rawOpenBSD, .ipv4, .ipv6:
            return try decodeIP(bytes, at: start, extent)
        case .ppp, .pppHDLC:
            return try decodePPPFrame(bytes, at: start, extent)
        case .pppd, .pppWithDirection:
            // In pppd's format, the byte for the direction replaces the address byte of HDLC.
            let isControl = bytes.byte(at: start + 1) == 3 && linkType == .pppd
            return try decodePPP(bytes, at: start + (isControl ? 2 : 1), extent)
        case .pppoe:
            return try decodePPPoE(bytes, at: start, extent)
        case .ciscoHDLC:
            return try decodeCiscoHDLC(bytes, at: start, extent)
        case .atmRFC1483:
            return try decodeLLC(bytes, at: start, extent)
        case .fddi:
            return try decodeLLC(bytes, at: start + 13, extent)
        case .appleIPOver1394:
            guard let etherType = bytes.big16(at: start + 16) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, etherType: etherType, at: start + 18, extent)
        case .pflog:
            // The length in the header excludes the padding to a multiple of four bytes.
            guard let length = bytes.byte(at: start) else { throw .endsInside(.link, offset: bytes.count) }
            return try decodeIP(bytes, at: start + (Int(length) + 3) & ~3, extent)
        case .enc:
            return try decodeIP(bytes, at: start + 12, extent)
        case .nflog:
            return try decodeNFLOG(bytes, at: start, extent)
        case .wireless:
            return try decodeWireless(bytes, at: start, isPadded: false, extent)
        case .wirelessRadiotap:
            return try decodeRadiotap(bytes, at: start, extent)
        case .wirelessPrism, .wirelessAVS:
            return try decodePrism(bytes, at: start, extent)
        case .ppi where !isInner:
            guard let length = bytes.little16(at: start + 2), let inner = bytes.little32(at: start + 4) else {
                throw .endsInside(.link, offset: bytes.count)
            }
            guard length >= 8 else { throw .malformed(.link, offset: start) }
            return try decodeLink(
                bytes, LinkType(rawValue: inner), at: start + Int(length), extent, isInner: true)
        default:
            throw .unknownLinkType(linkType)
        }
    }

    // MARK: PPP and HDLC

    /// Decodes a PPP frame with or without the two bytes of HDLC (RFC 1662, section 3.1), or a Cisco HDLC frame.
    private static func decodePPPFrame(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let head = bytes.big16(at: start) else { throw .endsInside(.link, offset: bytes.count) }
        if head == 0x0f00 || head == 0x8f00 { return try decodeCiscoHDLC(bytes, at: start, extent) }
        return try decodePPP(bytes, at: start, extent)
    }

    private static func decodeCiscoHDLC(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let type = bytes.big16(at: start + 2) else { throw .endsInside(.link, offset: bytes.count) }
        return try decode(bytes, etherType: type, at: start + 4, extent)
    }

    /// Decodes a PPP packet. The address and control fields may be omitted (RFC 1661, section 6.6), and so may the
    /// first byte of the protocol field if it is 0 (RFC 1661, section 6.5).
    static func decodePPP(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var offset = start
        if bytes.big16(at: offset) == 0xff03 { offset += 2 }
        guard let first = bytes.byte(at: offset) else { throw .endsInside(.link, offset: bytes.count) }
        var type = UInt16(first)
        offset += 1
        // The last byte of a PPP protocol number is odd, and all bytes before it are even.
        if first & 1 == 0 {
            guard let second = bytes.byte(at: offset) else { throw .endsInside(.link, offset: bytes.count) }
            type = type << 8 | UInt16(second)
            offset += 1
        }
        switch type {
        case 0x0021, 0x0057: return try decodeIP(bytes, at: offset, extent)
        case 0x0281, 0x0283: return try decodeMPLS(bytes, at: offset, extent)
        // These protocol numbers denote Van Jacobson, RFC 2507 and robust header compression, and fragments of packets
        // (multilink PPP).
        case 0x002d, 0x002f, 0x003d, 0x0003, 0x0005, 0x004f, 0x0061, 0x0063, 0x0065, 0x0067, 0x0069:
            return .other(.compressedHeaders)
        case 0x0053, 0x0055, 0x00fb, 0x00fd: return .other(.encryptedPPP)
        default: return .notIP(etherType: 0x8864)
        }
    }

    // MARK: NFLOG

    /// Decodes a list of attributes in the byte order of the capturing system (LINKTYPE_NFLOG). One of the attributes
    /// is the packet.
    private static func decodeNFLOG(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard bytes.count >= start + 4 else { throw .endsInside(.link, offset: bytes.count) }
        var offset = start + 4
        // Attribute types are small numbers, so the position of the zero byte reveals the byte order.
        let isLittle = bytes.byte(at: offset + 3) == 0
        while offset < bytes.count {
            guard
                let length = isLittle ? bytes.little16(at: offset) : bytes.big16(at: offset),
                let type = isLittle ? bytes.little16(at: offset + 2) : bytes.big16(at: offset + 2)
            else { throw .endsInside(.link, offset: bytes.count) }
            guard length >= 4 else { throw .malformed(.link, offset: offset) }
            // The two highest bits of an attribute type are netlink flags.
            if type & 0x3fff == 9 {
                return try decodeIP(bytes, at: offset + 4, extent.bounded(by: offset + Int(length)))
            }
            offset += (Int(length) + 3) & ~3
        }
        return .notIP(etherType: 0)
    }

    // MARK: 802.11

    /// Decodes a radiotap header (radiotap.org). Only its length and its flags field are read.
    private static func decodeRadiotap(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let length = bytes.little16(at: start + 2), let present = bytes.little32(at: start + 4) else {
            throw .endsInside(.link, offset: bytes.count)
        }
        guard length >= 8 else { throw .malformed(.link, offset: start) }
        var flags: UInt8 = 0
        if present & 2 != 0 {
            // Another presence word follows each presence word whose highest bit is set.
            var offset = start + 4
            while let word = bytes.little32(at: offset), offset < start + Int(length) {
                offset += 4
                if word & 0x8000_0000 == 0 { break }
            }
            // If there is a timestamp, it precedes the flags and is aligned to its own size.
            if present & 1 != 0 { offset = start + (offset - start + 7) & ~7 + 8 }
            if offset < start + Int(length) { flags = bytes.byte(at: offset) ?? 0 }
        }
        if flags & 0x40 != 0 { return .other(.damagedWireless) }
        return try decodeWireless(bytes, at: start + Int(length), isPadded: flags & 0x20 != 0, extent)
    }

    /// Decodes a Prism or AVS header. The length in a Prism header is in the byte order of the capturing system; the
    /// length in an AVS header is in network order.
    private static func decodePrism(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let big = bytes.big32(at: start + 4) else { throw .endsInside(.link, offset: bytes.count) }
        let length = min(big, big.byteSwapped)
        guard length >= 8, length <= 4_096 else { throw .malformed(.link, offset: start) }
        return try decodeWireless(bytes, at: start + Int(length), isPadded: false, extent)
    }

    /// Decodes an 802.11 frame (IEEE 802.11, sections 9.2 and 9.3.2). The header has 24 bytes, or more if it contains a
    /// fourth address, a QoS Control field or an HT Control field.
    private static func decodeWireless(
        _ bytes: Span<UInt8>, at start: Int, isPadded: Bool, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        let packet = try decodeWirelessFrame(bytes, at: start, isPadded: isPadded, extent)
        guard case .tcp(var tcp) = packet, let flags = bytes.byte(at: start + 1), flags & 0x08 != 0 else {
            return packet
        }
        tcp.isWirelessRetry = true
        return .tcp(tcp)
    }

    private static func decodeWirelessFrame(
        _ bytes: Span<UInt8>, at start: Int, isPadded: Bool, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let control = bytes.little16(at: start) else { throw .endsInside(.link, offset: bytes.count) }
        let subtype = control >> 4 & 15
        // Only data frames carry packets, and some of their subtypes carry no data.
        guard control & 0x0f == 0x08, subtype & 4 == 0 else { return .other(.wirelessControl) }
        let isQoS = subtype & 8 != 0
        guard let sequence = bytes.little16(at: start + 22) else { throw .endsInside(.link, offset: bytes.count) }
        var length = control & 0x0300 == 0x0300 ? 30 : 24
        var isAggregate = false
        if isQoS {
            guard let service = bytes.byte(at: start + length) else { throw .endsInside(.link, offset: bytes.count) }
            isAggregate = service & 0x80 != 0
            length += control & 0x8000 != 0 ? 6 : 2
        }
        if isPadded { length = (length + 3) & ~3 }
        if control & 0x4000 != 0 { return .other(.encryptedWireless) }
        if control & 0x0400 != 0 || sequence & 15 != 0 { return .other(.wirelessFragment) }
        guard isAggregate else { return try decodeLLC(bytes, at: start + length, extent) }
        // In an A-MSDU, addresses and a length precede each packet. An A-MSDU with a single packet can be read.
        guard let inner = bytes.big16(at: start + length + 12) else { throw .endsInside(.link, offset: bytes.count) }
        let end = start + length + 14 + Int(inner)
        // A check sequence of four bytes and up to three bytes of padding may follow the packet.
        guard extent.wireEnd - end <= 7 else { return .other(.wirelessAggregate) }
        return try decodeLLC(bytes, at: start + length + 14, extent.bounded(by: end))
    }

    private static func decodeLLC(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard bytes.count >= start + 3 else { throw .endsInside(.link, offset: bytes.count) }
        // A frame with an LLC header other than SNAP has no EtherType.
        guard let type = snapType(bytes, at: start) else { return .notIP(etherType: 0) }
        return try decode(bytes, etherType: type, at: start + 8, extent)
    }
}

/// Decodes tunnels. A packet in a tunnel is decoded as if it had been captured outside the tunnel.
///
/// The bytes between the end of the inner packet and the end of the outer packet are padding. An inner packet that is
/// longer than the outer packet was cut short by the device that mirrored it.
extension PacketDecoder {
    /// The UDP ports of VXLAN: the port that IANA assigned (RFC 7348), the port that Linux used before, and the port of
    /// VXLAN-GPE.
    static let vxlanPorts: [UInt16] = [4789, 8472, 4790]
    static let genevePort: UInt16 = 6081
    /// The UDP port of GTP-U, the user plane of mobile networks (3GPP TS 29.281, section 4.4.2).
    static let gtpPort: UInt16 = 2152

    /// Returns the extent of a tunnel's contents; `nil` if tunnels are not decapsulated.
    private static func inner(_ extent: PacketExtent, end: Int, offset: Int) throws(PacketError) -> PacketExtent? {
        guard extent.reading == .opened else { return nil }
        guard extent.tunnels > 0 else { throw .tooManyHeaders(offset: offset) }
        return PacketExtent(wireEnd: end, reading: .opened, tunnels: extent.tunnels - 1)
    }

    /// Decodes an IP datagram that is the payload of another IP datagram (RFC 2003, RFC 2473, RFC 4213).
    static func decodeIPInIP(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.ipInIP)) }
        return try decodeIP(bytes.extracting(bytes.clamping(0..<end)), at: start, inner)
    }

    // MARK: GRE

    /// Decodes GRE (RFC 2784, RFC 2890), including version 1, which PPTP uses (RFC 2637, section 4.1).
    static func decodeGRE(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let flags = bytes.big16(at: start), let type = bytes.big16(at: start + 2) else {
            throw .endsInside(.gre, offset: bytes.count)
        }
        let version = flags & 7
        let isMirror = version == 0 && (type == 0x88be || type == 0x22eb)
        guard let inner = try inner(extent, end: end, offset: start) else {
            return .other(.tunnel(isMirror ? .erspan : .gre))
        }
        guard version <= 1 else { throw .malformed(.gre, offset: start) }
        var offset = start + 4
        // The checksum and offset fields are both present if either of their flags is set.
        if version == 0, flags & 0xc000 != 0 { offset += 4 }
        if flags & 0x2000 != 0 { offset += 4 }
        let hasSequence = flags & 0x1000 != 0
        if hasSequence { offset += 4 }
        if version == 1, flags & 0x0080 != 0 { offset += 4 }
        if version == 0, flags & 0x4000 != 0 { offset = try skipRoutes(bytes, at: offset) }
        // A packet without a payload is a PPTP acknowledgment or a Cisco keep-alive.
        if offset == end { return .other(.ip(47)) }
        let bytes = bytes.extracting(bytes.clamping(0..<end))
        switch (version, type) {
        case (1, 0x880b): return try decodePPP(bytes, at: offset, inner)
        case (1, _): throw .malformed(.gre, offset: start)
        case (_, 0x6558): return try decodeLink(bytes, .ethernet, at: offset, inner)
        case (_, 0x88be):
            // ERSPAN type I has neither an ERSPAN header nor a sequence number; type II has both.
            return try decodeLink(bytes, .ethernet, at: offset + (hasSequence ? 8 : 0), inner)
        case (_, 0x22eb):
            return try decodeERSPAN3(bytes, at: offset, inner)
        case (_, 0x880b): return try decodePPP(bytes, at: offset, inner)
        case (_, 0x883e):
            // In version 2 of WCCP, a 4-byte header precedes the datagram.
            let isIP = bytes.byte(at: offset).map { $0 >> 4 == 4 } ?? false
            return try decodeIP(bytes, at: offset + (isIP ? 0 : 4), inner)
        default: return try decode(bytes, etherType: type, at: offset, inner)
        }
    }

    /// Skips a list of source routes, which ends with an empty route (RFC 1701).
    private static func skipRoutes(_ bytes: Span<UInt8>, at start: Int) throws(PacketError) -> Int {
        var offset = start
        for _ in 0..<maxTags {
            guard let family = bytes.big16(at: offset), let length = bytes.byte(at: offset + 3) else {
                throw .endsInside(.gre, offset: bytes.count)
            }
            offset += 4 + Int(length)
            if family == 0, length == 0 { return offset }
        }
        throw .tooManyHeaders(offset: offset)
    }

    /// Decodes ERSPAN type III (draft-foschiano-erspan-03, section 4.3): a header of 12 bytes, or 20 bytes if the O
    /// flag is set, followed by a frame or an IP datagram.
    private static func decodeERSPAN3(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let last = bytes.big16(at: start + 10) else { throw .endsInside(.gre, offset: bytes.count) }
        let offset = start + (last & 1 != 0 ? 20 : 12)
        switch last >> 10 & 31 {
        case 2: return try decodeIP(bytes, at: offset, extent)
        default: return try decodeLink(bytes, .ethernet, at: offset, extent)
        }
    }

    // MARK: Over UDP

    /// Returns whether a datagram to the given port may contain a tunneled packet. Datagrams to other ports are not
    /// examined.
    @inline(__always)
    static func mayBeTunnel(port: UInt16) -> Bool {
        port == genevePort || port == gtpPort || vxlanPorts.contains(port)
    }

    /// Decodes the contents of a datagram that was sent to a tunnel's port; `nil` if the datagram begins with no known
    /// tunnel header.
    static func decodeTunnel(
        _ bytes: Span<UInt8>, port: UInt16, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket? {
        let bytes = bytes.extracting(bytes.clamping(0..<end))
        if port == genevePort { return try decodeGeneve(bytes, at: start, end: end, extent) }
        if port == gtpPort { return try decodeGTP(bytes, at: start, end: end, extent) }
        // RFC 7348, section 5: the I flag is set. The reserved bits are 0, but extensions use them, so they are checked
        // only on the port that Linux used before IANA assigned a port.
        guard let flags = bytes.byte(at: start), flags & 0x08 != 0, let reserved = bytes.big32(at: start),
            bytes.byte(at: start + 7) != nil
        else { return nil }
        let isGeneric = port == 4790 && flags & 0x04 != 0
        if port == 8472, reserved & 0x77ff_ffff != 0 { return nil }
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.vxlan)) }
        // VXLAN-GPE has a next protocol field (draft-ietf-nvo3-vxlan-gpe, section 3.1), in which 3 stands for Ethernet.
        switch isGeneric ? reserved & 0xff : 3 {
        case 1, 2: return try decodeIP(bytes, at: start + 8, inner)
        case 3: return try decodeLink(bytes, .ethernet, at: start + 8, inner)
        case 5: return try decodeMPLS(bytes, at: start + 8, inner)
        default: return nil
        }
    }

    /// Decodes Geneve (RFC 8926, section 3.4): a header of eight bytes, which contains the payload's EtherType,
    /// followed by options.
    private static func decodeGeneve(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket? {
        guard let first = bytes.byte(at: start), first >> 6 == 0, let type = bytes.big16(at: start + 2),
            bytes.byte(at: start + 7) != nil
        else { return nil }
        let offset = start + 8 + Int(first & 0x3f) * 4
        // The packet is either a Geneve control packet or not a Geneve packet at all.
        guard offset < end else { return nil }
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.geneve)) }
        if type == 0x6558 { return try decodeLink(bytes, .ethernet, at: offset, inner) }
        guard type == 0x0800 || type == 0x86dd || type == 0x8847 else { return nil }
        return try decode(bytes, etherType: type, at: offset, inner)
    }

    /// Decodes GTP-U (3GPP TS 29.281, section 5.1): version 1, containing a user's datagram. If any of the flags E, S
    /// and PN is set, the header is four bytes longer, and if E is set, extension headers follow.
    private static func decodeGTP(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket? {
        guard let head = bytes.big16(at: start), head & 0xf0ff == 0x30ff else { return nil }
        var offset = start + 8
        if head & 0x0700 != 0 { offset += 4 }
        var hasExtension = head & 0x0400 != 0
        while hasExtension {
            guard let next = bytes.byte(at: offset - 1) else { return nil }
            if next == 0 { break }
            guard let words = bytes.byte(at: offset), words > 0 else { return nil }
            offset += Int(words) * 4
            hasExtension = offset < end
        }
        guard let first = bytes.byte(at: offset), first >> 4 == 4 || first >> 4 == 6 else { return nil }
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.gtp)) }
        return try decodeIP(bytes, at: offset, inner)
    }
}
