import ProbeBase
package import ProbeWire

/// A packet of a flow, with additional data from the capture file.
package struct InspectedPacket: Sendable {
    package var summary: PacketSummary
    /// The comments in the file's packet block. A run records its steps in these comments.
    package var comments: [String]
    /// The decoded segment; `nil` for a packet that was reassembled from fragments.
    package var segment: DecodedTCP?
    /// The ranges that the packet's SACK blocks report, in order. They consist of the peer's sequence numbers, relative
    /// to the peer's SYN. The list is empty for a packet that was reassembled from fragments.
    package var sacks: [Range<Int64>] = []
    /// Whether the packet's data fills the window that the receiver most recently advertised. The sender must then
    /// wait.
    package var isWindowFull = false
    /// Whether the scale of the packet's window is known, because the handshake was captured.
    package var isWindowScaled = true

    /// The number of the packet in the file, counting from 1.
    package var number: Int { summary.packetIndex + 1 }

    /// Descriptions of what is unusual about the packet, including whether the packet fills the receiver's window, and
    /// which data the packet reports as received after a gap.
    package var marks: [String] {
        var marks = summary.marks
        if isWindowFull { marks.append("window full") }
        if !sacks.isEmpty {
            marks.append("SACK " + sacks.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", "))
        }
        return marks
    }

    /// The window as text, such as `win 512`, with a question mark if the scale is unknown; `nil` for a reset, whose
    /// window field has no meaning.
    var windowText: String? {
        if summary.flags.contains(.rst) { return nil }
        return "win \(summary.window)" + (isWindowScaled || summary.window == 0 ? "" : "?")
    }
}

extension Conversation {
    /// Returns whether the new data in the connection's last packet reaches the end of the window that the receiver
    /// advertised.
    func isWindowFull(by summary: PacketSummary) -> Bool {
        guard summary.payloadLength > 0, summary.kind == .new else { return false }
        let acknowledged: Int64?
        let window: WindowHistory
        switch summary.side {
        case .client: (acknowledged, window) = (fromClient.acknowledgedEnd, fromServer.window)
        case .server: (acknowledged, window) = (fromServer.acknowledgedEnd, fromClient.window)
        }
        guard let last = window.last, last > 0, !window.hasUnknownScale else { return false }
        return summary.relativeSequence - 1 + Int64(summary.payloadLength) == max(0, acknowledged ?? 0) + Int64(last)
    }

    func isWindowScaled(from side: ConversationSide) -> Bool {
        side == .client ? !fromClient.window.hasUnknownScale : !fromServer.window.hasUnknownScale
    }
}
