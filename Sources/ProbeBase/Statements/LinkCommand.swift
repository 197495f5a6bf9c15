/// A command of a link: a fault of some packets, or a state of the whole link.
package enum LinkCommand<Stage: StatementStage>: Sendable {
    case packets(PacketFault, PacketSelection<Stage>)
    /// Truncates the IP packet after this number of bytes; its header still contains the original length.
    case truncate(PacketSelection<Stage>, to: Stage.Number)
    /// Forwards held packets.
    case release
    case reset(ResetPlace)
    /// Sends an RST as soon as that packet has been forwarded.
    case resetBehind(PacketSelection<Stage>)
    /// The sender announces a window of 0 from now on.
    case shutWindow
    /// The largest window that the sender announces from now on, in bytes.
    case window(Stage.Number)
    /// Replaces an option of SYN and SYN-ACK by NOPs (RFC 9293, 3.1).
    case strip(StrippedOption)
    /// The largest MSS that SYN and SYN-ACK announce.
    case clampMSS(Stage.Number)
    /// Inserts a segment at the receiver's next sequence number.
    case inject(Stage.Bytes)
    /// Drops packets and answers them with ICMP "destination unreachable"; `nil` for all packets.
    case unreachable(PacketSelection<Stage>?)
    /// Drops larger packets, with or without the ICMP message that reports it (RFC 1191, RFC 8201).
    case mtu(Stage.Number, isSilent: Bool)
    /// - Parameter mayReorder: whether a packet may overtake an earlier one whose jitter is longer.
    case delay(Duration, jitter: Duration, seed: Stage.Seed, mayReorder: Bool)
    /// - Parameter queue: the maximum number of queued bytes; further packets are dropped. The default is 64 KiB.
    case rate(bytesPerSecond: Int, queue: Stage.Number?)
    /// - Parameter burst: the number of packets that are lost in a row; `nil` for single losses.
    case loss(percent: Double, seed: Stage.Seed, burst: Stage.Number?)
    case burst(Stage.Number)
    case down, up
    /// Ends every fault and state, and forwards held packets.
    case heal

    /// The packets that the command names.
    package var selection: PacketSelection<Stage>? {
        switch self {
        case .packets(_, let selection), .truncate(let selection, _), .resetBehind(let selection),
            .unreachable(let selection?):
            selection
        default: nil
        }
    }
}

/// A fault of a packet.
package enum PacketFault: Sendable, Equatable {
    case drop
    case duplicate
    case delay(Duration)
    /// The packet is forwarded after the next packet of its direction.
    case swap
    case breakChecksum
    /// A payload byte is changed, and the checksum is adjusted.
    case alter
    /// The packet is held until ``LinkCommand/release``.
    case hold

    /// The words of the commands of a link by which a packet does not reach its receiver's TCP.
    package static let lossWords = ["drop", "loss", "down", "break-checksum", "truncate", "unreachable"]
}

/// The position of a link's RST in the stream of the receiver.
package enum ResetPlace: Sendable {
    case now
    /// With a sequence number outside the receiver's window.
    case outsideWindow
}

/// An option of SYN and SYN-ACK that a link can remove. `sack` is SACK-Permitted.
package enum StrippedOption: String, Sendable, CaseIterable {
    case sack, wscale, timestamps, mss
}

package enum PacketKind: String, Sendable, CaseIterable {
    case data, syn, synack, ack, fin, rst, any
}

/// A selection of packets of one direction, counted from the command on.
package struct PacketSelection<Stage: StatementStage>: Sendable {
    package var kind: PacketKind
    package var ordinals: Stage.Ordinals
    /// Whether the next copy of the packet is meant.
    package var isAgain: Bool

    package init(kind: PacketKind, ordinals: Stage.Ordinals, isAgain: Bool = false) {
        self.kind = kind
        self.ordinals = ordinals
        self.isAgain = isAgain
    }
}
