/// What conversations may cost. All but the last count are for each direction of each connection.
package struct ConversationLimits: Sendable, Hashable {
    /// Bytes of the stream that are kept for judging; what comes later is counted and scanned, not kept.
    package var keptBytes: Int
    /// Bytes that may wait behind a gap, each chunk with 64 bytes of overhead; then the gap is given up. Where the peer has acknowledged
    /// what is missing, that is no limit reached, unless the missing bytes come afterwards.
    package var waitingBytes: Int
    /// Entries of each list (repeated segments, shut windows, urgent data); later ones are only counted.
    package var keptEvents: Int
    /// First transmissions that are listed; later ones are only counted.
    package var keptSegments: Int
    /// Bytes kept and waiting in all connections of a table. Beyond it, connections give up gaps that their
    /// peers have acknowledged; then the half connection at hand gives up all its gaps and drops what it kept.
    package var totalBytes: Int

    /// Connections of a table; packets of others are counted and not followed. 704 bytes each, and its lists.
    package var mostConversations = Int(Int32.max)
    /// What was put in order is kept until `ConversationTable.takeParts` is called. The caller must call it after each packet.
    package var handsOut = false

    /// How long bytes are waited for that the peer has acknowledged: it has received them, and the capture may not hold them. Times
    /// decide nothing.
    package enum Patience: Sendable, Hashable {
        /// Until so many more data segments of their side have come: for what is live, where a capture is out of order by little, and
        /// for a file that can be read again (`ConversationTable.hasLateBytes`).
        case segments(Int)
        /// Until the memory for what waits behind them is used up, or to the end.
        case memory
    }

    /// As many as make a TCP sender take a segment for lost and not for late (RFC 5681 3.2).
    package static let liveSegments = 3

    package var patience = Patience.segments(liveSegments)

    /// The beginning of a line that is not finished is kept, for a text that quotes it where the stream itself is not kept.
    package var quotes = false

    /// `keptSegments` is as many as `keptEvents` where it is not said.
    package init(
        keptBytes: Int, waitingBytes: Int, keptEvents: Int, keptSegments: Int? = nil, totalBytes: Int = 1 << 30
    ) {
        self.keptBytes = keptBytes
        self.waitingBytes = waitingBytes
        self.keptEvents = keptEvents
        self.keptSegments = keptSegments ?? keptEvents
        self.totalBytes = totalBytes
    }

    /// For a run's own connections: an endpoint keeps 64 MiB at most, so nothing that a step can judge is left out.
    package static let live = ConversationLimits(
        keptBytes: 128 << 20, waitingBytes: 16 << 20, keptEvents: 1 << 20)

    /// For files of any size: streams pass through, and of segments only what is unusual is listed.
    package static let passing: ConversationLimits = {
        var limits = ConversationLimits(
            keptBytes: 0, waitingBytes: 1 << 20, keptEvents: 16, keptSegments: 0, totalBytes: 16 << 20)
        limits.mostConversations = 1 << 18
        return limits
    }()
}

extension ConversationLimits {
    /// Enough for the table of flows: everything is counted and no list is kept, but for its first entry.
    package static let counting = {
        var limits = ConversationLimits.passing
        limits.keptEvents = 1
        return limits
    }()

    /// Streams pass through, and each piece is handed out as soon as it is in order.
    package static let handingOut = {
        var limits = ConversationLimits.passing
        limits.handsOut = true
        return limits
    }()
}
