package import ProbeBase

/// The role of a packet in its connection: its kind, and its sequence and acknowledgment numbers relative to the SYN.
package struct PacketSummary: Sendable, Hashable {
    package var conversation: Int
    package var side: ConversationSide
    package var time: UInt64
    package var packetIndex: Int
    package var flags: TCPFlags
    /// The sequence number relative to the SYN: the SYN has the number 0, and the first byte has the number 1, as is
    /// customary.
    package var relativeSequence: Int64
    /// The acknowledgment number relative to the peer's SYN; `nil` if the packet has no ACK, or if the peer's sequence
    /// numbers are unknown.
    package var relativeAcknowledgment: Int64?
    /// The advertised window in bytes, scaled if the scale factor is known.
    package var window: Int
    /// The length of the payload on the wire.
    package var payloadLength: Int
    package var payloadIsCut: Bool
    package var kind: SegmentKind
    package var isDuplicateAck: Bool
    package var isWindowUpdate: Bool
    /// Whether the packet advertises a window of 0.
    package var isZeroWindow: Bool
    /// Whether the packet carries a byte whose value differs from that of an earlier packet. The first value is used.
    package var hasConflict: Bool
    package var isUrgent: Bool
    /// Whether this packet is the first packet of its connection that exceeded the memory limit of its flow or of all
    /// flows together.
    package var hasReachedLimit: Bool

    /// Returns the packet on one line: `P.  seq 1 ack 1 win 65536 len 7 "220 rea"  [retransmission]`. `payload` may be
    /// empty if the bytes are not available.
    package func text(payload: Span<UInt8>, payloadLimit: Int = 32) -> String {
        var flagText = flags.description
        while flagText.count < 3 { flagText += " " }
        var text = "\(flagText) seq \(relativeSequence)"
        if let relativeAcknowledgment { text += " ack \(relativeAcknowledgment)" }
        text += " win \(window) len \(payloadLength)"
        if payload.count > 0 { text += " " + Escaped.excerpt(payload, limit: payloadLimit) }
        let marks = marks
        if !marks.isEmpty { text += "  [" + marks.joined(separator: ", ") + "]" }
        return text
    }

    /// Descriptions of what is unusual about the packet.
    package var marks: [String] {
        var marks: [String] = []
        if let label = kind.label { marks.append(label) }
        if isDuplicateAck { marks.append("duplicate ACK") }
        if isWindowUpdate { marks.append("window update") }
        if isZeroWindow { marks.append("zero window") }
        if isUrgent { marks.append("urgent") }
        if hasConflict { marks.append("different bytes than before") }
        if hasReachedLimit { marks.append("memory limit reached") }
        if payloadIsCut { marks.append("cut short by the capture") }
        return marks
    }
}
