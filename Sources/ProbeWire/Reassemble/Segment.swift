/// The role of a segment in its connection.
///
/// The rules are in `HalfConnection.swift`.
package enum SegmentKind: Sendable, Hashable {
    /// It uses no sequence numbers: a plain acknowledgment, a reset.
    case control
    /// Data, SYN or FIN sent for the first time, in order.
    case new
    /// Sent for the first time, but after bytes that follow it: it overtook or was overtaken.
    case outOfOrder
    /// Sent before; or it fills a hole so late that the original can only have been lost before the capture.
    case retransmission
    /// A retransmission in answer to duplicate acknowledgments (RFC 5681 3.2).
    case fastRetransmission
    /// Sent again although the peer had acknowledged all of it.
    case spuriousRetransmission
    /// The last segment sent again to find out whether it arrived (RFC 8985 7), and it had.
    case tailLossProbe
    /// The last segment sent again, at a time when a sender may have probed or its retransmission timer may have
    /// expired.
    case retransmissionOrProbe
    /// A keep-alive (RFC 9293 3.8.4).
    case keepAlive
    /// A zero-window probe (RFC 9293 3.8.6.1).
    case zeroWindowProbe
    /// Too far from everything sent before for any window to allow it.
    case outOfWindow
    /// The same packet again in the capture; it was not sent twice.
    case copy

    /// Whether the kind counts for `wire no retransmission`.
    package var isRetransmission: Bool {
        switch self {
        case .retransmission, .fastRetransmission, .spuriousRetransmission: true
        case .control, .new, .outOfOrder, .tailLossProbe, .retransmissionOrProbe, .keepAlive, .zeroWindowProbe,
            .outOfWindow, .copy:
            false
        }
    }

    /// The kind in words; `nil` if it needs no mention.
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

/// The first transmission of data: the part of one packet that no earlier packet had carried.
package struct DataSegment: Sendable, Hashable {
    /// The time in nanoseconds since 1970.
    package var time: UInt64
    package var packetIndex: Int
    /// The offset in the stream.
    package var offset: Int64
    /// The length on the wire.
    package var length: Int
    /// Whether the capture holds less than the whole segment.
    package var isCut: Bool
    package var kind: SegmentKind

    package var end: Int64 { offset + Int64(length) }
}

/// A packet that carried nothing new: a retransmission or a probe.
package struct RepeatedSegment: Sendable, Hashable {
    package var time: UInt64
    package var packetIndex: Int
    /// The offset in the stream; -1 is the SYN.
    package var offset: Int64
    /// The length of the payload on the wire.
    package var length: Int
    package var kind: SegmentKind
    /// Whether the packet carried a different value for a byte that was already there.
    package var hasConflict: Bool
    /// Whether it is still unknown if the packet replaced a lost segment.
    package var isDoubtful = false
}

/// A FIN or RST.
package struct CloseMark: Sendable, Hashable {
    /// Why the receiver of an RST continues as if it had not been sent.
    package enum Refusal: Sendable, Hashable {
        /// Its sequence number is not the one that the receiver expects next (RFC 5961 3.2).
        case outsideWindow
        /// Both sides continued afterwards.
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
    /// The offset in its sender's stream.
    package var offset: Int64
    /// The offset in the peer's stream that it acknowledges; one more than the peer's last byte if it acknowledges the
    /// peer's FIN. `nil` without an ACK.
    package var acknowledged: Int64?
    /// Why an RST does not count; `nil` if it counts.
    package var refusal: Refusal?

    init(time: UInt64, packetIndex: Int, offset: Int64, acknowledged: Int64? = nil, refusal: Refusal? = nil) {
        self.time = time
        self.packetIndex = packetIndex
        self.offset = offset
        self.acknowledged = acknowledged
        self.refusal = refusal
    }
}
