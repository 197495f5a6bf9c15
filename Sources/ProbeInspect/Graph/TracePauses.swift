/// The time range of a flow and the longest pauses between its packets, updated packet by packet.
package struct TracePauses: Sendable {
    private var first: Int64?
    private var last: Int64 = 0
    private var count = 0
    /// The longest pauses between packets, the longest first.
    private var pauses: [Range<Int64>] = []

    private static let maxPauses = 12
    /// The maximum number of pauses that are shortened.
    private static let maxFolds = 4

    package init() {}

    /// Adds the time of a packet.
    ///
    /// - Parameter time: the time in nanoseconds. It may be earlier than a time added before.
    package mutating func add(_ time: Int64) {
        count += 1
        guard let first else {
            (first, last) = (time, time)
            return
        }
        if time > last {
            note(last..<time)
            last = time
        } else if time < first {
            note(time..<first)
            self.first = time
        } else {
            // The packet may split a recorded pause in two.
            for index in pauses.indices where pauses[index].lowerBound < time && time < pauses[index].upperBound {
                let parts = [pauses[index].lowerBound..<time, time..<pauses[index].upperBound]
                pauses.remove(at: index)
                for part in parts { note(part) }
                break
            }
        }
    }

    private mutating func note(_ pause: Range<Int64>) {
        if pauses.count == Self.maxPauses, let shortest = pauses.last, Self.length(shortest) >= Self.length(pause) {
            return
        }
        let place = pauses.firstIndex { Self.length($0) < Self.length(pause) } ?? pauses.count
        pauses.insert(pause, at: place)
        if pauses.count > Self.maxPauses { pauses.removeLast() }
    }

    private static func length(_ pause: Range<Int64>) -> Int64 { pause.upperBound - pause.lowerBound }

    /// The range of times from the first packet to the last packet.
    package var times: ClosedRange<Int64> { (first ?? 0)...max(first ?? 0, last) }

    /// The pauses that a graph shortens, in order. As few pauses as possible are shortened, such that the remaining
    /// time is at most a tenth of the total. No pause is shortened if more than four pauses would be needed, or if
    /// there are fewer than four packets per pause. A small part at each end of a pause is not shortened.
    package var folds: [Range<Int64>] {
        let total = times.upperBound - times.lowerBound
        var chosen: [Range<Int64>] = []
        var kept = total
        for pause in pauses.prefix(Self.maxFolds) where kept > total / 10 {
            chosen.append(pause)
            kept -= Self.length(pause)
        }
        // If the whole flow takes at most 1000 ns or has few packets, nothing is shortened.
        guard kept <= total / 10, total > 1000, chosen.count * 4 <= count else { return [] }
        let margin = max(kept / 30, 1)
        return chosen.sorted { $0.lowerBound < $1.lowerBound }.map { $0.lowerBound + margin..<$0.upperBound - margin }
    }
}
