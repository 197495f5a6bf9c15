package import ProbeBase
package import ProbeWire

/// The timing of a flow: the time that the first response took, the longest pause and the side that caused it, and the
/// time of each side's last packet.
///
/// A pause ends only with a packet that carries something new: data sent for the first time, a SYN, a FIN or an RST.
/// Acknowledgments, keep-alives and retransmissions do not end a pause, but a side that retransmits is not considered
/// silent.
package struct ConnectionTiming: Sendable, Hashable {
    package struct Pause: Sendable, Hashable {
        /// The length of the pause in nanoseconds.
        package var duration: Int64
        package var silent: ConversationSide
    }

    /// The time of the client's last data before the first response. The request is considered to end with this data.
    private var request: UInt64?
    private var answer: UInt64?
    private var lastClient: UInt64?
    private var lastServer: UInt64?
    private var turn: (time: UInt64, side: ConversationSide)?
    /// The sides that have retransmitted or probed since the last packet that carried something new.
    private var repeaters: Set<ConversationSide> = []
    private var longest: Pause?

    package init() {}

    package static func == (left: ConnectionTiming, right: ConnectionTiming) -> Bool {
        left.request == right.request && left.answer == right.answer && left.lastClient == right.lastClient
            && left.lastServer == right.lastServer && left.longestPause == right.longestPause
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(request)
        hasher.combine(answer)
        hasher.combine(longestPause)
    }

    package mutating func note(_ summary: PacketSummary) {
        let time = summary.time
        if summary.side == .client {
            lastClient = max(lastClient ?? 0, time)
        } else {
            lastServer = max(lastServer ?? 0, time)
        }
        let isReset = summary.flags.contains(.rst)
        guard isReset || summary.kind == .new || summary.kind == .outOfOrder else {
            if summary.kind != .control { repeaters.insert(summary.side) }
            return
        }
        if summary.payloadLength > 0, answer == nil, !isReset {
            if summary.side == .client { request = time } else if request != nil { answer = time }
        }
        let closes = isReset || (summary.payloadLength == 0 && summary.flags.contains(.fin))
        if let pause = pause(until: time, by: summary.side, closes: closes), pause.duration > longest?.duration ?? -1 {
            longest = pause
        }
        turn = (time, summary.side)
        repeaters = []
    }

    private func pause(until time: UInt64, by side: ConversationSide, closes: Bool) -> Pause? {
        guard let turn else { return nil }
        let duration = DurationText.difference(from: turn.time, to: time)
        // If only one side retransmitted, it was waiting for the other side. If the pause ends with a FIN or RST, the
        // side that sent last was waiting for the other side.
        let waits: ConversationSide? =
            repeaters.count == 1 ? repeaters.first : closes ? turn.side : nil
        return Pause(duration: duration, silent: waits?.opposite ?? side)
    }

    /// The time from the client's request to the first byte of the server's response, in nanoseconds; `nil` if the
    /// request or the response was not captured.
    package var firstByte: Int64? {
        guard let request, let answer else { return nil }
        return DurationText.difference(from: request, to: answer)
    }

    /// The longest pause, and the side that the other side was waiting for; `nil` for a flow with a single packet.
    package var longestPause: Pause? {
        guard let turn, repeaters.count == 1, let end = [lastClient, lastServer].compactMap(\.self).max() else {
            return longest
        }
        // The flow or the capture ends with unanswered retransmissions, which are preceded by a pause.
        guard let last = pause(until: end, by: turn.side, closes: true) else { return longest }
        return last.duration > longest?.duration ?? -1 ? last : longest
    }

    /// Returns the time of a side's last packet, in nanoseconds since 1970.
    package func lastHeard(_ side: ConversationSide) -> UInt64? { side == .client ? lastClient : lastServer }
}
