/// A packet that passed over a link, or was to: what the capture of the link is made of. One that a fault changed or made late has two: as it
/// left, and as it arrived.
package struct LinkRecord: Sendable, Equatable {
    package enum View: Sendable {
        /// As its sender sent it: it was dropped, or arrived later or changed.
        case left
        /// As it came to its receiver.
        case arrived
        /// It left and arrived at once, unchanged.
        case both
    }

    /// Of the wall clock, in nanoseconds since 1970.
    package var time: UInt64
    package var from: LinkSide
    package var view: View
    /// The whole frame of Ethernet.
    package var bytes: [UInt8]
    /// The numbers of the faults that it met.
    package var faults: [Int] = []
    /// No end has sent it.
    package var isMadeByLink = false
    /// A further copy of a packet, which the link made.
    package var isDuplicate = false
}
