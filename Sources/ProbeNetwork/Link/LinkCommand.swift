/// One of the two sides of a link.
package enum LinkSide: Sendable, Hashable, CaseIterable {
    case left, right

    package var opposite: LinkSide { self == .left ? .right : .left }
}

/// A value for each of the two directions or sides.
struct LinkPair<Value: Sendable>: Sendable {
    private var left: Value
    private var right: Value

    init(_ left: Value, _ right: Value) { (self.left, self.right) = (left, right) }

    subscript(side: LinkSide) -> Value {
        get { side == .left ? left : right }
        _modify {
            if side == .left { yield &left } else { yield &right }
        }
    }
}

/// What a link is told: a fault of packets, or a state of the whole link.
package enum LinkCommand: Sendable, Equatable {
    case packets(LinkFault, LinkSelection)
    /// What was held goes on.
    case release
    case reset(LinkResetPlace)
    /// The largest window that the sender announces from here on, in bytes; 0 shuts it.
    case window(Int)
    /// Replaces an option of SYN and SYN-ACK by NOPs (RFC 9293, 3.1).
    case strip(LinkTCPOption)
    /// The largest MSS that SYN and SYN-ACK announce.
    case clampMSS(Int)
    /// A segment that nobody sent, at the receiver's next sequence number.
    case inject([UInt8])
    /// Packets are dropped and answered by ICMP "destination unreachable"; nil: all.
    case unreachable(LinkSelection?)
    /// Larger packets are dropped, with or without the ICMP message that says so (RFC 1191, RFC 8201).
    case mtu(Int, isSilent: Bool)
    /// - Parameter mayReorder: a packet may overtake an earlier one whose jitter is longer.
    case delay(Duration, jitter: Duration, seed: UInt64, mayReorder: Bool)
    /// - Parameter queue: bytes that wait at most; what comes then is dropped. Nil: 64 KiB.
    case rate(bytesPerSecond: Int, queue: Int?)
    /// - Parameter burst: losses come in runs of so many packets.
    case loss(percent: Double, seed: UInt64, burst: Int)
    case burst(Int)
    case down, up
    /// Ends every fault and state; what is held goes on.
    case heal

    /// The packets that it names.
    var selection: LinkSelection? {
        switch self {
        case .packets(_, let selection), .reset(.behind(let selection)), .unreachable(let selection?): selection
        default: nil
        }
    }
}

/// What happens to a packet.
package enum LinkFault: Sendable, Equatable {
    case drop
    case duplicate
    case delay(Duration)
    /// It goes on behind the next packet of its direction.
    case swap
    case breakChecksum
    /// Another payload byte, and the checksum that fits it.
    case alter
    /// The IP packet ends after so many bytes: the rest is missing, and its header still says the whole length.
    case truncate(Int)
    /// Kept until ``LinkCommand/release``.
    case hold
}

package enum LinkResetPlace: Sendable, Equatable {
    case now
    /// With a sequence number that the receiver's window does not have.
    case outsideWindow
    /// As soon as that packet has gone on.
    case behind(LinkSelection)
}

package enum LinkTCPOption: UInt8, Sendable {
    case mss = 2
    case wscale = 3
    /// SACK-Permitted.
    case sack = 4
    case timestamps = 8
}

package enum LinkPacketKind: Int, Sendable, Hashable, CaseIterable {
    case data, syn, synack, ack, fin, rst, any
}

/// Which packets of a direction, counted from the command on.
package struct LinkSelection: Sendable, Equatable {
    package var kind: LinkPacketKind
    /// Of first transmissions; nil: every packet, and each of its copies.
    package var ordinals: ClosedRange<Int>?
    /// The next copy of it.
    package var isAgain: Bool

    package init(kind: LinkPacketKind, ordinals: ClosedRange<Int>?, isAgain: Bool = false) {
        self.kind = kind
        self.ordinals = ordinals
        self.isAgain = isAgain
    }
}

/// Why a link can't be made, or can't do what it is told.
package struct LinkError: Error, Sendable, Equatable {
    package let text: String

    package init(_ text: String) { self.text = text }
}
