extension CaptureAnalysis {
    /// Takes over what another analysis made of another share of the same capture. Both have finished; of two shares the one with
    /// number 0 takes over the others.
    ///
    /// Connections are numbered anew, in the order of their first packets, as one analysis alone would have.
    /// - Parameter other: passed on to its end, no connection is copied.
    /// - Returns: the new number of each connection by its old one, for those that were here and those that came.
    @discardableResult
    package mutating func merge(_ other: consuming CaptureAnalysis) -> (own: [Int], other: [Int]) {
        packetCount += other.packetCount
        tcpPacketCount += other.tcpPacketCount
        undecodableCount += other.undecodableCount
        if let error = other.firstError, firstError.map({ error.index < $0.index }) ?? true { firstError = error }
        unfollowedCount += other.unfollowedCount
        var others = ConversationTable()
        swap(&others, &other.table)
        return table.merge(others)
    }
}
