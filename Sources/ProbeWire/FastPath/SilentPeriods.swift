/// The periods in which a capture, or a share of its connections, has no packets.
struct SilentPeriods: Sendable {
    private var found: [ClosedRange<UInt64>] = []
    private var first = UInt64.max
    /// The time of the last packet.
    private(set) var last: UInt64 = 0
    private static let shortest: UInt64 = 499_000_000
    private var hasOverflowed = false
    private static let kept = 1_024

    /// Whether all flows are never silent at the same time for half a second.
    var isEmpty: Bool { found.isEmpty && !hasOverflowed }

    @inline(__always)
    mutating func note(_ time: UInt64) {
        if first == .max || (time > last && time - last > Self.shortest) { end(at: time) }
        last = max(last, time)
    }

    @inline(never)
    private mutating func end(at time: UInt64) {
        if first == .max {
            first = time
        } else if found.count < Self.kept {
            found.append(last...time)
        } else {
            hasOverflowed = true
        }
    }

    /// Adds the periods of another share: only a period in which both shares are silent remains. A share is also silent
    /// before its first packet and after its last one.
    mutating func merge(_ other: SilentPeriods) {
        let (own, others) = (all, other.all)
        found = own.flatMap { period in
            others.compactMap { other in
                let (start, end) = (
                    max(period.lowerBound, other.lowerBound), min(period.upperBound, other.upperBound)
                )
                return start < end && end - start >= Self.shortest ? start...end : nil
            }
        }.filter { $0.upperBound > min(first, other.first) && $0.lowerBound < max(last, other.last) }
        hasOverflowed = hasOverflowed || other.hasOverflowed
        first = min(first, other.first)
        last = max(last, other.last)
    }

    private var all: [ClosedRange<UInt64>] {
        first == .max ? [0 ... .max] : [0...first] + found + [last ... .max]
    }
}
