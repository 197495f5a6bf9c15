import ProbeBase
package import ProbeWire

/// One packet of a flow, with its data from the file.
package struct InspectedPacket: Sendable {
    package var summary: PacketSummary
    /// The comments of the file's packet block; a run writes its steps there.
    package var comments: [String]
    /// The ranges that its SACK blocks report, in order, in the peer's sequence numbers relative to the SYN. Empty for
    /// a packet that was reassembled from fragments.
    package var sacks: [Range<Int64>] = []
    /// Whether its data fills the window that the receiver announced last, so that the sender must wait.
    package var isWindowFull = false
    /// Whether the scale of its window is known, because the handshake is in the capture.
    package var isWindowScaled = true

    /// What is unusual about the packet, in words, including the receiver's view: what fills its window, and what it
    /// has received beyond a gap.
    package var marks: [String] {
        var marks = summary.marks
        if isWindowFull { marks.append("window full") }
        if !sacks.isEmpty {
            marks.append("SACK " + sacks.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ", "))
        }
        return marks
    }

    /// The window, as `win 512`; with a question mark if its scale is unknown. `nil` for a reset, whose window has no
    /// meaning.
    var windowText: String? {
        if summary.flags.contains(.rst) { return nil }
        return "win \(summary.window)" + (isWindowScaled || summary.window == 0 ? "" : "?")
    }
}

extension Conversation {
    /// Returns whether the new data of the connection's last packet reaches the end of the window that its receiver
    /// announced.
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

extension DecodedTCP {
    /// Returns the SACK blocks as ranges of relative sequence numbers, computed from their distance to the
    /// acknowledgment in the same packet.
    func sacks(acknowledging relative: Int64?) -> [Range<Int64>] {
        guard let relative, !options.sack.isEmpty else { return [] }
        return options.sack.blocks.compactMap { block in
            let start = relative + Int64(block.start - acknowledgment)
            let end = relative + Int64(block.end - acknowledgment)
            return start < end ? start..<end : nil
        }
    }
}
