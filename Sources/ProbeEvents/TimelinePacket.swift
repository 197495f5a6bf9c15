/// A packet as shown in a timeline: its line, and the data that a drawing needs.
package struct TimelinePacket: Sendable, Equatable {
    /// The parts of a packet that could be decoded.
    package struct Segment: Sendable, Equatable {
        /// The sender and the receiver, as the line names them: actors, or addresses.
        package var from: String
        package var to: String
        /// The flags as shown in the line: `S`, `S.`, `P.`, `F.`, `R` …
        package var flags: String
        /// The sequence number relative to the SYN: 1 is the first byte.
        package var sequence: Int64
        /// The relative acknowledgment number; `nil` without an ACK, or if nothing from the peer was seen.
        package var acknowledgment: Int64?
        /// The window in bytes, scaled if the scale factor is known.
        package var window: Int
        /// The length of the payload on the wire, in bytes.
        package var payloadLength: Int
        /// The first bytes of the payload.
        package var payload: [UInt8]
        /// Remarks on what is unusual: `retransmission`, `zero window` …
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

    /// The whole line: `S -> T  P.  seq 1 ack 1 win 65536 len 7 "220 rea"`.
    package var text: String
    /// The parts; `nil` for a packet that is known by its line only, such as one that a link changed in transit.
    package var segment: Segment?
    /// The faults that links injected into it, one a line; the line has them in brackets.
    package var faults: [String]

    package init(_ text: String, segment: Segment? = nil, faults: [String] = []) {
        self.text = text
        self.segment = segment
        self.faults = faults
    }
}
