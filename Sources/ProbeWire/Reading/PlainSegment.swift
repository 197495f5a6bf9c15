/// The packet that captures are full of: a whole TCP segment over IPv4 over Ethernet, with ACK, at most PSH besides, and no option
/// but a timestamp. It is read with one look at its lengths; every other packet is `PacketDecoder`'s, which reads these to the
/// same values.
struct PlainSegment {
    /// Address and port, the port in the lowest 16 bits.
    let source: UInt64
    let destination: UInt64
    let sequence: SequenceNumber
    let acknowledgment: SequenceNumber
    let window: UInt16
    /// The timestamp's value (RFC 7323 3), where there is one.
    let stamp: UInt32?
    /// In the packet's bytes; all of it was captured.
    let payload: Range<Int>

    /// Ethernet's, IPv4's and TCP's headers without options.
    private static let shortest = 14 + 20 + 20
    /// Two times no operation, then a timestamp: as everyone sends it (RFC 7323 appendix A).
    private static let stampOption: UInt32 = 0x0101_080a

    /// The endpoints alone, where it may be such a packet.
    @inline(__always)
    static func endpoints(_ bytes: Span<UInt8>) -> (UInt64, UInt64)? {
        guard bytes.count >= shortest, bytes.big16(at: 12) == 0x0800, bytes[14] == 0x45, bytes[23] == 6,
            let source = bytes.big32(at: 26), let destination = bytes.big32(at: 30), let ports = bytes.big32(at: 34)
        else { return nil }
        return (UInt64(source) << 16 | UInt64(ports >> 16), UInt64(destination) << 16 | UInt64(ports & 0xffff))
    }

    /// nil for any other packet.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, linkType: LinkType) {
        guard linkType == .ethernet, bytes.count >= Self.shortest, bytes.big16(at: 12) == 0x0800,
            bytes[14] == 0x45, let fragmentation = bytes.big16(at: 20), fragmentation & 0x3fff == 0, bytes[23] == 6,
            let totalLength = bytes.big16(at: 16), let source = bytes.big32(at: 26),
            let destination = bytes.big32(at: 30), let ports = bytes.big32(at: 34),
            let sequence = bytes.big32(at: 38), let acknowledgment = bytes.big32(at: 42),
            let offsetAndFlags = bytes.big16(at: 46), let window = bytes.big16(at: 48)
        else { return nil }
        let end = 14 + Int(totalLength)
        guard end <= bytes.count else { return nil }
        // ACK without FIN, SYN, RST, URG and the congestion bits; PSH is as it may be.
        var start = Self.shortest
        switch offsetAndFlags & 0xf1f7 {
        case 0x5010:
            stamp = nil
        case 0x8010:
            guard bytes.big32(at: 54) == Self.stampOption, let value = bytes.big32(at: 58) else { return nil }
            stamp = value
            start = Self.shortest + 12
        default:
            return nil
        }
        guard start <= end else { return nil }
        self.source = UInt64(source) << 16 | UInt64(ports >> 16)
        self.destination = UInt64(destination) << 16 | UInt64(ports & 0xffff)
        self.sequence = SequenceNumber(sequence)
        self.acknowledgment = SequenceNumber(acknowledgment)
        self.window = window
        payload = start..<end
    }
}
