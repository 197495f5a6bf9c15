/// A segment that has been sent but not yet acknowledged.
struct SentSegment: Sendable {
    /// The position of the segment's first byte, relative to the SYN, which is at position 0. `end` is the position
    /// after the segment's last byte.
    var start: Int64
    var end: Int64
    /// The time of the first transmission, in nanoseconds since the flow's first packet.
    var time: Int64
    /// The time of the last transmission, in nanoseconds since the flow's first packet.
    var lastTime: Int64
    /// The number of the packet that carried the first transmission.
    var packet: Int
    /// The number of times that the segment was sent.
    var sends = 1
    /// The number of bytes in flight after the first transmission.
    var flight: Int64
    /// The number of payload bytes in the last transmission that began at `start`.
    var lastLength: Int
}

/// The outstanding segments of one direction, in the order of the stream. The memory use is constant, because adjacent
/// segments are merged if there are too many.
struct SegmentLog: Sendable {
    private(set) var segments: [SentSegment] = []
    private static let capacity = 48

    /// Appends a segment that was sent for the first time.
    mutating func append(_ segment: SentSegment) {
        if segments.count == Self.capacity { merge() }
        segments.append(segment)
    }

    /// Merges pairs of adjacent segments. The newest segments, and segments that were sent again, are not merged.
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
                segment.flight = next.flight
                index += 1
            }
            merged.append(segment)
            index += 1
        }
        if merged.count == segments.count { merged.removeFirst(8) }
        segments = merged
    }

    /// Records that the bytes at `start` were sent again. Returns the segment as it was before this transmission; `nil`
    /// if the first transmission is unknown.
    mutating func resend(_ start: Int64, length: Int, at time: Int64) -> SentSegment? {
        guard let index = segments.lastIndex(where: { $0.start <= start && start < max($0.end, $0.start + 1) }) else {
            return nil
        }
        let before = segments[index]
        segments[index].sends += 1
        segments[index].lastTime = time
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
