import ProbeBase

/// The most common kind of packet in captures: a complete TCP segment over IPv4 over Ethernet, with ACK and possibly
/// PSH set, and with no option except a timestamp.
///
/// When such a packet is read, its length is checked only once. Every other packet is left to `PacketDecoder`, which
/// would read the same values from this kind of packet.
struct FastPathSegment {
    /// The sender's address and port, with the port in the lowest 16 bits.
    let source: UInt64
    let destination: UInt64
    let sequence: SequenceNumber
    let acknowledgment: SequenceNumber
    let window: UInt16
    /// The value of the timestamp option (RFC 7323, section 3); `nil` if the segment has none.
    let stamp: UInt32?
    /// The timestamp of the peer that the option echoes; `nil` if the segment has none.
    let echo: UInt32?
    /// The range of the payload, which was captured completely, in the packet's bytes.
    let payload: Range<Int>

    /// The total length of the Ethernet, IPv4 and TCP headers without options.
    static let shortest = 14 + 20 + 20
    /// The first four bytes of the options if there is only a timestamp: two no-operations, then the option's kind and
    /// length, as sent by every system (RFC 7323, appendix A).
    private static let stampOption: UInt32 = 0x0101_080a

    /// The endpoints of a TCP segment over IPv4 over Ethernet that is long enough to be a `FastPathSegment`. They have
    /// the same form as in `FastPathSegment`.
    struct Ends {
        let source: UInt64
        let destination: UInt64
        /// The connection's hash from `ConnectionShare.hash`.
        let hash: UInt64

        /// Reads the endpoints; `nil` if the packet is too short, or is not TCP over IPv4 over Ethernet.
        @inline(__always)
        init?(_ bytes: Span<UInt8>, linkType: LinkType) {
            guard linkType == .ethernet, bytes.count >= FastPathSegment.shortest else { return nil }
            // The length of `header` is a constant, so the bounds are checked only once.
            let header = bytes.extracting(0..<FastPathSegment.shortest)
            // One word contains the EtherType, the IP version and the header length; another word contains the
            // fragmentation fields, the hop limit and the protocol.
            guard let type = header.big32(at: 12), type & 0xffff_ff00 == 0x0800_4500,
                let transport = header.big32(at: 20), transport & 0x3fff_00ff == 0x0000_0006,
                let source = header.big32(at: 26), let destination = header.big32(at: 30),
                let sourcePort = header.big16(at: 34), let destinationPort = header.big16(at: 36)
            else { return nil }
            self.source = UInt64(source) << 16 | UInt64(sourcePort)
            self.destination = UInt64(destination) << 16 | UInt64(destinationPort)
            hash = ConnectionShare.hash(self.source, self.destination)
        }
    }

    /// Reads the segment; `nil` unless the packet is a complete TCP segment over IPv4 over Ethernet with only the most
    /// common flags and options. `ends` must have been read from `bytes`.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, _ ends: Ends) {
        guard bytes.count >= Self.shortest else { return nil }
        let header = bytes.extracting(0..<Self.shortest)
        guard let totalLength = header.big16(at: 16), let sequence = header.big32(at: 38),
            let acknowledgment = header.big32(at: 42), let offsetAndFlags = header.big16(at: 46),
            let window = header.big16(at: 48)
        else { return nil }
        let end = 14 &+ Int(totalLength)
        guard end <= bytes.count else { return nil }
        // ACK must be set, PSH may be set, and FIN, SYN, RST, URG and the congestion bits must not be set.
        var start = Self.shortest
        switch offsetAndFlags & 0xf1f7 {
        case 0x5010:
            stamp = nil
            echo = nil
        case 0x8010:
            guard bytes.big32(at: 54) == Self.stampOption, let value = bytes.big32(at: 58),
                let answer = bytes.big32(at: 62)
            else { return nil }
            stamp = value
            echo = answer
            start = Self.shortest + 12
        default:
            return nil
        }
        guard start <= end else { return nil }
        source = ends.source
        destination = ends.destination
        self.sequence = SequenceNumber(sequence)
        self.acknowledgment = SequenceNumber(acknowledgment)
        self.window = window
        payload = start..<end
    }
}
