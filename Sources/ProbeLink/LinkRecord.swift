/// A packet that passed over a link, or was dropped there; the link's capture is made from these records.
///
/// A packet that a fault changed or delayed has two records: one as it left, and one as it arrived.
package struct LinkRecord: Sendable, Equatable {
    package enum View: Sendable {
        /// The packet as its sender sent it; it was dropped, or arrived later or changed.
        case left
        /// The packet as it arrived at its receiver.
        case arrived
        /// The packet left and arrived at once, unchanged.
        case both
    }

    /// The wall-clock time, in nanoseconds since 1970.
    package var time: UInt64
    package var from: LinkSide
    package var view: View
    /// The whole Ethernet frame.
    package var bytes: [UInt8]
    /// The numbers of the faults that acted on the packet.
    package var faults: [Int] = []
    /// Whether the link created the packet; no end sent it.
    package var isMadeByLink = false
    /// Whether the packet is an additional copy that the link made.
    package var isDuplicate = false
}
