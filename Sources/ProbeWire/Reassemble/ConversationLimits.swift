/// Limits on the memory that conversations may use. `keptBytes`, `waitingBytes`, `keptEvents` and `keptSegments` apply
/// to each direction of each connection.
package struct ConversationLimits: Sendable, Hashable {
    /// The number of bytes of a stream that are kept for judging. Later bytes are counted and scanned, but not kept.
    package var keptBytes: Int
    /// The number of bytes that may wait after a gap before the gap is skipped. Each waiting chunk adds 64 bytes of
    /// overhead. If the peer has acknowledged the missing bytes, skipping the gap is not reported as reaching a limit,
    /// unless the bytes arrive later.
    package var waitingBytes: Int
    /// The maximum number of entries in each list (repeated segments, closed windows, urgent data). Later events are
    /// only counted.
    package var keptEvents: Int
    /// The number of first transmissions that are listed. Later transmissions are only counted.
    package var keptSegments: Int
    /// The total number of bytes that are kept or waiting in all connections of a table. If the limit is exceeded,
    /// connections skip gaps that their peers have acknowledged. If that is not enough, the half connection of the
    /// current packet skips all its gaps and drops the bytes that it kept.
    package var totalBytes: Int

    /// The maximum number of connections in a table. Packets of further connections are counted, but their connections
    /// are not followed. Each connection takes 704 bytes in addition to its lists.
    package var maxConversations = Int(Int32.max)
    /// Whether reassembled data is kept until `ConversationTable.takeParts` is called. The caller must call `takeParts`
    /// after each packet.
    package var deliversParts = false

    /// The length of the wait for missing bytes that the peer has acknowledged. The peer has received these bytes, but
    /// they may be missing from the capture. The wait is measured in segments or in memory, not in time.
    package enum GapTolerance: Sendable, Hashable {
        /// The wait ends when the given number of further data segments from the same side have arrived. This is for
        /// live captures, which are only slightly out of order, and for files that can be read again
        /// (`ConversationTable.hasLateBytes`).
        case segments(Int)
        /// The wait ends when the memory for the bytes after the gap is used up, or at the end of the capture.
        case memory
    }

    /// The number of later segments after which a TCP sender considers a segment lost rather than late (RFC 5681,
    /// section 3.2).
    package static let liveSegments = 3

    package var gapTolerance = GapTolerance.segments(liveSegments)

    /// Whether the beginning of an unfinished line is kept, so that a message can quote it even though the stream is
    /// not kept.
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

    /// Limits for the connections of a run. An endpoint keeps at most 64 MiB, so these limits suffice for everything
    /// that a step can judge.
    package static let live = ConversationLimits(
        keptBytes: 128 << 20, waitingBytes: 16 << 20, keptEvents: 1 << 20)

    /// Limits for files of any size: streams are not kept, and only unusual segments are listed.
    package static let passing: ConversationLimits = {
        var limits = ConversationLimits(
            keptBytes: 0, waitingBytes: 1 << 20, keptEvents: 16, keptSegments: 0, totalBytes: 16 << 20)
        limits.maxConversations = 1 << 18
        return limits
    }()
}

extension ConversationLimits {
    /// Limits for the table of flows: everything is counted, and only the first entry of each list is kept.
    package static let counting = {
        var limits = ConversationLimits.passing
        limits.keptEvents = 1
        return limits
    }()

    /// Limits under which streams are not kept: each part is delivered to the caller as soon as it is in order.
    package static let deliveringParts = {
        var limits = ConversationLimits.passing
        limits.deliversParts = true
        return limits
    }()
}
