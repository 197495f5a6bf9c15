/// The selection of packets that are read from a link's capture.
///
/// A run captures a link at both ends, so the file contains each delivered packet twice: as sent and as received. Only
/// one view is read at a time, because the two copies of a packet would look like a retransmission. Packets of
/// interfaces that are not the end of a link are in every view.
package enum LinkView: Sendable, Hashable {
    /// Each packet as its receiver received it.
    case received
    /// Each packet as it was sent, including packets that the link dropped.
    case sent
    /// The packets that the given end sent and received.
    case at(CaptureLinkEnd)

    /// The beginning of the comment on a packet that the link duplicated. No view includes these duplicates, because
    /// the sender sent the packet only once.
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

/// An end of a link, which scripts declare with `link LEFT <-> RIGHT`.
package enum CaptureLinkEnd: String, Sendable, Hashable, CaseIterable {
    case left, right

    /// The description of the interface in a capture file, which identifies the end of the link.
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
