/// The type of link-layer header that captured packets have, as identified by a LINKTYPE_ value in a capture file.
package struct LinkType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The loopback interface of BSD: the header is a 4-byte address family in the byte order of the capturing system.
    package static let null = LinkType(rawValue: 0)
    /// Ethernet; also the loopback interface of Linux, whose packets have zeros as Ethernet addresses.
    package static let ethernet = LinkType(rawValue: 1)
    package static let ppp = LinkType(rawValue: 9)
    package static let fddi = LinkType(rawValue: 10)
    /// PPP in HDLC framing, or Cisco's HDLC.
    package static let pppHDLC = LinkType(rawValue: 50)
    /// PPPoE without an Ethernet header.
    package static let pppoe = LinkType(rawValue: 51)
    package static let atmRFC1483 = LinkType(rawValue: 100)
    package static let raw = LinkType(rawValue: 101)
    package static let ciscoHDLC = LinkType(rawValue: 104)
    package static let wireless = LinkType(rawValue: 105)
    /// The loopback interface of OpenBSD: the header is a 4-byte address family in network order.
    package static let loop = LinkType(rawValue: 108)
    /// OpenBSD's IPsec encapsulation interface (`enc`).
    package static let enc = LinkType(rawValue: 109)
    /// Linux cooked capture, version 1.
    package static let linuxSLL = LinkType(rawValue: 113)
    /// The log of OpenBSD's packet filter (`pflog`).
    package static let pflog = LinkType(rawValue: 117)
    /// An 802.11 frame preceded by a Prism header.
    package static let wirelessPrism = LinkType(rawValue: 119)
    /// An 802.11 frame preceded by a radiotap header.
    package static let wirelessRadiotap = LinkType(rawValue: 127)
    package static let appleIPOver1394 = LinkType(rawValue: 138)
    /// An 802.11 frame preceded by an AVS header.
    package static let wirelessAVS = LinkType(rawValue: 163)
    /// PPP preceded by a byte that gives the direction, as written by pppd.
    package static let pppd = LinkType(rawValue: 166)
    /// A per-packet information header, followed by a packet of another link type.
    package static let ppi = LinkType(rawValue: 192)
    package static let pppWithDirection = LinkType(rawValue: 204)
    package static let ipv4 = LinkType(rawValue: 228)
    package static let ipv6 = LinkType(rawValue: 229)
    /// Packets logged by Linux's netfilter.
    package static let nflog = LinkType(rawValue: 239)
    /// Linux cooked capture, version 2.
    package static let linuxSLL2 = LinkType(rawValue: 276)
    /// DLT_RAW, which some files contain instead of LINKTYPE_RAW: 12 on most systems, 14 on OpenBSD.
    package static let rawDLT = LinkType(rawValue: 12)
    package static let rawOpenBSD = LinkType(rawValue: 14)

    /// The link types that can be decoded, with their names without `LINKTYPE_`.
    package static let supported: [(type: LinkType, name: String)] = [
        (.null, "NULL"), (.ethernet, "EN10MB"), (.ppp, "PPP"), (.fddi, "FDDI"), (.rawDLT, "RAW"),
        (.rawOpenBSD, "RAW"), (.pppHDLC, "PPP_HDLC"), (.pppoe, "PPP_ETHER"), (.atmRFC1483, "ATM_RFC1483"),
        (.raw, "RAW"), (.ciscoHDLC, "C_HDLC"), (.wireless, "IEEE802_11"), (.loop, "LOOP"), (.enc, "ENC"),
        (.linuxSLL, "LINUX_SLL"), (.pflog, "PFLOG"), (.wirelessPrism, "IEEE802_11_PRISM"),
        (.wirelessRadiotap, "IEEE802_11_RADIOTAP"), (.appleIPOver1394, "APPLE_IP_OVER_IEEE1394"),
        (.wirelessAVS, "IEEE802_11_AVS"), (.pppd, "PPP_PPPD"), (.ppi, "PPI"), (.pppWithDirection, "PPP_WITH_DIR"),
        (.ipv4, "IPV4"), (.ipv6, "IPV6"), (.nflog, "NFLOG"), (.linuxSLL2, "LINUX_SLL2"),
    ]

    /// The names of common link types that do not carry IP, or whose headers cannot be decoded.
    private static let unsupported: [UInt32: String] = [
        6: "IEEE802_5", 107: "FRELAY", 114: "LTALK", 147: "USER0", 148: "USER1", 149: "USER2", 187: "BLUETOOTH_HCI_H4",
        189: "USB_LINUX", 195: "IEEE802_15_4_WITHFCS", 197: "ERF", 201: "BLUETOOTH_HCI_H4_WITH_PHDR",
        220: "USB_LINUX_MMAPPED", 227: "CAN_SOCKETCAN", 230: "IEEE802_15_4_NOFCS", 247: "INFINIBAND",
        249: "USBPCAP", 251: "BLUETOOTH_LE_LL", 252: "WIRESHARK_UPPER_PDU", 253: "NETLINK",
        256: "BLUETOOTH_LE_LL_WITH_PHDR",
    ]

    /// The name of the link type; `nil` if its packets cannot be decoded.
    package var name: String? { Self.supported.first { $0.type == self }?.name }
}

extension LinkType: CustomStringConvertible {
    /// The number of the link type, and its name if known: `link type 189 (USB_LINUX)`, `link type 300`.
    package var description: String {
        let name = name ?? Self.unsupported[rawValue]
        return "link type \(rawValue)" + (name.map { " (\($0))" } ?? "")
    }
}
