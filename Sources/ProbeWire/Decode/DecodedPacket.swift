package import ProbeBase

/// The decoded contents of a packet.
package enum DecodedPacket: Sendable, Hashable {
    case tcp(DecodedTCP)
    case udp(DecodedUDP)
    /// A fragment of an IP datagram. The datagram must be reassembled from its fragments before it can be decoded
    /// further.
    case fragment(IPFragment)
    /// An IP packet of a protocol other than TCP, UDP and ICMP.
    case otherIP(source: IPAddress, destination: IPAddress, protocolNumber: UInt8)
    /// A packet of a protocol other than IP, such as ARP.
    case notIP(etherType: UInt16)
    /// An ICMP error about a TCP segment.
    case icmp(ICMPError)
    /// A packet whose contents are not decoded, because they are unreadable or because decoding them was not requested.
    case other(OtherPacket)
}

/// The values of a TCP segment's header, and the position of its payload in the packet.
package struct DecodedTCP: Sendable, Hashable {
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    package var sequence: SequenceNumber
    package var acknowledgment: SequenceNumber
    package var flags: TCPFlags
    /// The window field of the header, not multiplied by the scale factor.
    package var window: UInt16
    package var urgentPointer: UInt16
    package var options: TCPOptions
    /// The range of the captured payload in the packet's bytes. It never includes link-layer padding.
    package var payload: Range<Int>
    /// The payload's length on the wire.
    package var payloadLength: Int
    package var checksum: UInt16 = 0
    /// The identification field of the IPv4 header; 0 for IPv6.
    package var identification: UInt16 = 0
    /// The number of routers that may still forward the packet (IPv4's time to live, IPv6's hop limit).
    package var hopLimit: UInt8 = 0
    /// Whether the frame is a retry of an 802.11 sender, whose first transmission may have been captured, too.
    package var isWirelessRetry = false

    /// Whether the capture contains only a part of the payload.
    package var payloadIsCut: Bool { payload.count < payloadLength }

    /// Whether the segment opens a connection. A segment with the RST flag never opens a connection, whatever its other
    /// flags are.
    package var isSYN: Bool { flags.contains(.syn) && !flags.contains(.rst) }

    package init(
        source: SocketEndpoint, destination: SocketEndpoint, sequence: SequenceNumber,
        acknowledgment: SequenceNumber = SequenceNumber(0), flags: TCPFlags, window: UInt16 = 65535,
        urgentPointer: UInt16 = 0, options: TCPOptions = TCPOptions(), payload: Range<Int> = 0..<0,
        payloadLength: Int = 0, checksum: UInt16 = 0
    ) {
        self.source = source
        self.destination = destination
        self.sequence = sequence
        self.acknowledgment = acknowledgment
        self.flags = flags
        self.window = window
        self.urgentPointer = urgentPointer
        self.options = options
        self.payload = payload
        self.payloadLength = payloadLength
        self.checksum = checksum
    }
}

package struct DecodedUDP: Sendable, Hashable {
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    /// The range of the captured payload in the packet's bytes.
    package var payload: Range<Int>
    /// The payload's length on the wire.
    package var payloadLength: Int
}

/// A fragment of an IP datagram (RFC 791, section 3.2; RFC 8200, section 4.5).
package struct IPFragment: Sendable, Hashable {
    package var source: IPAddress
    package var destination: IPAddress
    package var identification: UInt32
    package var protocolNumber: UInt8
    /// The offset of the fragment's payload in the datagram, in bytes.
    package var offset: Int
    package var hasMore: Bool
    /// The range of the captured payload in the packet's bytes.
    package var payload: Range<Int>
    /// The payload's length on the wire.
    package var payloadLength: Int

    package init(
        source: IPAddress, destination: IPAddress, identification: UInt32, protocolNumber: UInt8, offset: Int,
        hasMore: Bool, payload: Range<Int>, payloadLength: Int
    ) {
        self.source = source
        self.destination = destination
        self.identification = identification
        self.protocolNumber = protocolNumber
        self.offset = offset
        self.hasMore = hasMore
        self.payload = payload
        self.payloadLength = payloadLength
    }
}

extension DecodedTCP {
    /// Returns the SACK blocks as ranges of relative sequence numbers. They are computed from the distance between each
    /// block and the acknowledgment number in the same packet.
    package func sacks(acknowledging relative: Int64?) -> [Range<Int64>] {
        guard let relative, !options.sack.isEmpty else { return [] }
        return options.sack.blocks.compactMap { block in
            let start = relative + Int64(block.start - acknowledgment)
            let end = relative + Int64(block.end - acknowledgment)
            return start < end ? start..<end : nil
        }
    }
}
