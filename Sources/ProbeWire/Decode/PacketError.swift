/// The reason why a packet could not be decoded. Offsets count from the packet's first byte.
package enum PacketError: Error, Sendable, Hashable {
    package enum Layer: String, Sendable, Hashable {
        case link, vlan = "VLAN", mpls = "MPLS", pppoe = "PPPoE", ipv4 = "IPv4", ipv6 = "IPv6", tcp = "TCP", udp =
            "UDP", gre = "GRE"
    }

    /// The packet ends inside the given layer's header.
    case endsInside(Layer, offset: Int)
    /// A length or version in the given layer's header is invalid.
    case malformed(Layer, offset: Int)
    case unknownLinkType(LinkType)
    /// The packet has more tags, labels or extension headers than any real packet.
    case tooManyHeaders(offset: Int)
}
