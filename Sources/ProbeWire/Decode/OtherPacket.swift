/// The kinds of captured packets that are not TCP segments of a flow.
package enum OtherPacket: Sendable, Hashable {
    // The following packets do not contain a TCP segment.

    case udp
    /// An IP packet of a protocol other than TCP, identified by the protocol's number.
    case ip(UInt8)
    /// A frame that does not carry IP, identified by its EtherType.
    case frame(UInt16)
    /// An 802.11 frame without data: a management frame, a control frame or an empty data frame.
    case wirelessControl
    /// A fragment of an IP datagram whose other fragments were also captured.
    case fragment

    // The following packets could not be read, so they may contain a segment of any flow.

    case linkType(LinkType)
    /// A packet that ends inside a header.
    case truncated
    /// A packet with an invalid length or version in the given layer's header.
    case malformed(PacketError.Layer)
    case tooManyHeaders
    /// A fragment of an IP datagram whose other fragments were not all captured.
    case orphanedFragment
    /// A fragment of an 802.11 frame.
    case wirelessFragment
    /// An 802.11 frame with several packets (A-MSDU).
    case wirelessAggregate
    /// An 802.11 frame that its receiver marked as having an incorrect check sequence.
    case damagedWireless
    /// A PPP packet with compressed IP and TCP headers.
    case compressedHeaders

    // The following packets may belong to flows none of whose packets can be read.

    case encryptedWireless
    case encryptedPPP
    /// A packet encrypted with IPsec.
    case encryptedIP
    /// A packet in a tunnel, if tunnels are not decapsulated.
    case tunnel(TunnelProtocol)

    init(_ error: PacketError) {
        self =
            switch error {
            case .endsInside: .truncated
            case .malformed(let layer, _): .malformed(layer)
            case .unknownLinkType(let type): .linkType(type)
            case .tooManyHeaders: .tooManyHeaders
            }
    }

    /// Whether the packet may contain a segment of any of the flows that are shown. If so, statements about these flows
    /// are uncertain.
    package var isUnread: Bool {
        switch self {
        case .udp, .ip, .frame, .wirelessControl, .fragment: false
        case .encryptedWireless, .encryptedPPP, .encryptedIP, .tunnel: false
        case .linkType, .truncated, .malformed, .tooManyHeaders, .orphanedFragment, .wirelessFragment,
            .wirelessAggregate,
            .damagedWireless, .compressedHeaders:
            true
        }
    }

    /// Whether the packet may contain a segment of a flow that is not shown at all.
    package var isHidden: Bool {
        switch self {
        case .encryptedWireless, .encryptedPPP, .encryptedIP, .tunnel: true
        default: false
        }
    }

    /// A description of the kind of packet: `UDP`, `link type 147 (USER0) not supported`.
    package var text: String {
        switch self {
        case .udp: "UDP"
        case .ip(let number): Self.protocolName(number) ?? "IP protocol \(number)"
        case .frame(let type): Self.frameName(type) ?? "EtherType 0x\(String(type, radix: 16))"
        case .wirelessControl: "802.11 without data"
        case .fragment: "IP fragments"
        case .linkType(let type): "\(type) not supported"
        case .truncated: "truncated"
        case .malformed(let layer): "malformed \(layer == .link ? "link-layer" : layer.rawValue) header"
        case .tooManyHeaders: "too many headers"
        case .orphanedFragment: "fragments of incomplete datagrams"
        case .wirelessFragment: "fragments of 802.11 frames"
        case .wirelessAggregate: "several packets in an 802.11 frame (A-MSDU)"
        case .damagedWireless: "802.11 with an incorrect frame check sequence"
        case .compressedHeaders: "PPP with compressed headers"
        case .encryptedWireless: "encrypted 802.11"
        case .encryptedPPP: "compressed or encrypted PPP"
        case .encryptedIP: "IPsec (ESP)"
        case .tunnel(let tunnel): "\(tunnel.rawValue) (--no-tunnels)"
        }
    }

    private static func protocolName(_ number: UInt8) -> String? {
        switch number {
        case 1: "ICMP"
        case 2: "IGMP"
        case 58: "ICMPv6"
        case 88: "EIGRP"
        case 89: "OSPF"
        case 103: "PIM"
        case 112: "VRRP"
        case 115: "L2TP"
        case 132: "SCTP"
        default: nil
        }
    }

    private static func frameName(_ type: UInt16) -> String? {
        switch type {
        case 0...1500: "LLC"
        case 0x0806: "ARP"
        case 0x8137: "IPX"
        case 0x8847: "MPLS without IP"
        case 0x8863: "PPPoE discovery"
        case 0x8864: "PPP without IP"
        case 0x888e: "EAPOL"
        case 0x88cc: "LLDP"
        case 0x88e5: "MACsec"
        case 0x88f7: "PTP"
        default: nil
        }
    }
}

