/// Reads one captured packet down to its transport header.
///
/// Never traps, whatever the bytes; takes time linear in the headers. Nothing is kept between packets: fragments are handed
/// out for whoever joins them (`FragmentReassembler`).
package enum PacketDecoder {
    /// `originalLength` is the packet's length on the wire; one below `bytes.count` is taken as `bytes.count`.
    package static func decode(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int
    ) throws(PacketError) -> DecodedPacket {
        let wireEnd = max(originalLength, bytes.count)
        switch linkType {
        case .ethernet:
            guard let etherType = bytes.big16(at: 12) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, etherType: etherType, at: 14, wireEnd: wireEnd)
        case .raw, .rawDLT, .rawOpenBSD, .ipv4, .ipv6:
            return try decodeIP(bytes, at: 0, wireEnd: wireEnd)
        case .null, .loop:
            return try decodeLoopback(bytes, wireEnd: wireEnd)
        case .linuxSLL:
            guard let etherType = bytes.big16(at: 14) else { throw .endsInside(.link, offset: bytes.count) }
            return try decode(bytes, etherType: etherType, at: 16, wireEnd: wireEnd)
        case .linuxSLL2:
            guard let etherType = bytes.big16(at: 0), bytes.count >= 20 else {
                throw .endsInside(.link, offset: bytes.count)
            }
            return try decode(bytes, etherType: etherType, at: 20, wireEnd: wireEnd)
        default:
            throw .unknownLinkType(linkType)
        }
    }

    /// A datagram that was put together from its fragments: `bytes` is the payload behind the IP header.
    package static func decode(
        reassembled bytes: Span<UInt8>, of fragment: IPFragment, length: Int
    ) throws(PacketError) -> DecodedPacket {
        try decodeTransport(
            bytes, protocolNumber: fragment.protocolNumber, at: 0, end: max(length, bytes.count),
            source: fragment.source, destination: fragment.destination
        )
    }

    /// Address family (of whatever system captured, in its byte order), then IP. The IP version decides: the numbers for
    /// IPv6 differ between systems (10, 24, 28, 30).
    private static func decodeLoopback(_ bytes: Span<UInt8>, wireEnd: Int) throws(PacketError) -> DecodedPacket {
        guard let family = bytes.big32(at: 0) else { throw .endsInside(.link, offset: bytes.count) }
        let known: Set<UInt32> = [2, 10, 24, 28, 30]
        guard known.contains(family) || known.contains(family.byteSwapped) else {
            return .notIP(etherType: UInt16(truncatingIfNeeded: family))
        }
        return try decodeIP(bytes, at: 4, wireEnd: wireEnd)
    }

    private static let mostTags = 16

    /// Walks over VLAN tags (IEEE 802.1Q, 802.1ad), MPLS labels (RFC 3032), PPPoE (RFC 2516) and SNAP (RFC 1042).
    private static func decode(
        _ bytes: Span<UInt8>, etherType: UInt16, at start: Int, wireEnd: Int
    ) throws(PacketError) -> DecodedPacket {
        var type = etherType
        var offset = start
        for _ in 0..<mostTags {
            switch type {
            case 0x0800, 0x86dd:
                return try decodeIP(bytes, at: offset, wireEnd: wireEnd)
            case 0x8100, 0x88a8, 0x9100, 0x9200:
                guard let inner = bytes.big16(at: offset + 2) else { throw .endsInside(.vlan, offset: bytes.count) }
                type = inner
                offset += 4
            case 0x8847, 0x8848:
                return try decodeMPLS(bytes, at: offset, wireEnd: wireEnd)
            case 0x8864:
                return try decodePPPoE(bytes, at: offset, wireEnd: wireEnd)
            case 0...1500:
                guard bytes.big32(at: offset) == 0xaaaa_0300, bytes.big16(at: offset + 4) == 0,
                    let inner = bytes.big16(at: offset + 6), inner > 1500
                else { return .notIP(etherType: type) }
                type = inner
                offset += 8
            default:
                return .notIP(etherType: type)
            }
        }
        throw .tooManyHeaders(offset: offset)
    }

    private static func decodeMPLS(
        _ bytes: Span<UInt8>, at start: Int, wireEnd: Int
    ) throws(PacketError) -> DecodedPacket {
        var offset = start
        for _ in 0..<mostTags {
            guard let label = bytes.big32(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            offset += 4
            guard label & 0x100 != 0 else { continue }  // not yet the bottom of the stack
            guard let first = bytes.byte(at: offset) else { throw .endsInside(.mpls, offset: bytes.count) }
            // Labels do not say what follows; routers look at the first nibble as well (RFC 4928).
            return first >> 4 == 4 || first >> 4 == 6
                ? try decodeIP(bytes, at: offset, wireEnd: wireEnd) : .notIP(etherType: 0x8847)
        }
        throw .tooManyHeaders(offset: offset)
    }

    private static func decodePPPoE(
        _ bytes: Span<UInt8>, at offset: Int, wireEnd: Int
    ) throws(PacketError) -> DecodedPacket {
        guard let length = bytes.big16(at: offset + 4), let pppProtocol = bytes.big16(at: offset + 6) else {
            throw .endsInside(.pppoe, offset: bytes.count)
        }
        guard pppProtocol == 0x0021 || pppProtocol == 0x0057 else { return .notIP(etherType: 0x8864) }
        return try decodeIP(bytes, at: offset + 8, wireEnd: min(wireEnd, offset + 6 + Int(length)))
    }

    // MARK: IP

    private static func decodeIP(_ bytes: Span<UInt8>, at start: Int, wireEnd: Int) throws(PacketError) -> DecodedPacket
    {
        guard let first = bytes.byte(at: start) else { throw .endsInside(.link, offset: bytes.count) }
        switch first >> 4 {
        case 4: return try decodeIPv4(bytes, at: start, wireEnd: wireEnd)
        case 6: return try decodeIPv6(bytes, at: start, wireEnd: wireEnd)
        default: throw .malformed(.ipv4, offset: start)
        }
    }

    /// RFC 791 3.1.
    private static func decodeIPv4(
        _ bytes: Span<UInt8>, at start: Int, wireEnd: Int
    ) throws(PacketError) -> DecodedPacket {
        guard let source = bytes.big32(at: start + 12), let destination = bytes.big32(at: start + 16),
            let first = bytes.byte(at: start), let totalLength = bytes.big16(at: start + 2),
            let identification = bytes.big16(at: start + 4), let fragmentation = bytes.big16(at: start + 6),
            let protocolNumber = bytes.byte(at: start + 9)
        else { throw .endsInside(.ipv4, offset: bytes.count) }
        let headerLength = Int(first & 15) * 4
        // 0 where the capture saw the packet before the card cut it up (TSO), or one above 64 KiB (BIG TCP).
        let end = totalLength == 0 ? wireEnd : start + Int(totalLength)
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
            bytes, protocolNumber: protocolNumber, at: start + headerLength, end: end, source: IPAddress(v4: source),
            destination: IPAddress(v4: destination)
        )
    }

    /// RFC 8200 3 and 4.
    private static func decodeIPv6(
        _ bytes: Span<UInt8>, at start: Int, wireEnd: Int
    ) throws(PacketError) -> DecodedPacket {
        guard let source = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 8..<start + 24))),
            let destination = IPAddress(bytes: bytes.extracting(bytes.clamping(start + 24..<start + 40))),
            let payloadLength = bytes.big16(at: start + 4), var next = bytes.byte(at: start + 6)
        else { throw .endsInside(.ipv6, offset: bytes.count) }
        // 0 for a jumbogram (RFC 2675) and for TSO above 64 KiB.
        let end = payloadLength == 0 ? max(wireEnd, start + 40) : start + 40 + Int(payloadLength)
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
                    bytes, protocolNumber: next, at: offset, end: end, source: source, destination: destination
                )
            }
        }
        throw .tooManyHeaders(offset: offset)
    }

    // MARK: Transport

    /// `end` is where the datagram ends on the wire: what lies behind it is padding.
    @inline(__always)
    private static func decodeTransport(
        _ bytes: Span<UInt8>, protocolNumber: UInt8, at start: Int, end: Int, source: IPAddress,
        destination: IPAddress
    ) throws(PacketError) -> DecodedPacket {
        switch protocolNumber {
        case 6:
            return .tcp(try decodeTCP(bytes, at: start, end: end, source: source, destination: destination))
        case 17:
            guard let sourcePort = bytes.big16(at: start), let destinationPort = bytes.big16(at: start + 2),
                let length = bytes.big16(at: start + 4)
            else { throw .endsInside(.udp, offset: bytes.count) }
            let payloadEnd = length == 0 ? end : min(end, start + Int(length))
            guard payloadEnd >= start + 8 else { throw .malformed(.udp, offset: start) }
            return .udp(
                DecodedUDP(
                    source: SocketEndpoint(address: source, port: sourcePort),
                    destination: SocketEndpoint(address: destination, port: destinationPort),
                    payload: captured(start + 8..<payloadEnd, of: bytes), payloadLength: payloadEnd - start - 8
                ))
        default:
            return .otherIP(source: source, destination: destination, protocolNumber: protocolNumber)
        }
    }

    /// As `decode`, of TCP over IPv4 over Ethernet as it lies where `ends` were read; nil where not all of it is there, of which `decode` has
    /// more to say.
    static func decodeTCP(_ bytes: Span<UInt8>, _ ends: FastPathSegment.Ends) throws(PacketError) -> DecodedTCP? {
        guard let totalLength = bytes.big16(at: 16), totalLength >= 40, 14 + Int(totalLength) <= bytes.count else {
            return nil
        }
        return try decodeTCP(
            bytes, at: 34, end: 14 + Int(totalLength),
            source: IPAddress(v4: UInt32(truncatingIfNeeded: ends.source >> 16)),
            destination: IPAddress(v4: UInt32(truncatingIfNeeded: ends.destination >> 16)))
    }

    /// RFC 9293 3.1. Options that the capture cut off are read as far as they are there.
    private static func decodeTCP(
        _ bytes: Span<UInt8>, at start: Int, end: Int, source: IPAddress, destination: IPAddress
    ) throws(PacketError) -> DecodedTCP {
        guard start + 20 <= end else { throw .malformed(.tcp, offset: start) }
        guard let ports = bytes.big32(at: start), let sequence = bytes.big32(at: start + 4),
            let acknowledgment = bytes.big32(at: start + 8), let offsetAndFlags = bytes.big16(at: start + 12),
            let window = bytes.big16(at: start + 14), let urgentPointer = bytes.big16(at: start + 18)
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
            payload: captured(start + headerLength..<end, of: bytes), payloadLength: end - start - headerLength
        )
    }

    @inline(__always)
    private static func captured(_ range: Range<Int>, of bytes: Span<UInt8>) -> Range<Int> {
        range.clamped(to: 0..<bytes.count)
    }
}
