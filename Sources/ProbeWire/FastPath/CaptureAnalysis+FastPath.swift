/// The seam of the fast path: what is taken here comes to the same as by `add`, which takes the readable route (`FastPathTests`).
extension CaptureAnalysis {
    /// Takes the next bytes of a file, as `reader` reads them. `unusual` sees the packets of which there is something to tell: that
    /// is all but those that bring data in order, or acknowledge some, and nothing else.
    package mutating func pass(
        _ chunk: Span<UInt8>, through reader: inout CaptureFileReader, unusual: (CaptureRecord, PacketSummary) -> Void
    ) throws(CaptureFileError) {
        let rings = recent.rings()
        try reader.feed(chunk) { record, linkType, index, bytes in
            takeOnFastPath(bytes, linkType: linkType, time: record.time, index: index, rings)
        } _: { record, bytes in
            let summary = pass(
                bytes, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                index: record.index)
            if let summary { unusual(record, summary) }
        }
    }

    /// As `add`, for callers that need only the unusual packets: nil also for a packet that brings data in order, or acknowledges some,
    /// and nothing else. Such packets are most of any capture and cost a fraction.
    @discardableResult
    @inline(__always)
    package mutating func pass(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        if takeOnFastPath(bytes, linkType: linkType, time: time, index: index, recent.rings()) { return nil }
        return add(bytes, linkType: linkType, originalLength: originalLength, time: time, index: index)
    }

    /// Takes a packet that is ordinary by itself and for its connection, and passes over one that is another share's; false, and
    /// nothing is changed, for every other one.
    @inline(__always)
    private mutating func takeOnFastPath(
        _ bytes: Span<UInt8>, linkType: LinkType, time: UInt64, index: Int, _ rings: RecentPackets.Rings
    ) -> Bool {
        guard let ends = FastPathSegment.Ends(bytes, linkType: linkType) else { return false }
        guard share.count == 1 || share.contains(hash: ends.hash) else { return true }
        guard let segment = FastPathSegment(bytes, ends),
            table.takeOnFastPath(segment, payload: bytes.extracting(segment.payload), time: time, index: index)
        else { return false }
        packetCount += 1
        tcpPacketCount += 1
        rings.note(segment, ends, bytes, time: time)
        return true
    }

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
        others.add(other.others)
        if let error = other.firstError, firstError.map({ error.index < $0.index }) ?? true { firstError = error }
        unfollowedCount += other.unfollowedCount
        copyCount += other.copyCount
        var otherTable = ConversationTable()
        swap(&otherTable, &other.table)
        // Moved on: with two owners, all connections would be copied.
        let numbers = table.merge(consume otherTable)
        icmpErrors.merge(other.icmpErrors, numbers)
        return numbers
    }
}
