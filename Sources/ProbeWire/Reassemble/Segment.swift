/// The role of a segment in its connection.
///
/// The rules that determine the role are in `HalfConnection.swift`.
package enum SegmentKind: Sendable, Hashable {
    /// A segment that occupies no sequence numbers, such as a plain acknowledgment or a reset.
    case control
    /// Data, a SYN or a FIN that was sent for the first time and arrived in order.
    case new
    /// Data that was sent for the first time, but was captured after bytes that follow it in the stream.
    case outOfOrder
    /// A segment that was sent before, or a segment that fills a gap so late that the original must have been lost
    /// before it could be captured.
    case retransmission
    /// A retransmission in response to duplicate acknowledgments (RFC 5681, section 3.2).
    case fastRetransmission
    /// A segment that was sent again although the peer had acknowledged all of it.
    case spuriousRetransmission
    /// The last segment, sent again to find out whether it had arrived (RFC 8985, section 7). The original had arrived,
    /// as far as is known.
    case tailLossProbe
    /// The last segment, retransmitted at a time when the cause may have been a tail loss probe or the expiry of the
    /// retransmission timer.
    case retransmissionOrProbe
    /// A keep-alive (RFC 9293, section 3.8.4).
    case keepAlive
    /// A zero-window probe (RFC 9293, section 3.8.6.1).
    case zeroWindowProbe
    /// A segment so far from everything sent before that no window can have allowed it.
    case outOfWindow
    /// A second copy of a packet in the capture. The packet was not sent twice.
    case copy

    /// Whether segments of this kind violate `wire no retransmission`.
    package var isRetransmission: Bool {
        switch self {
        case .retransmission, .fastRetransmission, .spuriousRetransmission: true
        case .control, .new, .outOfOrder, .tailLossProbe, .retransmissionOrProbe, .keepAlive, .zeroWindowProbe,
            .outOfWindow, .copy:
            false
        }
    }

    /// The name of the kind; `nil` for ordinary segments, which are not labeled.
    package var label: String? {
        switch self {
        case .control, .new: nil
        case .outOfOrder: "out of order"
        case .retransmission: "retransmission"
        case .fastRetransmission: "fast retransmission"
        case .spuriousRetransmission: "spurious retransmission"
        case .tailLossProbe: "tail-loss probe"
        case .retransmissionOrProbe: "retransmission or probe"
        case .keepAlive: "keep-alive"
        case .zeroWindowProbe: "zero-window probe"
        case .outOfWindow: "out of window"
        case .copy: "captured twice"
        }
    }
}

/// The first transmission of data: the part of a packet's payload that no earlier packet carried.
package struct DataSegment: Sendable, Hashable {
    /// The time in nanoseconds since 1970.
    package var time: UInt64
    package var packetIndex: Int
    /// The offset of the segment in the stream.
    package var offset: Int64
    /// The length of the segment on the wire.
    package var length: Int
    /// Whether the capture contains only a part of the segment.
    package var isCut: Bool
    package var kind: SegmentKind

    package var end: Int64 { offset + Int64(length) }
}

/// A packet that carried no new data: a retransmission or a probe.
package struct RepeatedSegment: Sendable, Hashable {
    package var time: UInt64
    package var packetIndex: Int
    /// The offset of the packet in the stream; -1 for a SYN.
    package var offset: Int64
    /// The length of the payload on the wire.
    package var length: Int
    package var kind: SegmentKind
    /// Whether the packet carried a byte whose value differs from that of an earlier packet.
    package var hasConflict: Bool
    /// Whether it is still unknown whether the packet replaced a lost segment.
    package var isDoubtful = false
}

/// A FIN or RST.
package struct CloseMark: Sendable, Hashable {
    /// The reason why the receiver of an RST continues as if the RST had not been sent.
    package enum Refusal: Sendable, Hashable {
        /// The sequence number of the RST is not the one that the receiver expects next (RFC 5961, section 3.2).
        case outsideWindow
        /// Both sides continued the connection after the RST.
        case ignored

        package var text: String {
            switch self {
            case .outsideWindow: "outside window"
            case .ignored: "ignored"
            }
        }
    }

    package var time: UInt64
    package var packetIndex: Int
    /// The offset of the FIN or RST in its sender's stream.
    package var offset: Int64
    /// The offset up to which the FIN or RST acknowledges the peer's stream, which is one more than the stream's length
    /// if the peer's FIN is acknowledged; `nil` if the FIN or RST has no ACK.
    package var acknowledged: Int64?
    /// The reason why the RST had no effect; `nil` for a FIN, and for an RST that had an effect.
    package var refusal: Refusal?

    init(time: UInt64, packetIndex: Int, offset: Int64, acknowledged: Int64? = nil, refusal: Refusal? = nil) {
        self.time = time
        self.packetIndex = packetIndex
        self.offset = offset
        self.acknowledged = acknowledged
        self.refusal = refusal
    }
}
