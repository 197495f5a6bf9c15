/// A packet that crossed a link or was dropped on it; the link's capture is created from these records.
///
/// A packet that a fault changed or delayed has two records: one as it was sent, and one as it arrived.
package struct LinkRecord: Sendable, Equatable {
    package enum View: Sendable {
        /// The packet as its sender sent it. The packet was then dropped, delayed or modified.
        case left
        /// The packet as it arrived at its receiver, delayed or modified.
        case arrived
        /// The packet arrived immediately and unmodified.
        case both
    }

    /// The wall-clock time, in nanoseconds since 1970-01-01 UTC.
    package var time: UInt64
    package var from: LinkSide
    package var view: View
    /// The complete Ethernet frame.
    package var bytes: [UInt8]
    /// The numbers of the faults that affected the packet.
    package var faults: [Int] = []
    /// Whether the packet was created by the link itself, rather than sent by one of its ends.
    package var isMadeByLink = false
    /// Whether the packet is an additional copy that the link created.
    package var isDuplicate = false
}
