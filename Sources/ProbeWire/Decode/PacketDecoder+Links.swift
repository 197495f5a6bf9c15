import ProbeBase

/// Link types other than Ethernet and plain IP: what precedes the IP datagram, or the EtherType.
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
            // pppd's byte of the direction stands in place of the address.
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
            // Its own length counts without what pads it to words of four bytes.
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

    /// PPP with or without the two bytes of HDLC (RFC 1662 3.1), or Cisco's HDLC in its place.
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

    /// Address and control may be left out (RFC 1661 6.6), and the first byte of the protocol, if it is 0 (6.5).
    static func decodePPP(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        var offset = start
        if bytes.big16(at: offset) == 0xff03 { offset += 2 }
        guard let first = bytes.byte(at: offset) else { throw .endsInside(.link, offset: bytes.count) }
        var type = UInt16(first)
        offset += 1
        // The last byte of a protocol is odd, each other one even.
        if first & 1 == 0 {
            guard let second = bytes.byte(at: offset) else { throw .endsInside(.link, offset: bytes.count) }
            type = type << 8 | UInt16(second)
            offset += 1
        }
        switch type {
        case 0x0021, 0x0057: return try decodeIP(bytes, at: offset, extent)
        case 0x0281, 0x0283: return try decodeMPLS(bytes, at: offset, extent)
        // Van Jacobson's, RFC 2507's and robust header compression, and parts of packets (multilink).
        case 0x002d, 0x002f, 0x003d, 0x0003, 0x0005, 0x004f, 0x0061, 0x0063, 0x0065, 0x0067, 0x0069:
            return .other(.compressedHeaders)
        case 0x0053, 0x0055, 0x00fb, 0x00fd: return .other(.encryptedPPP)
        default: return .notIP(etherType: 0x8864)
        }
    }

    // MARK: NFLOG

    /// A list of attributes in the byte order of the capturing system; one of them is the packet (LINKTYPE_NFLOG).
    private static func decodeNFLOG(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard bytes.count >= start + 4 else { throw .endsInside(.link, offset: bytes.count) }
        var offset = start + 4
        // Types are small numbers, which shows the byte order.
        let isLittle = bytes.byte(at: offset + 3) == 0
        while offset < bytes.count {
            guard
                let length = isLittle ? bytes.little16(at: offset) : bytes.big16(at: offset),
                let type = isLittle ? bytes.little16(at: offset + 2) : bytes.big16(at: offset + 2)
            else { throw .endsInside(.link, offset: bytes.count) }
            guard length >= 4 else { throw .malformed(.link, offset: offset) }
            // The highest bits are flags of netlink.
            if type & 0x3fff == 9 {
                return try decodeIP(bytes, at: offset + 4, extent.bounded(by: offset + Int(length)))
            }
            offset += (Int(length) + 3) & ~3
        }
        return .notIP(etherType: 0)
    }

    // MARK: 802.11

    /// The header's length, and of its fields the one with the flags (radiotap.org).
    private static func decodeRadiotap(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let length = bytes.little16(at: start + 2), let present = bytes.little32(at: start + 4) else {
            throw .endsInside(.link, offset: bytes.count)
        }
        guard length >= 8 else { throw .malformed(.link, offset: start) }
        var flags: UInt8 = 0
        if present & 2 != 0 {
            // Words of presence follow each other as long as the highest bit says so.
            var offset = start + 4
            while let word = bytes.little32(at: offset), offset < start + Int(length) {
                offset += 4
                if word & 0x8000_0000 == 0 { break }
            }
            // A time stamp comes first, at a multiple of its size.
            if present & 1 != 0 { offset = start + (offset - start + 7) & ~7 + 8 }
            if offset < start + Int(length) { flags = bytes.byte(at: offset) ?? 0 }
        }
        if flags & 0x40 != 0 { return .other(.damagedWireless) }
        return try decodeWireless(bytes, at: start + Int(length), isPadded: flags & 0x20 != 0, extent)
    }

    /// Prism's header has its length in the byte order of the capturing system, AVS's in network order.
    private static func decodePrism(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let big = bytes.big32(at: start + 4) else { throw .endsInside(.link, offset: bytes.count) }
        let length = min(big, big.byteSwapped)
        guard length >= 8, length <= 4_096 else { throw .malformed(.link, offset: start) }
        return try decodeWireless(bytes, at: start + Int(length), isPadded: false, extent)
    }

    /// IEEE 802.11 9.2 and 9.3.2: a header of 24 bytes, and more with four addresses, QoS and HT control.
    private static func decodeWireless(
        _ bytes: Span<UInt8>, at start: Int, isPadded: Bool, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let control = bytes.little16(at: start) else { throw .endsInside(.link, offset: bytes.count) }
        let subtype = control >> 4 & 15
        // Data only, without the subtypes that have none.
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
        // A-MSDU: addresses and a length before each packet. One packet alone can be read.
        guard let inner = bytes.big16(at: start + length + 12) else { throw .endsInside(.link, offset: bytes.count) }
        let end = start + length + 14 + Int(inner)
        // A check sequence of four bytes and padding may follow the only one.
        guard extent.wireEnd - end <= 7 else { return .other(.wirelessAggregate) }
        return try decodeLLC(bytes, at: start + length + 14, extent.bounded(by: end))
    }

    private static func decodeLLC(
        _ bytes: Span<UInt8>, at start: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard bytes.count >= start + 3 else { throw .endsInside(.link, offset: bytes.count) }
        // Other LLC than SNAP has a length in place of the type.
        guard let type = snapType(bytes, at: start) else { return .notIP(etherType: 0) }
        return try decode(bytes, etherType: type, at: start + 8, extent)
    }
}
