package import ProbeBase

/// What a packet carries, as far as this project looks.
package enum DecodedPacket: Sendable, Hashable {
    case tcp(DecodedTCP)
    case udp(DecodedUDP)
    /// A part of an IP datagram, to be joined with the others before it can be read on.
    case fragment(IPFragment)
    /// Another protocol over IP.
    case otherIP(source: IPAddress, destination: IPAddress, protocolNumber: UInt8)
    /// ARP and everything else that is no IP.
    case notIP(etherType: UInt16)
    /// An error that ICMP reports about a TCP segment.
    case icmp(ICMPError)
    /// What could not be read, or was not to be read.
    case other(OtherPacket)
}

/// A TCP segment's header in values, and where its payload lies in the packet.
package struct DecodedTCP: Sendable, Hashable {
    package var source: SocketEndpoint
    package var destination: SocketEndpoint
    package var sequence: SequenceNumber
    package var acknowledgment: SequenceNumber
    package var flags: TCPFlags
    /// As in the header, without the scale factor.
    package var window: UInt16
    package var urgentPointer: UInt16
    package var options: TCPOptions
    /// The captured payload in the packet's bytes; link-layer padding is never part of it.
    package var payload: Range<Int>
    /// The payload's length on the wire.
    package var payloadLength: Int
    package var checksum: UInt16 = 0
    /// IPv4's field; 0 if there is none.
    package var identification: UInt16 = 0
    /// How many routers may still pass it on.
    package var hopLimit: UInt8 = 0

    /// True where the capture holds less of the payload than there was on the wire.
    package var payloadIsCut: Bool { payload.count < payloadLength }

    /// It opens a connection. One that is a reset as well opens nothing, whatever its other bits say.
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
    /// The captured payload in the packet's bytes.
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
    /// In bytes from the datagram's start.
    package var offset: Int
    package var hasMore: Bool
    /// The captured payload in the packet's bytes.
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
