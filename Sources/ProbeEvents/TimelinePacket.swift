/// A packet as shown in a timeline: its line of text, and the data needed for a diagram.
package struct TimelinePacket: Sendable, Equatable {
    /// The decoded parts of a packet.
    package struct Segment: Sendable, Equatable {
        /// The sender of the packet, as the line of text names it: an actor or an address. `to` is the receiver.
        package var from: String
        package var to: String
        /// The flags as shown in the line of text, such as `S`, `S.`, `P.`, `F.` or `R`.
        package var flags: String
        /// The sequence number relative to that of the SYN. The first byte of the stream has the number 1.
        package var sequence: Int64
        /// The relative acknowledgment number; `nil` if the segment has no ACK flag, or if no segment of the peer was
        /// captured.
        package var acknowledgment: Int64?
        /// The window in bytes, scaled if the scale factor is known.
        package var window: Int
        /// The length of the payload on the wire, in bytes.
        package var payloadLength: Int
        /// The first bytes of the payload.
        package var payload: [UInt8]
        /// Remarks on unusual properties of the packet, such as `retransmission` or `zero window`.
        package var marks: [String]

        package init(
            from: String, to: String, flags: String, sequence: Int64, acknowledgment: Int64?, window: Int,
            payloadLength: Int, payload: [UInt8], marks: [String]
        ) {
            self.from = from
            self.to = to
            self.flags = flags
            self.sequence = sequence
            self.acknowledgment = acknowledgment
            self.window = window
            self.payloadLength = payloadLength
            self.payload = payload
            self.marks = marks
        }
    }

    /// The packet's line of text, such as `S -> T  P.  seq 1 ack 1 win 65536 len 7 "220 rea"`.
    package var text: String
    /// The decoded parts; `nil` for a packet of which only the line of text is known, such as a packet that a link
    /// changed in transit.
    package var segment: Segment?
    /// The faults that links injected into the packet, which the line of text shows in brackets.
    package var faults: [String]

    package init(_ text: String, segment: Segment? = nil, faults: [String] = []) {
        self.text = text
        self.segment = segment
        self.faults = faults
    }
}
