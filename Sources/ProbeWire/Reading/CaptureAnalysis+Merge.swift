extension CaptureAnalysis {
    /// Takes over what another analysis made of another share of the same capture. Both have finished; of two shares the one with
    /// number 0 takes over the others.
    ///
    /// Connections are numbered anew, in the order of their first packets, as one analysis alone would have.
    /// - Returns: the new number of each connection by its old one, for those that were here and those that came.
    @discardableResult
    package mutating func merge(_ other: CaptureAnalysis) -> (own: [Int], other: [Int]) {
        tcpPacketCount += other.tcpPacketCount
        unfollowedCount += other.unfollowedCount
        return table.merge(other.table)
    }
}

extension ConversationTable {
    mutating func merge(_ other: ConversationTable) -> (own: [Int], other: [Int]) {
        let first = conversations
        let second = other.conversations
        var numbers = (own: [Int](), other: [Int]())
        numbers.own.reserveCapacity(first.count)
        numbers.other.reserveCapacity(second.count)
        var merged: [Conversation] = []
        merged.reserveCapacity(first.count + second.count)
        while numbers.own.count < first.count || numbers.other.count < second.count {
            let (own, others) = (numbers.own.count, numbers.other.count)
            let isOwn =
                others == second.count
                || (own < first.count && first[own].firstPacketIndex < second[others].firstPacketIndex)
            merged.append(isOwn ? first[own] : second[others])
            merged[merged.count - 1].number = merged.count - 1
            if isOwn { numbers.own.append(merged.count - 1) } else { numbers.other.append(merged.count - 1) }
        }
        replace(merged, with: other)
        return numbers
    }
}
