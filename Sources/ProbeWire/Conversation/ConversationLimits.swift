/// What conversations may cost. All but the last count are for each direction of each connection.
package struct ConversationLimits: Sendable, Hashable {
    /// Bytes of the stream that are kept for judging; what comes later is counted and scanned, not kept.
    package var keptBytes: Int
    /// Bytes that may wait behind a gap, each chunk with 64 bytes of overhead; then the gap is given up.
    package var waitingBytes: Int
    /// Entries of each list (segments, repeated segments, shut windows); later ones are only counted.
    package var keptEvents: Int
    /// Bytes kept and waiting in all connections of a table. A flow that exceeds it gives up its
    /// gaps and lets go of what it kept.
    package var totalBytes: Int

    package init(keptBytes: Int, waitingBytes: Int, keptEvents: Int, totalBytes: Int = 1 << 30) {
        self.keptBytes = keptBytes
        self.waitingBytes = waitingBytes
        self.keptEvents = keptEvents
        self.totalBytes = totalBytes
    }

    /// For a run's own connections: an endpoint keeps 64 MiB at most, so nothing that a step can judge is left out.
    package static let live = ConversationLimits(
        keptBytes: 128 << 20, waitingBytes: 16 << 20, keptEvents: 1 << 20)

    /// For files of any size: streams pass through.
    package static let passing = ConversationLimits(
        keptBytes: 0, waitingBytes: 1 << 20, keptEvents: 64, totalBytes: 16 << 20)
}
