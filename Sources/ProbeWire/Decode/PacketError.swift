/// Why a packet could not be decoded; offsets count from the packet's first byte.
package enum PacketError: Error, Sendable, Hashable {
    package enum Layer: String, Sendable, Hashable {
        case link, vlan = "VLAN", mpls = "MPLS", pppoe = "PPPoE", ipv4 = "IPv4", ipv6 = "IPv6", tcp = "TCP", udp =
            "UDP", gre = "GRE"
    }

    /// The packet ends inside this layer's header.
    case endsInside(Layer, offset: Int)
    /// A length or version in this layer's header cannot be.
    case malformed(Layer, offset: Int)
    case unknownLinkType(LinkType)
    /// More tags, labels or extension headers than anyone sends.
    case tooManyHeaders(offset: Int)
}
