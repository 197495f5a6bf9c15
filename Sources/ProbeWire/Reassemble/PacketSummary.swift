package import ProbeBase

/// What one packet means in its connection: numbers relative to the SYN, and what it is.
package struct PacketSummary: Sendable, Hashable {
    package var conversation: Int
    package var side: ConversationSide
    package var time: UInt64
    package var packetIndex: Int
    package var flags: TCPFlags
    /// 0 is the SYN, 1 the first byte, as everyone prints it.
    package var relativeSequence: Int64
    /// nil without an ACK, or where nothing of the peer's was seen.
    package var relativeAcknowledgment: Int64?
    /// Bytes, scaled where the scale factor is known.
    package var window: Int
    /// Payload on the wire.
    package var payloadLength: Int
    package var payloadIsCut: Bool
    package var kind: SegmentKind
    package var isDuplicateAck: Bool
    package var isWindowUpdate: Bool
    /// It says that its sender's window is shut.
    package var isZeroWindow: Bool
    /// It brings another value for a byte that was there; the first one counts.
    package var hasConflict: Bool
    package var isUrgent: Bool
    /// With it the memory that its flow, or all together, may use was used up, for the first time in its connection.
    package var hasReachedLimit: Bool

    /// One line: `P.  seq 1 ack 1 win 65536 len 7 "220 rea"  [retransmission]`. `payload` may be empty where it is not at hand.
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

    /// What is unusual about it, in words.
    package var marks: [String] {
        var marks: [String] = []
        if let label = kind.label { marks.append(label) }
        if isDuplicateAck { marks.append("duplicate ACK") }
        if isWindowUpdate { marks.append("window update") }
        if isZeroWindow { marks.append("zero window") }
        if isUrgent { marks.append("urgent") }
        if hasConflict { marks.append("other bytes than before") }
        if hasReachedLimit { marks.append("memory limit reached") }
        if payloadIsCut { marks.append("cut short by the capture") }
        return marks
    }
}
