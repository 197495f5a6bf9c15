package import ProbeBase

/// The result of checking whether the pieces of one send were sent in separate segments.
package enum PieceVerdict: Sendable, Hashable {
    /// Each boundary between two pieces was also a boundary between two segments.
    case exact
    /// Some pieces were sent in the same segment. There is one line of details for each segment that carried parts of
    /// several pieces.
    case coalesced([String])
    /// Not all bytes of the send have been captured yet.
    case notSeen(String)
    /// Bytes of the send are missing from the capture.
    case inconclusive(String)
}

extension Conversation {
    /// Returns the stream offsets at which the first transmission of a segment began or ended, sorted, without
    /// duplicates.
    package func segmentBoundaries(from side: ConversationSide) -> [Int] {
        let edges = halfConnection(from: side).segments.flatMap { [Int(clamping: $0.offset), Int(clamping: $0.end)] }
        return Set(edges).sorted()
    }

    /// Checks in the capture whether the pieces of one send, which began at `streamOffset`, were sent in separate
    /// segments.
    ///
    /// A piece that is too long for one segment may span several segments, but no segment may carry parts of two
    /// pieces. Retransmissions are ignored.
    package func verifyPieces(from side: ConversationSide, streamOffset: Int, lengths: [Int], names: SideNames = .plain)
        -> PieceVerdict
    {
        let flow = halfConnection(from: side)
        var edges = [Int64(streamOffset)]
        for length in lengths where length > 0 { edges.append((edges.last ?? 0) + Int64(length)) }
        guard let first = edges.first, let last = edges.last, last > first else { return .exact }
        if let missing = flow.missing, missing.offset < last, missing.offset + missing.length > first,
            missing.cause != nil
        {
            return .inconclusive("the capture lacks \(ByteText.count(Int(missing.length), "byte")) of this send")
        }
        guard flow.stream.end >= last else {
            let seen = max(0, flow.stream.end - first)
            return .notSeen("the capture contains \(seen) of \(ByteText.count(Int(last - first), "byte"))")
        }
        guard flow.segments.count == flow.segmentCount else {
            return .inconclusive("the connection has more than the \(flow.segments.count) segments that are kept")
        }
        let details = coalesced(flow.segments, edges: edges, names)
        return details.isEmpty ? .exact : .coalesced(details)
    }

    /// Returns one line of details for each segment that carried parts of several pieces. Each list is traversed only
    /// once, because a send may have thousands of pieces.
    private func coalesced(_ segments: [DataSegment], edges: [Int64], _ names: SideNames) -> [String] {
        var details: [String] = []
        var edge = 0
        for segment in segments.sorted(by: { $0.offset < $1.offset }) {
            while edge < edges.count, edges[edge] <= segment.offset { edge += 1 }
            guard edge < edges.count, edges[edge] < segment.end else { continue }
            var last = edge
            while last + 1 < edges.count, edges[last + 1] < segment.end { last += 1 }
            let whole = who(firstEdge: edge, lastEdge: last, pieces: edges.count - 1)
            let size = ByteText.count(segment.length, "byte")
            details.append("\(whole) were sent in one segment of \(size) \(elapsed(segment.time, names))")
        }
        return details
    }

    /// Names the pieces that a segment contains, given the first and the last edge inside the segment. Edge 0 is the
    /// start of piece 1, and edge `pieces` is the end of the last piece.
    private func who(firstEdge: Int, lastEdge: Int, pieces: Int) -> String {
        let first = max(1, firstEdge)
        let last = min(pieces, lastEdge + 1)
        let middle = first == last ? "piece \(first)" : "pieces \(first) to \(last)"
        switch (firstEdge == 0, lastEdge == pieces) {
        case (true, true): return "data sent before, \(middle) and data sent after"
        case (true, false): return "data sent before and \(middle)"
        case (false, true): return "\(middle) and data sent after"
        case (false, false): return middle
        }
    }
}
