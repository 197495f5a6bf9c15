/// The connections of a crowd's members: the interface through which ``CrowdCore`` uses sockets.
///
/// A member is identified by a number, and has one connection at a time. No method blocks or calls the core. The owner
/// of the descriptors reports events to the core.
package protocol CrowdConnections: AnyObject {
    /// Starts connecting a member.
    func connect(_ member: Int) -> CrowdConnect
    /// Continues a `pending` connection attempt, after the connection has become writable or readable.
    func continueConnect(_ member: Int) -> CrowdConnect
    func write(_ member: Int, _ bytes: UnsafeRawBufferPointer) -> CrowdWrite
    func read(_ member: Int, into buffer: UnsafeMutableRawBufferPointer) -> CrowdRead
    /// Returns the number of bytes for a member that are unread in the kernel's buffer.
    func unread(_ member: Int) -> Int
    /// Closes the connection with a FIN.
    func close(_ member: Int)
    /// Closes the connection with an RST.
    func reset(_ member: Int)
}

/// The result of a member's attempt to connect.
package enum CrowdConnect: Equatable {
    case connected, pending
    case failed(String)
}

/// The result of a write to a member's connection.
package enum CrowdWrite: Equatable {
    /// The given number of bytes, at least one, was written.
    case wrote(Int)
    /// Nothing was written; the connection must become writable first.
    case blocked
    case failed(String)
}

/// The result of a read from a member's connection.
package enum CrowdRead: Equatable {
    /// The given number of bytes, at least one, was read.
    case bytes(Int)
    /// Nothing was read; the connection must become readable first.
    case blocked
    /// The peer's FIN was received.
    case end
    case failed(String)
}

/// A recorder for the durations of members' waits, implemented with a histogram library.
package protocol LatencyRecorder {
    init()
    mutating func record(nanoseconds: Int64)
    /// The recorded values, at the histogram's resolution, each with the number of times it was recorded.
    var counts: [(nanoseconds: Int64, count: Int)] { get }
}
