/// A packet as a timeline shows it: its line, and what a drawing needs of it.
package struct TimelinePacket: Sendable, Equatable {
    /// The parts of a packet that could be decoded.
    package struct Segment: Sendable, Equatable {
        /// The sender and the receiver, as the line names them: actors, or addresses.
        package var from: String
        package var to: String
        /// `S`, `S.`, `P.`, `F.`, `R` …: the flags as the line shows them.
        package var flags: String
        /// Relative to the SYN: 1 is the first byte.
        package var sequence: Int64
        /// Relative, too; nil without an ACK, or where nothing of the peer was seen.
        package var acknowledgment: Int64?
        /// Bytes, scaled where the scale factor is known.
        package var window: Int
        /// Of the payload on the wire, in bytes.
        package var payloadLength: Int
        /// The first bytes of the payload.
        package var payload: [UInt8]
        /// What is unusual about it, in words: `retransmission`, `zero window` …
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
    /// Nil for a packet that is known by its line only, such as one that a link changed on its way.
    package var segment: Segment?
    /// What links did to it, a line each; the line has them in brackets.
    package var faults: [String]

    package init(_ text: String, segment: Segment? = nil, faults: [String] = []) {
        self.text = text
        self.segment = segment
        self.faults = faults
    }
}
