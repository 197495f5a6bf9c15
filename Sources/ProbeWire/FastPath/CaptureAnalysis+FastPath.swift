/// The entry point of the fast path. The fast path produces the same results as `add`, whose code is easier to read.
/// `FastPathTests` compares their results.
extension CaptureAnalysis {
    /// Adds the next bytes of a file, read by `reader`. `unusual` receives the packets that are worth reporting. A
    /// packet that only carries in-order data or acknowledges data is not worth reporting.
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

    /// Adds the packets of the next bytes of a file that may belong to the selected flows.
    package static func select(
        _ chunk: Span<UInt8>, through reader: inout CaptureFileReader, of flows: FlowSelection,
        selected: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        try reader.feed(chunk) { _, linkType, _, bytes in
            !flows.mayContain(bytes, linkType: linkType)
        } _: { record, bytes in
            if flows.mayContain(bytes, linkType: record.linkType) { selected(record, bytes) }
        }
    }

    /// Does the same as `add`, for callers that need only the unusual packets: the result is also `nil` for a packet
    /// that only carries in-order data or acknowledges data. Most packets of any capture are of this kind, and
    /// processing them on the fast path costs a fraction of what `add` costs.
    @discardableResult
    @inline(__always)
    package mutating func pass(
        _ bytes: Span<UInt8>, linkType: LinkType, originalLength: Int, time: UInt64, index: Int
    ) -> PacketSummary? {
        if takeOnFastPath(bytes, linkType: linkType, time: time, index: index, recent.rings()) { return nil }
        return add(bytes, linkType: linkType, originalLength: originalLength, time: time, index: index)
    }

    /// Adds a packet if its headers and the state of its connection are ordinary, and skips a packet that belongs to
    /// another share. Returns `false` and changes nothing for any other packet.
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

    /// Merges the results of an analysis of another share of the same capture. Both analyses must have finished. If
    /// either of the two shares has the number 0, this function must be called on the analysis of that share.
    ///
    /// Connections are renumbered in the order of their first packets, which is how a single analysis would have
    /// numbered them.
    /// - Parameter other: the other analysis, consumed so that no connection is copied.
    /// - Returns: the new number of each connection, indexed by its old number, for the connections of this analysis
    ///   and of `other`.
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
        // The table is consumed, because all connections would be copied if it had two owners.
        let numbers = table.merge(consume otherTable)
        icmpErrors.merge(other.icmpErrors, numbers)
        return numbers
    }
}
