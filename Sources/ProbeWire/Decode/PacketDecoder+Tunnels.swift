import ProbeBase

/// Packets in packets: what a tunnel carries is decoded as if it had been captured without it. What lies between the inner packet's end and
/// the outer one's is padding; an inner packet that is longer than the outer one was cut short by whoever mirrored it.
extension PacketDecoder {
    /// The ports of VXLAN: IANA's (RFC 7348), that of Linux before it, and that of VXLAN-GPE.
    static let vxlanPorts: [UInt16] = [4789, 8472, 4790]
    static let genevePort: UInt16 = 6081
    /// The user plane of mobile networks (3GPP TS 29.281 4.4.2).
    static let gtpPort: UInt16 = 2152

    /// The extent of what a tunnel carries; nil if tunnels are not opened.
    private static func inner(_ extent: PacketExtent, end: Int, offset: Int) throws(PacketError) -> PacketExtent? {
        guard extent.reading == .opened else { return nil }
        guard extent.tunnels > 0 else { throw .tooManyHeaders(offset: offset) }
        return PacketExtent(wireEnd: end, reading: .opened, tunnels: extent.tunnels - 1)
    }

    /// RFC 2003, RFC 2473, RFC 4213: IP directly in IP.
    static func decodeIPInIP(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket {
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.ipInIP)) }
        return try decodeIP(bytes.extracting(bytes.clamping(0..<end)), at: start, inner)
    }

    // MARK: GRE

    /// RFC 2784, RFC 2890; version 1 is PPTP's (RFC 2637 4.1).
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
        // Checksum and offset are there if either of their flags is set.
        if version == 0, flags & 0xc000 != 0 { offset += 4 }
        if flags & 0x2000 != 0 { offset += 4 }
        let hasSequence = flags & 0x1000 != 0
        if hasSequence { offset += 4 }
        if version == 1, flags & 0x0080 != 0 { offset += 4 }
        if version == 0, flags & 0x4000 != 0 { offset = try skipRoutes(bytes, at: offset) }
        // Of PPTP an acknowledgment, else a keep-alive of Cisco.
        if offset == end { return .other(.ip(47)) }
        let bytes = bytes.extracting(bytes.clamping(0..<end))
        switch (version, type) {
        case (1, 0x880b): return try decodePPP(bytes, at: offset, inner)
        case (1, _): throw .malformed(.gre, offset: start)
        case (_, 0x6558): return try decodeLink(bytes, .ethernet, at: offset, inner)
        case (_, 0x88be):
            // Type I has neither an ERSPAN header nor sequence numbers; type II has both.
            return try decodeLink(bytes, .ethernet, at: offset + (hasSequence ? 8 : 0), inner)
        case (_, 0x22eb):
            return try decodeERSPAN3(bytes, at: offset, inner)
        case (_, 0x880b): return try decodePPP(bytes, at: offset, inner)
        case (_, 0x883e):
            // WCCP: of version 2 a word precedes the datagram.
            let isIP = bytes.byte(at: offset).map { $0 >> 4 == 4 } ?? false
            return try decodeIP(bytes, at: offset + (isIP ? 0 : 4), inner)
        default: return try decode(bytes, etherType: type, at: offset, inner)
        }
    }

    /// RFC 1701: a list of routes, which ends with an empty one.
    private static func skipRoutes(_ bytes: Span<UInt8>, at start: Int) throws(PacketError) -> Int {
        var offset = start
        for _ in 0..<mostTags {
            guard let family = bytes.big16(at: offset), let length = bytes.byte(at: offset + 3) else {
                throw .endsInside(.gre, offset: bytes.count)
            }
            offset += 4 + Int(length)
            if family == 0, length == 0 { return offset }
        }
        throw .tooManyHeaders(offset: offset)
    }

    /// draft-foschiano-erspan-03 4.3: 12 bytes, 8 more with the flag O; a frame, or an IP datagram.
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

    /// Whether a datagram to this port may be a tunnel: only then it is looked at again.
    @inline(__always)
    static func mayBeTunnel(port: UInt16) -> Bool {
        port == genevePort || port == gtpPort || vxlanPorts.contains(port)
    }

    /// What a datagram to a tunnel's port carries; nil for one that has none of a tunnel's headers.
    static func decodeTunnel(
        _ bytes: Span<UInt8>, port: UInt16, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket? {
        let bytes = bytes.extracting(bytes.clamping(0..<end))
        if port == genevePort { return try decodeGeneve(bytes, at: start, end: end, extent) }
        if port == gtpPort { return try decodeGTP(bytes, at: start, end: end, extent) }
        // RFC 7348 5: of the flags, one is set, and what is reserved is 0; the last byte as well. Extensions have more flags.
        guard let flags = bytes.byte(at: start), flags & 0x08 != 0, let reserved = bytes.big32(at: start),
            bytes.byte(at: start + 7) != nil
        else { return nil }
        let isGeneric = port == 4790 && flags & 0x04 != 0
        if port == 8472, reserved & 0x77ff_ffff != 0 { return nil }
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.vxlan)) }
        // The next protocol of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe 3.1).
        switch isGeneric ? reserved & 0xff : 3 {
        case 1, 2: return try decodeIP(bytes, at: start + 8, inner)
        case 3: return try decodeLink(bytes, .ethernet, at: start + 8, inner)
        case 5: return try decodeMPLS(bytes, at: start + 8, inner)
        default: return nil
        }
    }

    /// RFC 8926 3.4: eight bytes, options, and the EtherType of what follows.
    private static func decodeGeneve(
        _ bytes: Span<UInt8>, at start: Int, end: Int, _ extent: PacketExtent
    ) throws(PacketError) -> DecodedPacket? {
        guard let first = bytes.byte(at: start), first >> 6 == 0, let type = bytes.big16(at: start + 2),
            bytes.byte(at: start + 7) != nil
        else { return nil }
        let offset = start + 8 + Int(first & 0x3f) * 4
        // One of the control plane, or no Geneve.
        guard offset < end else { return nil }
        guard let inner = try inner(extent, end: end, offset: start) else { return .other(.tunnel(.geneve)) }
        if type == 0x6558 { return try decodeLink(bytes, .ethernet, at: offset, inner) }
        guard type == 0x0800 || type == 0x86dd || type == 0x8847 else { return nil }
        return try decode(bytes, etherType: type, at: offset, inner)
    }

    /// 3GPP TS 29.281 5.1: version 1 with a datagram of a user. One of the flags E, S and PN adds four bytes, and E extension headers.
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
