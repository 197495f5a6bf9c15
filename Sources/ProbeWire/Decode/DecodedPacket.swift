package import ProbeBase

/// The contents of a packet, as far as this project decodes them.
package enum DecodedPacket: Sendable, Hashable {
    case tcp(DecodedTCP)
    case udp(DecodedUDP)
    /// A fragment of an IP datagram, which must be joined with the others before it can be decoded further.
    case fragment(IPFragment)
    /// Another protocol over IP.
    case otherIP(source: IPAddress, destination: IPAddress, protocolNumber: UInt8)
    /// ARP and everything else that is not IP.
    case notIP(etherType: UInt16)
    /// An error that ICMP reports about a TCP segment.
    case icmp(ICMPError)
    /// A packet that could not be read, or was not supposed to be read.
    case other(OtherPacket)
}

/// The values of a TCP segment's header, and the position of its payload in the packet.
package struct DecodedTCP: Sendable, Hashable {
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    package var sequence: SequenceNumber
    package var acknowledgment: SequenceNumber
    package var flags: TCPFlags
    /// The window as in the header, without the scale factor.
    package var window: UInt16
    package var urgentPointer: UInt16
    package var options: TCPOptions
    /// The range of the captured payload in the packet's bytes; link-layer padding is never part of it.
    package var payload: Range<Int>
    /// The payload's length on the wire.
    package var payloadLength: Int
    package var checksum: UInt16 = 0
    /// The identification field of IPv4; 0 if there is none.
    package var identification: UInt16 = 0
    /// The number of routers that may still forward the packet.
    package var hopLimit: UInt8 = 0

    /// Whether the capture holds less of the payload than there was on the wire.
    package var payloadIsCut: Bool { payload.count < payloadLength }

    /// Whether the segment opens a connection. A segment that is also a reset does not, whatever its other bits are.
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

/// A fragment of an IP datagram (RFC 791 3.2, RFC 8200 4.5).
package struct IPFragment: Sendable, Hashable {
    package var source: IPAddress
    package var destination: IPAddress
    package var identification: UInt32
    package var protocolNumber: UInt8
    /// The offset from the start of the datagram, in bytes.
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
