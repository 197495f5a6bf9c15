/// A command to a link: a fault that affects certain packets, or a state of the entire link.
package enum LinkCommand<Stage: StatementStage>: Sendable {
    case packets(PacketFault, PacketSelection<Stage>)
    /// Truncates the IP packet to this number of bytes; the packet's header still contains the original length.
    case truncate(PacketSelection<Stage>, to: Stage.Number)
    /// Forwards held packets.
    case release
    case reset(ResetPlace)
    /// Sends an RST as soon as the selected packet has been forwarded.
    case resetBehind(PacketSelection<Stage>)
    /// From this command on, sets the window that the sender advertises to 0.
    case shutWindow
    /// From this command on, limits the window that the sender advertises to this number of bytes.
    case window(Stage.Number)
    /// Replaces an option in SYN and SYN-ACK segments with NOPs (RFC 9293, section 3.1).
    case strip(StrippedOption)
    /// Limits the value of the MSS option in SYN and SYN-ACK segments.
    case clampMSS(Stage.Number)
    /// Inserts a segment at the sequence number that the receiver expects next.
    case inject(Stage.Bytes)
    /// Drops the selected packets, or all packets if the selection is `nil`, and answers each packet with ICMP
    /// "destination unreachable".
    case unreachable(PacketSelection<Stage>?)
    /// Drops packets that exceed the MTU; unless `isSilent`, the link reports the MTU in an ICMP message (RFC 1191, RFC
    /// 8201).
    case mtu(Stage.Number, isSilent: Bool)
    /// Delays packets.
    ///
    /// - Parameter mayReorder: whether a packet may overtake an earlier packet whose jitter is longer.
    case delay(Duration, jitter: Duration, seed: Stage.Seed, mayReorder: Bool)
    /// Limits the rate at which packets are forwarded.
    ///
    /// - Parameter queue: the maximum number of queued bytes, above which packets are dropped. The default is 64 KiB.
    case rate(bytesPerSecond: Int, queue: Stage.Number?)
    /// Drops random packets.
    ///
    /// - Parameter burst: the number of consecutive packets that are lost; `nil` if single packets are lost.
    case loss(percent: Double, seed: Stage.Seed, burst: Stage.Number?)
    case burst(Stage.Number)
    case down, up
    /// Ends all faults and states of the link, and forwards the held packets.
    case heal

    /// The packets to which the command applies.
    package var selection: PacketSelection<Stage>? {
        switch self {
        case .packets(_, let selection), .truncate(let selection, _), .resetBehind(let selection),
            .unreachable(let selection?):
            selection
        default: nil
        }
    }
}

/// A fault that affects a packet.
package enum PacketFault: Sendable, Equatable {
    case drop
    case duplicate
    case delay(Duration)
    /// The packet is forwarded after the next packet in the same direction.
    case swap
    case breakChecksum
    /// A payload byte is changed, and the checksum is adjusted.
    case alter
    /// The packet is held until ``LinkCommand/release``.
    case hold

    /// The keywords of the link commands that prevent a packet from reaching the receiver's TCP implementation.
    package static let lossWords = ["drop", "loss", "down", "break-checksum", "truncate", "unreachable"]
}

/// The sequence number of an RST that a link sends, relative to the receiver's window.
package enum ResetPlace: Sendable {
    case now
    /// The RST has a sequence number outside the receiver's window.
    case outsideWindow
}

/// An option that a link can remove from SYN and SYN-ACK segments. `sack` is the SACK-Permitted option.
package enum StrippedOption: String, Sendable, CaseIterable {
    case sack, wscale, timestamps, mss
}

package enum PacketKind: String, Sendable, CaseIterable {
    case data, syn, synack, ack, fin, rst, any
}

/// A selection of packets in one direction. Only packets that are sent after the command has taken effect are counted.
package struct PacketSelection<Stage: StatementStage>: Sendable {
    package var kind: PacketKind
    package var ordinals: Stage.Ordinals
    /// Whether the selection refers to the next retransmission of a packet instead of its first transmission.
    package var isAgain: Bool

    package init(kind: PacketKind, ordinals: Stage.Ordinals, isAgain: Bool = false) {
        self.kind = kind
        self.ordinals = ordinals
        self.isAgain = isAgain
    }
}
