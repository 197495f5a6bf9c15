/// What a segment is in the course of its connection.
///
/// The rules stand in `HalfConnection.swift`.
package enum SegmentKind: Sendable, Hashable {
    /// Nothing in it takes up sequence numbers: a plain acknowledgment, a reset.
    case control
    /// Data, SYN or FIN for the first time, in order.
    case new
    /// For the first time, but after bytes that follow it: it overtook or was overtaken.
    case outOfOrder
    /// Sent before; or a hole that is filled so late that it can only have been lost before the capture saw it.
    case retransmission
    /// A retransmission on duplicate acknowledgments (RFC 5681 3.2).
    case fastRetransmission
    /// Sent again although the peer had acknowledged all of it.
    case spuriousRetransmission
    /// The last segment once more to find out whether it arrived (RFC 8985 7), and it had.
    case tailLossProbe
    /// The last segment once more, at a time at which a sender may have probed and its retransmission timer may have expired.
    case retransmissionOrProbe
    /// RFC 9293 3.8.4.
    case keepAlive
    /// RFC 9293 3.8.6.1.
    case zeroWindowProbe
    /// So far from all that was sent before that no window allows it.
    case outOfWindow
    /// The same packet once more in the capture: it was not sent twice.
    case copy

    /// What `wire no retransmission` means.
    package var isRetransmission: Bool {
        switch self {
        case .retransmission, .fastRetransmission, .spuriousRetransmission: true
        case .control, .new, .outOfOrder, .tailLossProbe, .retransmissionOrProbe, .keepAlive, .zeroWindowProbe,
            .outOfWindow, .copy:
            false
        }
    }

    /// As a person calls it; nil for what needs no mention.
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

/// The first transmission of data: the part of one packet that no packet before it had carried.
package struct DataSegment: Sendable, Hashable {
    /// Nanoseconds since 1970.
    package var time: UInt64
    package var packetIndex: Int
    /// In the stream.
    package var offset: Int64
    /// On the wire.
    package var length: Int
    /// The capture holds less of it.
    package var isCut: Bool
    package var kind: SegmentKind

    package var end: Int64 { offset + Int64(length) }
}

/// A packet that carried nothing new: a retransmission or a probe.
package struct RepeatedSegment: Sendable, Hashable {
    package var time: UInt64
    package var packetIndex: Int
    /// In the stream; -1 is the SYN.
    package var offset: Int64
    /// Payload on the wire.
    package var length: Int
    package var kind: SegmentKind
    /// It brought another value for a byte that was there.
    package var hasConflict: Bool
    /// Nothing has shown yet whether it replaced a segment that was lost.
    package var isDoubtful = false
}

/// A FIN or RST.
package struct CloseMark: Sendable, Hashable {
    /// Why the receiver of an RST goes on as if there had been none.
    package enum Refusal: Sendable, Hashable {
        /// Its sequence number is not the one that the receiver expects next (RFC 5961 3.2).
        case outsideWindow
        /// Both sides went on afterwards.
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
    /// Where it stands in its sender's stream.
    package var offset: Int64
    /// What it acknowledges, as an offset in the peer's stream; one more than the peer's last byte when it
    /// acknowledges the peer's FIN. nil without an ACK.
    package var acknowledged: Int64?
    /// Nil for one that counts.
    package var refusal: Refusal?

    init(time: UInt64, packetIndex: Int, offset: Int64, acknowledged: Int64? = nil, refusal: Refusal? = nil) {
        self.time = time
        self.packetIndex = packetIndex
        self.offset = offset
        self.acknowledged = acknowledged
        self.refusal = refusal
    }
}
