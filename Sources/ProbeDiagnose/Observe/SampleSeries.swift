/// A series of measurements that takes constant memory. If there are too many measurements, only every second one is
/// kept, then only every fourth, and so on, so the measurements that are kept are spread evenly over the whole series.
struct SampleSeries<Sample: Sendable>: Sendable {
    private(set) var samples: [Sample] = []
    private var counted: UInt32 = 0
    /// The number of measurements until the next one that is kept.
    private var skipped: UInt16 = 0
    /// The binary logarithm of the distance between the measurements that are kept.
    private var thinning: UInt8 = 0
    private let capacity: UInt8

    /// Creates a series. `capacity` is the maximum number of samples that are kept, which must be even.
    init(capacity: UInt8) { self.capacity = capacity }

    /// The number of measurements, including those that were not kept.
    var count: Int { Int(counted) }

    @inline(__always)
    mutating func append(_ sample: Sample) {
        counted &+= 1
        if skipped > 0 {
            skipped -= 1
            return
        }
        keep(sample)
    }

    /// Discards the samples that were kept.
    mutating func removeAll() { samples = [] }

    private mutating func keep(_ sample: Sample) {
        if samples.count == capacity, thinning < 15 {
            samples = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
            thinning += 1
        }
        if samples.count < capacity { samples.append(sample) }
        skipped = 1 << thinning - 1
    }
}

extension SampleSeries where Sample: Comparable {
    /// Returns the smallest sample that is greater than or equal to the given fraction of all samples; `nil` if there
    /// are no samples.
    func quantile(_ fraction: Double) -> Sample? {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        let rank = Int((fraction * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank - 1, 0), sorted.count - 1)]
    }
}

/// The correlation of two quantities (Pearson's coefficient), which is updated with each pair of values.
struct Correlation: Sendable {
    private(set) var count = 0
    private var meanX = 0.0
    private var meanY = 0.0
    private var sumXX = 0.0
    private var sumYY = 0.0
    private var sumXY = 0.0

    mutating func add(_ x: Double, _ y: Double) {
        count += 1
        let (dx, dy) = (x - meanX, y - meanY)
        meanX += dx / Double(count)
        meanY += dy / Double(count)
        sumXX += dx * (x - meanX)
        sumYY += dy * (y - meanY)
        sumXY += dx * (y - meanY)
    }

    /// The correlation coefficient, from -1 to 1; 0 if one of the quantities is constant.
    var coefficient: Double {
        let product = sumXX * sumYY
        return product > 0 ? sumXY / product.squareRoot() : 0
    }
}

/// The numbers of the packets that are evidence for a finding. Only the first few numbers and the last number are kept.
package struct Evidence: Sendable {
    private var first: [UInt32] = []
    /// The last number, if it is not one of the first; otherwise 0.
    private var last: UInt32 = 0
    private var count: UInt32 = 0
    private static let kept = 8

    /// The number of packets, including those whose numbers are not kept.
    var total: Int { Int(count) }

    init(_ packets: Int...) { for packet in packets { add(packet) } }

    mutating func add(_ packet: Int) {
        let packet = UInt32(clamping: packet)
        if packet == 0 || last == packet || first.contains(packet) { return }
        count += 1
        if first.count < Self.kept { first.append(packet) } else { last = packet }
    }

    /// Removes a packet that turned out to be no evidence.
    mutating func remove(_ packet: Int) {
        let packet = UInt32(clamping: packet)
        if let index = first.firstIndex(of: packet) {
            first.remove(at: index)
        } else if last == packet {
            last = 0
        } else {
            return
        }
        count -= 1
    }

    mutating func add(_ other: Evidence) { for packet in other.packets { add(packet) } }

    /// The packet numbers in increasing order.
    package var packets: [Int] { (last > 0 ? first + [last] : first).map { Int($0) }.sorted() }

    var isEmpty: Bool { first.isEmpty }
}
