/// A mark in a time-sequence graph. The mark represents one packet, or several packets of the same kind that are too
/// close together to be distinguished in a drawing.
package struct SequenceBar: Sendable, Hashable {
    /// The time of the first packet, in nanoseconds. `end` is the time of the last packet.
    package var start: Int64
    package var end: Int64
    /// The lowest sequence number that the mark covers, relative to the SYN. `high` is the end of the covered range.
    /// For a packet that occupies no sequence numbers, `high` is equal to `low`.
    package var low: Int64
    package var high: Int64
    /// The number of packets that the mark represents.
    package var count: Int

    package init(time: Int64, low: Int64, high: Int64) {
        (start, end) = (time, time)
        self.low = low
        self.high = max(low, high)
        count = 1
    }

    private mutating func add(_ other: SequenceBar) {
        start = min(start, other.start)
        end = max(end, other.end)
        low = min(low, other.low)
        high = max(high, other.high)
        count += other.count
    }

    /// Joins bars that are in the same column of a grid and touch each other, or are less than a row apart.
    ///
    /// Every packet is still covered by a bar, and the lowest and the highest sequence number remain the same.
    ///
    /// - Parameters:
    ///   - columns: the number of equal parts into which the time from the first bar to the last one is divided; at
    ///     least 1.
    ///   - rows: the number of equal parts into which the range of sequence numbers is divided; at least 1.
    ///   - limit: the maximum number of bars in the result. The grid is made coarser until this number is not exceeded.
    package static func joined(_ bars: [SequenceBar], columns: Int, rows: Int, limit: Int) -> [SequenceBar] {
        guard let first = bars.first else { return [] }
        var box = first
        for bar in bars { box.add(bar) }
        var (columns, rows) = (max(columns, 1), max(rows, 1))
        let bars = bars.sorted { ($0.start, $0.low) < ($1.start, $1.low) }
        while true {
            let joined = joined(
                bars, from: box.start, width: partSize(box.end, box.start, columns),
                height: partSize(box.high, box.low, rows)
            )
            if joined.count <= limit || (columns == 1 && rows == 1) { return joined }
            if rows > 1 { rows = max(rows / 4, 1) } else { columns = max(columns / 2, 1) }
        }
    }

    /// Returns the size of a part if the range is divided into `parts` equal parts, rounded down, but at least 1.
    private static func partSize(_ end: Int64, _ start: Int64, _ parts: Int) -> Int64 {
        max(end.subtractingReportingOverflow(start).partialValue / Int64(parts), 1)
    }

    private static func joined(
        _ bars: [SequenceBar], from origin: Int64, width: Int64, height: Int64
    ) -> [SequenceBar] {
        var result: [SequenceBar] = []
        var place = 0
        while place < bars.count {
            let column = (bars[place].start - origin) / width
            var end = place
            while end < bars.count, (bars[end].start - origin) / width == column { end += 1 }
            // The bars of a column are examined in ascending order of their sequence numbers.
            for bar in bars[place..<end].sorted(by: { $0.low < $1.low }) {
                if let last = result.last, (last.start - origin) / width == column, bar.low - last.high < height {
                    result[result.count - 1].add(bar)
                } else {
                    result.append(bar)
                }
            }
            place = end
        }
        return result
    }
}
