/// The connections of a crowd's members, as ``CrowdCore`` asks for them. A member is a number; it has one connection at a time. Nothing here
/// waits, and nothing calls back: what happens is told to the core by who has the descriptors.
package protocol CrowdConnections: AnyObject {
    func connect(_ member: Int) -> CrowdConnect
    /// After the connection of a member that was `pending` has become writable or readable.
    func continueConnect(_ member: Int) -> CrowdConnect
    func write(_ member: Int, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite
    func read(_ member: Int, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead
    /// The number of bytes that lie unread in the kernel.
    func unread(_ member: Int) -> Int
    /// With a FIN.
    func close(_ member: Int)
    /// With an RST.
    func reset(_ member: Int)
}

package enum CrowdConnect: Equatable {
    case connected, pending
    case failed(String)
}

package enum CrowdWrite: Equatable {
    /// So many of the bytes, at least one.
    case wrote(Int)
    /// Until it is writable.
    case blocked
    case failed(String)
}

package enum CrowdRead: Equatable {
    /// So many, at least one.
    case bytes(Int)
    /// Until it is readable.
    case blocked
    /// The peer's FIN.
    case end
    case failed(String)
}

/// Where the times of members' waits are kept: the histograms of a library.
package protocol LatencyRecorder {
    init()
    mutating func record(nanoseconds: Int64)
    /// Each value that was recorded, as the histogram tells it, and how often.
    var counts: [(nanoseconds: Int64, count: Int)] { get }
}
