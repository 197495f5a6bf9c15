/// What a captured packet starts with: the LINKTYPE_ value of a capture file.
package struct LinkType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// BSD loopback: a 4-byte address family in the byte order of the capturing system.
    package static let null = LinkType(rawValue: 0)
    /// Also Linux loopback, with addresses of zeros.
    package static let ethernet = LinkType(rawValue: 1)
    package static let raw = LinkType(rawValue: 101)
    /// OpenBSD loopback: a 4-byte address family in network order.
    package static let loop = LinkType(rawValue: 108)
    /// Linux cooked capture, version 1.
    package static let linuxSLL = LinkType(rawValue: 113)
    package static let ipv4 = LinkType(rawValue: 228)
    package static let ipv6 = LinkType(rawValue: 229)
    /// Linux cooked capture, version 2.
    package static let linuxSLL2 = LinkType(rawValue: 276)
    /// DLT_RAW as it got into files: 12 on most systems, 14 on OpenBSD.
    package static let rawDLT = LinkType(rawValue: 12)
    package static let rawOpenBSD = LinkType(rawValue: 14)

    /// nil when packets of this type cannot be decoded here.
    package var name: String? {
        switch self {
        case .null: "NULL"
        case .ethernet: "EN10MB"
        case .raw, .rawDLT, .rawOpenBSD: "RAW"
        case .loop: "LOOP"
        case .linuxSLL: "LINUX_SLL"
        case .linuxSLL2: "LINUX_SLL2"
        case .ipv4: "IPV4"
        case .ipv6: "IPV6"
        default: nil
        }
    }
}
