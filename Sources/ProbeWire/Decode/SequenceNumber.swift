/// A TCP sequence number: a 32-bit number that wraps around (RFC 9293, section 3.4).
///
/// Sequence numbers are not `Comparable`, because "before" is defined only for numbers that are less than 2^31 apart,
/// and is not transitive. Use the difference of two numbers instead.
package struct SequenceNumber: Sendable, Hashable {
    package let value: UInt32

    package init(_ value: UInt32) {
        self.value = value
    }

    /// Returns the distance from `right` to `left`, which is negative if `left` precedes `right`. The result is correct
    /// across the wraparound.
    @inline(__always)
    package static func - (left: SequenceNumber, right: SequenceNumber) -> Int {
        Int(Int32(truncatingIfNeeded: left.value &- right.value))
    }

    /// Returns the sequence number that is `distance` bytes after `left`, wrapping around if necessary.
    @inline(__always)
    package static func + (left: SequenceNumber, distance: Int) -> SequenceNumber {
        SequenceNumber(left.value &+ UInt32(truncatingIfNeeded: distance))
    }
}
