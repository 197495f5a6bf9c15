/// The memory that conversations may use. The limits before `totalBytes` apply to each direction of each connection.
package struct ConversationLimits: Sendable, Hashable {
    /// The number of bytes of the stream that are kept for judging; later bytes are counted and scanned, but not kept.
    package var keptBytes: Int
    /// The number of bytes that may wait after a gap, each chunk with 64 bytes of overhead, before the gap is given up.
    /// If the peer has acknowledged the missing bytes, this does not count as a limit reached, unless they arrive
    /// afterwards.
    package var waitingBytes: Int
    /// The number of entries of each list (repeated segments, shut windows, urgent data); later ones are only counted.
    package var keptEvents: Int
    /// The number of first transmissions that are listed; later ones are only counted.
    package var keptSegments: Int
    /// The number of bytes kept and waiting in all connections of a table. Beyond it, connections give up gaps that
    /// their peers have acknowledged; then the half connection of the current packet gives up all its gaps and drops
    /// what it kept.
    package var totalBytes: Int

    /// The number of connections in a table; packets of further ones are counted but not followed. Each takes 704 bytes
    /// in addition to its lists.
    package var maxConversations = Int(Int32.max)
    /// Whether reassembled data is kept until `ConversationTable.takeParts` is called. The caller must call it after
    /// each packet.
    package var deliversParts = false

    /// How long to wait for bytes that the peer has acknowledged: it has received them, but they may be missing from
    /// the capture. Times play no role.
    package enum GapTolerance: Sendable, Hashable {
        /// Until N more data segments of their side have arrived: for live captures, which are only slightly out of
        /// order, and for a file that can be read again (`ConversationTable.hasLateBytes`).
        case segments(Int)
        /// Until the memory for the bytes that wait after them is used up, or to the end.
        case memory
    }

    /// The number of segments after which a TCP sender regards a segment as lost and not as late (RFC 5681 3.2).
    package static let liveSegments = 3

    package var gapTolerance = GapTolerance.segments(liveSegments)

    /// Whether the beginning of an unfinished line is kept, for a text that quotes it although the stream itself is not
    /// kept.
    package var quotes = false

    /// Creates limits. `keptSegments` defaults to `keptEvents`.
    package init(
        keptBytes: Int, waitingBytes: Int, keptEvents: Int, keptSegments: Int? = nil, totalBytes: Int = 1 << 30
    ) {
        self.keptBytes = keptBytes
        self.waitingBytes = waitingBytes
        self.keptEvents = keptEvents
        self.keptSegments = keptSegments ?? keptEvents
        self.totalBytes = totalBytes
    }

    /// Limits for a run's own connections: an endpoint keeps at most 64 MiB, so nothing that a step can judge is left
    /// out.
    package static let live = ConversationLimits(
        keptBytes: 128 << 20, waitingBytes: 16 << 20, keptEvents: 1 << 20)

    /// Limits for files of any size: streams pass through, and only unusual segments are listed.
    package static let passing: ConversationLimits = {
        var limits = ConversationLimits(
            keptBytes: 0, waitingBytes: 1 << 20, keptEvents: 16, keptSegments: 0, totalBytes: 16 << 20)
        limits.maxConversations = 1 << 18
        return limits
    }()
}

extension ConversationLimits {
    /// Limits for the table of flows: everything is counted, and no list is kept except for its first entry.
    package static let counting = {
        var limits = ConversationLimits.passing
        limits.keptEvents = 1
        return limits
    }()

    /// Limits under which streams pass through, and each piece is handed out as soon as it is in order.
    package static let deliveringParts = {
        var limits = ConversationLimits.passing
        limits.deliversParts = true
        return limits
    }()
}
