/// A value over time, drawn as a line in a graph. The number of points is limited, however many values are added.
///
/// If there are too many values, time is divided into columns. The values in each column are reduced to the first, the
/// smallest, the largest and the last value, so that the drawn line looks the same.
package struct SampledLine: Sendable, Hashable {
    package struct Point: Sendable, Hashable {
        /// The time in nanoseconds.
        package var time: Int64
        package var value: Int64
    }

    /// The points, ordered by time.
    package private(set) var points: [Point] = []
    /// The maximum number of points that are kept.
    private static let limit = 8192

    package init() {}

    package mutating func add(_ value: Int64, at time: Int64) {
        // While a value does not change, only its first and its last point are needed.
        if points.count >= 2, points[points.count - 1].value == value, points[points.count - 2].value == value,
            points[points.count - 1].time <= time
        {
            points[points.count - 1].time = time
            return
        }
        points.append(Point(time: time, value: value))
        if let previous = points.dropLast().last, previous.time > time { putInOrder() }
        if points.count > Self.limit { points = Self.reduced(points, columns: Self.limit / 8) }
    }

    /// Moves the last point to its place in chronological order, after points with the same time, because times may go
    /// backwards.
    private mutating func putInOrder() {
        let point = points.removeLast()
        let place = points.lastIndex { $0.time <= point.time }.map { $0 + 1 } ?? 0
        points.insert(point, at: place)
    }

    /// Reduces the points to at most four per column of time.
    package static func reduced(_ points: [Point], columns: Int) -> [Point] {
        guard let first = points.first, let last = points.last, points.count > columns * 4 else { return points }
        let width = max((last.time - first.time) / Int64(max(columns, 1)) + 1, 1)
        var result: [Point] = []
        var place = 0
        while place < points.count {
            let column = (points[place].time - first.time) / width
            var end = place
            var (low, high) = (place, place)
            while end < points.count, (points[end].time - first.time) / width == column {
                if points[end].value < points[low].value { low = end }
                if points[end].value > points[high].value { high = end }
                end += 1
            }
            var kept: [Int] = []
            for index in [place, min(low, high), max(low, high), end - 1] where kept.last != index {
                kept.append(index)
            }
            result += kept.map { points[$0] }
            place = end
        }
        return result
    }
}
