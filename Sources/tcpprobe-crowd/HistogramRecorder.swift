import Histogram
import ProbeNetwork

/// The times of members' waits in an HDR histogram: three digits of each are kept, from 1 us to an hour.
struct HistogramRecorder: LatencyRecorder {
    private static let longest: UInt64 = 3_600_000_000_000
    private var histogram = Histogram<UInt32>(
        lowestDiscernibleValue: 1000, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)

    mutating func record(nanoseconds: Int64) {
        histogram.record(min(UInt64(max(nanoseconds, 0)), Self.longest))
    }

    var counts: [(nanoseconds: Int64, count: Int)] {
        histogram.recordedValues().map { value in (Int64(value.value), Int(value.count)) }
    }
}