/// The tunnels that `PacketDecoder` can decapsulate.
package enum TunnelProtocol: String, Sendable, Hashable, CaseIterable {
    case gre = "GRE"
    case erspan = "ERSPAN"
    case vxlan = "VXLAN"
    case gtp = "GTP-U"
    case geneve = "Geneve"
    case ipInIP = "IP-in-IP"
}

/// The numbers of packets in a capture that are not TCP segments of a flow, by kind.
package struct OtherPackets: Sendable, Hashable {
    private var counts: [OtherPacket: Int] = [:]
    // UDP packets have a separate counter, because many captures contain mostly UDP.
    private var udpCount = 0

    package init() {}

    package mutating func note(_ packet: OtherPacket, _ count: Int = 1) {
        if packet == .udp { udpCount += count } else { counts[packet, default: 0] += count }
    }

    /// Moves `count` packets from one kind to another.
    mutating func recount(_ count: Int, from old: OtherPacket, as new: OtherPacket) {
        let moved = min(count, self[old])
        guard moved > 0 else { return }
        note(old, -moved)
        if counts[old] == 0 { counts[old] = nil }
        note(new, moved)
    }

    mutating func add(_ other: OtherPackets) {
        udpCount += other.udpCount
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    package subscript(packet: OtherPacket) -> Int { packet == .udp ? udpCount : counts[packet] ?? 0 }

    /// The kinds of packets that occurred, the most frequent first.
    package var all: [(packet: OtherPacket, count: Int)] {
        let udp: [(packet: OtherPacket, count: Int)] = udpCount > 0 ? [(.udp, udpCount)] : []
        return (udp + counts.map { (packet: $0.key, count: $0.value) })
            .sorted { ($1.count, $0.packet.text) < ($0.count, $1.packet.text) }
    }

    /// The number of packets that could not be read and may contain a segment of any flow.
    package var unreadCount: Int { count(\.isUnread) }

    /// The number of packets that may belong to flows none of whose packets can be read: encrypted packets, and packets
    /// in tunnels that were not decapsulated.
    package var hiddenCount: Int { count(\.isHidden) }

    package func count(_ isCounted: (OtherPacket) -> Bool) -> Int {
        counts.reduce(isCounted(.udp) ? udpCount : 0) { $0 + (isCounted($1.key) ? $1.value : 0) }
    }

    /// Returns the most frequent of the included kinds with their counts: `9 UDP, 3 ARP`; `nil` if there are none.
    package func text(_ isIncluded: (OtherPacket) -> Bool) -> String? {
        let chosen = all.filter { isIncluded($0.packet) }
        var parts = chosen.prefix(Self.maxNamed).map { "\($0.count) \($0.packet.text)" }
        let rest = chosen.dropFirst(Self.maxNamed).reduce(0) { $0 + $1.count }
        if rest > 0 { parts.append("\(rest) others") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static let maxNamed = 6
}
