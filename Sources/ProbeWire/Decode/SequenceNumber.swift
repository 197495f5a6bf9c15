/// A TCP sequence number: 32 bits that wrap (RFC 9293 3.4).
///
/// Not `Comparable`: "before" is a relation of numbers less than 2^31 apart and is not transitive. Use the difference.
package struct SequenceNumber: Sendable, Hashable {
    package let value: UInt32

    package init(_ value: UInt32) {
        self.value = value
    }

    /// Returns how far `left` is after `right`; negative if it is before. Correct across the wrap.
    @inline(__always)
    package static func - (left: SequenceNumber, right: SequenceNumber) -> Int {
        Int(Int32(truncatingIfNeeded: left.value &- right.value))
    }

    /// Returns the number `distance` further on, which may wrap.
    @inline(__always)
    package static func + (left: SequenceNumber, distance: Int) -> SequenceNumber {
        SequenceNumber(left.value &+ UInt32(truncatingIfNeeded: distance))
    }
}
