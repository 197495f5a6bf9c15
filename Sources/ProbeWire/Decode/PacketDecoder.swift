import ProbeBase

/// Reads one captured packet down to its transport header.
///
/// Never traps, whatever the bytes; takes time linear in the headers. Nothing is kept between packets: fragments are handed
/// out, and `FragmentReassembler` joins them.
///
/// A packet ends where the shortest of its headers says: a PPPoE or 802.3 length that is less than the IP datagram's bounds the
/// datagram, and what lies behind is padding. Only the frame's own length is no such bound: a datagram that is longer than its frame
/// was cut short by the capture, as some writers give the captured length for both lengths of a record.
package enum PacketDecoder {
    /// `originalLength` is the packet's length on the wire; one below `bytes.count` is taken as `bytes.count`.
    ///
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

    /// A datagram that was put together from its fragments: `bytes` is the payload behind the IP header.
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

    /// Address family (of whatever system captured, in its byte order), then IP. The IP version decides: the numbers for
    /// IPv6 differ between systems (10, 24, 28, 30).
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

    static let mostTags = 16

    /// A cooked capture's small protocol numbers are no lengths: 4 stands for a frame that begins with LLC (LINKTYPE_LINUX_SLL).
    private static func decode(
        _ bytes: Span<UInt8>, cookedType: UInt16, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard cookedType <= longestLength else { return try decode(bytes, etherType: cookedType, at: start, extent) }
        guard let inner = snapType(bytes, at: start) else { return .notIP(etherType: cookedType) }
        return try decode(bytes, etherType: inner, at: start + 8, extent)
    }

    /// The type behind a SNAP header (RFC 1042); nil for other LLC.
    static func snapType(_ bytes: Span<UInt8>, at offset: Int) -> UInt16? {
        guard bytes.big32(at: offset) == 0xaaaa_0300, bytes.big16(at: offset + 4) == 0,
            let inner = bytes.big16(at: offset + 6), inner > longestLength
        else { return nil }
        return inner
    }

    /// A type field up to this is the length of what follows (IEEE 802.3 3.2.6).
    private static let longestLength: UInt16 = 1500

    /// Walks over VLAN tags (IEEE 802.1Q, 802.1ad), the tags of provider bridges, FabricPath, E-TAG and VN-Tag, MPLS labels (RFC 3032), PPPoE (RFC 2516)
    /// and SNAP (RFC 1042).
    @inline(__always)
    static func decode(
        _ bytes: Span<UInt8>, etherType: UInt16, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var type = etherType
        var offset = start
        var extent = extent
        for _ in 0..<mostTags {
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

    /// The bytes from a tag to the end of the type that follows it.
    private static func bridgeTagLength(_ type: UInt16) -> Int {
        let addresses = 12
        return switch type {
        case 0x88e7: 4 + addresses + 2  // a service instance (IEEE 802.1Q 9.7), then the frame that it carries
        case 0x8903: 2 + addresses + 2  // Cisco's FabricPath, likewise
        case 0x893f: 6 + 2  // E-TAG (IEEE 802.1BR 7.5)
        default: 4 + 2  // VN-Tag
        }
    }

    static func decodeMPLS(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var offset = start
        for _ in 0..<mostTags {
            guard let label = bytes.big32(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            offset += 4
            guard label & 0x100 != 0 else { continue }  // not yet the bottom of the stack
            guard let first = bytes.byte(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            // Labels do not say what follows; routers look at the first nibble as well (RFC 4928).
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

    /// RFC 791 3.1.
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
        // 0 where the capture saw the packet before the card cut it up (TSO), or one above 64 KiB (BIG TCP).
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

    /// RFC 8200 3 and 4.
    private static func decodeIPv6(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let source = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 8..<start + 24))),
            let destination = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 24..<start + 40))),
            let payloadLength = bytes.big16(at: start + 4), var next = bytes.byte(at: start + 6),
            let hopLimit = bytes.byte(at: start + 7)
        else { throw .endsInside(.ipv6, offset: bytes.count) }
        // 0 for a jumbogram (RFC 2675) and for TSO above 64 KiB.
        let end = extent.end(of: start + 40, length: Int(payloadLength))
        guard start + 40 <= end else { throw .malformed(.ipv6, offset: start) }
        var offset = start + 40
        for _ in 0..<mostTags {
            switch next {
            case 0, 43, 60, 135, 139, 140:
                guard let following = bytes.byte(at: offset), let length = bytes.byte(at: offset + 1) else {
                    throw .endsInside(.ipv6, offset: bytes.count)
                }
                next = following
                offset += 8 + Int(length) * 8
            case 51:  // RFC 4302 2.2: its length counts words of four bytes
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
                if word & 0xfff9 == 0 { continue }  // an atomic fragment is whole (RFC 6946)
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

    /// `end` is where the datagram ends on the wire: what lies behind it is padding.
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

    /// RFC 9293 3.1. Options that the capture cut off are read as far as they are there.
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
