/// A segment that was sent and is not yet acknowledged.
struct SentSegment: Sendable {
    /// The positions of the segment's first byte and of the byte after it, relative to the SYN, which is at 0.
    var start: Int64
    var end: Int64
    /// The time of the first transmission, in nanoseconds since the flow's first packet.
    var time: Int64
    /// The time of the last transmission.
    var lastTime: Int64
    /// The numbers of the packets that carried the first and the last transmission.
    var packet: Int
    var lastPacket: Int
    /// The number of times that the segment was sent.
    var sends = 1
    /// The timestamp option of the first transmission.
    var stamp: UInt32?
    /// The number of bytes in flight after the first transmission.
    var flight: Int64
    /// The number of payload bytes of the last transmission that began at `start`.
    var lastLength: Int
    /// Whether the entry stands for several segments. Its times are those of the first and the last of them.
    var isMerged = false
}

/// The outstanding segments of one direction, in the order of the stream. Memory is constant: if there are too many
/// segments, neighbours are merged.
struct SegmentLog: Sendable {
    private(set) var segments: [SentSegment] = []
    private static let capacity = 48

    var first: SentSegment? { segments.first }
    var last: SentSegment? { segments.last }
    var isEmpty: Bool { segments.isEmpty }

    /// Appends a segment that was sent for the first time.
    mutating func append(_ segment: SentSegment) {
        if segments.count == Self.capacity { merge() }
        segments.append(segment)
    }

    /// Merges pairs of neighbours, except among the newest segments and around segments that were sent again.
    private mutating func merge() {
        var merged: [SentSegment] = []
        let exact = segments.count - 8
        var index = 0
        while index < segments.count {
            var segment = segments[index]
            if index + 1 < exact, segment.sends == 1, segments[index + 1].sends == 1 {
                let next = segments[index + 1]
                segment.end = next.end
                segment.lastTime = next.lastTime
                segment.lastPacket = next.lastPacket
                segment.flight = next.flight
                segment.isMerged = true
                index += 1
            }
            merged.append(segment)
            index += 1
        }
        if merged.count == segments.count { merged.removeFirst(8) }
        segments = merged
    }

    /// Records that bytes from `start` were sent again. Returns the segment as it was before; `nil` if the first
    /// transmission is unknown.
    mutating func resend(_ start: Int64, length: Int, at time: Int64, packet: Int) -> SentSegment? {
        guard let index = segments.lastIndex(where: { $0.start <= start && start < max($0.end, $0.start + 1) }) else {
            return nil
        }
        let before = segments[index]
        segments[index].sends += 1
        segments[index].lastTime = time
        segments[index].lastPacket = packet
        segments[index].lastLength = length
        return before
    }

    /// Removes the segments that end at or before `position`, and returns the last of them.
    mutating func acknowledge(_ position: Int64) -> SentSegment? {
        guard let first = segments.first, first.end <= position else { return nil }
        let index = segments.firstIndex { $0.end > position } ?? segments.count
        let last = segments[index - 1]
        segments.removeFirst(index)
        return last
    }
}
