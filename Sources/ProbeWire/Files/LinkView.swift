/// The packets of a link's capture that are read.
///
/// A run captures a link at both ends, so a packet that arrived is in the file twice: as its sender sent it, and as its
/// receiver received it. Only one view is read at a time, because the two copies of a packet would look like a
/// retransmission. Packets of other interfaces are in every view.
package enum LinkView: Sendable, Hashable {
    /// Each packet as its receiver saw it.
    case received
    /// Each packet as its sender sent it.
    case sent
    /// The packets that the end on this side sent and received.
    case at(CaptureLinkEnd)

    /// The beginning of the comment on a copy that the link made of a packet. No view includes such a copy: it was not
    /// sent twice.
    package static let copyComment = "a copy that the link made"

    func includes(_ end: CaptureLinkEnd, _ direction: PacketDirection?, _ comments: [String]) -> Bool {
        if comments.contains(where: { $0.hasPrefix(Self.copyComment) }) { return false }
        return switch self {
        case .received: direction != .outbound
        case .sent: direction != .inbound
        case .at(let side): side == end
        }
    }
}

/// An end of a link: `link LEFT <-> RIGHT`.
package enum CaptureLinkEnd: String, Sendable, Hashable, CaseIterable {
    case left, right

    /// The description of the interface in a capture file, by which the end is recognized.
    package var description: String { Self.beginning + rawValue }

    init?(description: String) {
        guard description.hasPrefix(Self.beginning) else { return nil }
        self.init(rawValue: String(description.dropFirst(Self.beginning.count)))
    }

    private static let beginning = "tcpprobe link, end: "
}

/// Whether an interface received a packet or sent it (pcapng's epb_flags).
package enum PacketDirection: UInt8, Sendable, Hashable {
    case inbound = 1
    case outbound = 2
}
