import ProbeBase

/// An axis of a graph: the range of values that it shows, and the round numbers at its ticks.
package struct GraphAxis: Sendable, Hashable {
    package struct Tick: Sendable, Hashable {
        package var value: Int64
        /// The value with its unit, such as `200 ms`.
        package var label: String
    }

    package enum Quantity: Sendable {
        /// A time in nanoseconds.
        case time
        case bytes
    }

    package let low: Int64
    package let high: Int64
    package let ticks: [Tick]
    /// The folds, in order: the parts of the range that are drawn as narrow bands.
    package let folds: [Range<Int64>]
    /// The length of the axis's range, excluding the parts that are folded.
    private let kept: Double
    /// The width of a fold, which is a part of the range drawn as a narrow band, as a fraction of the axis.
    static let foldWidth = 0.035

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - low: the smallest value that is shown. `high` must be at least `low`, and must not exceed `low` by more than
    ///     2^62.
    ///   - count: the approximate number of ticks.
    ///   - folds: the folds, in order. They must be inside the range and must not touch each other.
    package init(_ quantity: Quantity, from low: Int64, to high: Int64, count: Int, folds: [Range<Int64>] = []) {
        self.low = low
        // The length of the axis must be positive even if all values are the same.
        self.high = max(high, low + 1)
        self.folds = folds
        // The difference is computed in integers, because floating-point rounding would lose the small difference
        // between two large times.
        kept = Double(folds.reduce(self.high - low) { $0 - ($1.upperBound - $1.lowerBound) })
        let (unit, name) = Self.unit(quantity, max(self.low.magnitude, self.high.magnitude))
        let step = Self.step(kept, count, unit)
        let starts = [low] + folds.map(\.upperBound)
        let ends = folds.map(\.lowerBound) + [self.high]
        var ticks: [(place: Double, tick: Tick)] = []
        for (start, end) in zip(starts, ends) {
            let first = (Double(start) / step).rounded(.up)
            // There can't be more than twice the requested number of ticks.
            for number in 0..<2 * count + 2 {
                let value = (first + Double(number)) * step
                guard value <= Double(end), ticks.last?.tick.value != Int64(value) else { break }
                let label = "\(Self.number(value / unit, step / unit)) \(name)"
                let tick = Tick(value: Int64(value), label: label)
                let place = Self.place(tick.value, low, folds, kept)
                // After a fold, there may be no room for a label next to the previous label.
                if folds.isEmpty || ticks.isEmpty || place - ticks[ticks.count - 1].place >= 0.12 {
                    ticks.append((place, tick))
                }
            }
        }
        self.ticks = ticks.map(\.tick)
    }

    /// Returns the position of a value on the axis, from 0 at the low end to 1 at the high end. Values outside the
    /// range are placed at the ends.
    package func place(_ value: Int64) -> Double { Self.place(min(max(value, low), high), low, folds, kept) }

    private static func place(_ value: Int64, _ low: Int64, _ folds: [Range<Int64>], _ kept: Double) -> Double {
        var length = value - low
        var bands = 0.0
        for fold in folds where value > fold.lowerBound {
            let inside = min(value, fold.upperBound) - fold.lowerBound
            length -= inside
            bands += foldWidth * Double(inside) / Double(fold.upperBound - fold.lowerBound)
        }
        let all = 1 - foldWidth * Double(folds.count)
        return min(max(Double(length) / max(kept, 1) * all + bands, 0), 1)
    }

    /// Returns the distance between ticks. It is 1, 2 or 5 times a power of ten, in the given unit, and at least one
    /// nanosecond or byte.
    private static func step(_ range: Double, _ count: Int, _ unit: Double) -> Double {
        let wanted = max(range / Double(max(count, 1)), 1) / unit
        var power = 1.0
        while power > wanted { power /= 10 }
        while power * 10 <= wanted { power *= 10 }
        let factor = [1.0, 2, 5, 10].first { $0 * power >= wanted * 0.999 } ?? 10
        // The distance is an integer, so that each label gives the exact value at its tick.
        return max((factor * power * unit).rounded(), 1)
    }

    private static func unit(_ quantity: Quantity, _ largest: UInt64) -> (Double, String) {
        let units: [(UInt64, Double, String)] =
            switch quantity {
            case .time:
                [
                    (1000, 1, "ns"), (1_000_000, 1e3, "us"), (1_000_000_000, 1e6, "ms"), (300_000_000_000, 1e9, "s"),
                    (18_000_000_000_000, 60e9, "min"), (432_000_000_000_000, 3600e9, "h"),
                ]
            case .bytes: [(2000, 1, "B"), (2_000_000, 1e3, "kB"), (2_000_000_000, 1e6, "MB")]
            }
        let last: (Double, String) = quantity == .time ? (86400e9, "d") : (1e9, "GB")
        return units.first { largest < $0.0 }.map { ($0.1, $0.2) } ?? last
    }

    /// Formats a value with as many decimals as the distance between ticks requires.
    private static func number(_ value: Double, _ step: Double) -> String {
        var digits = 0
        var scaled = step
        while digits < 6, (scaled - scaled.rounded()).magnitude > 1e-6 * scaled {
            scaled *= 10
            digits += 1
        }
        return DurationText.fixed(value, digits: digits)
    }
}

/// Formats numbers with thousands separators: `4,096`.
package enum NumberText {
    package static func text(_ number: Int) -> String {
        var digits = Array(String(number.magnitude))
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: place)
            place -= 3
        }
        return (number < 0 ? "-" : "") + String(digits)
    }

    /// Returns a number with its noun: `4,096 bytes`, `1 byte`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(text(number)) \(noun)\(number == 1 ? "" : "s")"
    }
}

/// Formats values for the texts and the coordinates in a graph.
enum GraphText {
    static func duration(_ nanoseconds: Int64) -> String { DurationText.text(nanoseconds: nanoseconds) }

    /// Formats a coordinate with at most one decimal: `12`, `12.5`.
    static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return "\(sign)\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}
