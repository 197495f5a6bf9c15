/// The treatment of packets in tunnels.
package enum TunnelReading: Sendable, Hashable {
    /// Tunneled packets are counted as packets of the tunnel's own protocol, such as UDP.
    case ignored
    /// Tunneled packets are recognized, but the tunnels are not decapsulated.
    case named
    /// The inner packets are decoded instead of the outer ones.
    case opened
}

/// The boundaries within which a packet's headers are decoded, and the number of tunnels in the packet that may still
/// be decapsulated.
struct PacketExtent {
    /// The end of the frame on the wire.
    let wireEnd: Int
    /// The smallest packet end that follows from the lengths in the headers read so far.
    private(set) var bound = Int.max
    /// The number of tunnels that may still be decapsulated.
    let tunnels: Int
    let reading: TunnelReading

    /// The maximum number of nested tunnels that are decapsulated, which is more than any network uses.
    static let maxTunnels = 6

    init(wireEnd: Int, reading: TunnelReading, tunnels: Int = maxTunnels) {
        self.wireEnd = wireEnd
        self.reading = reading
        self.tunnels = tunnels
    }

    func bounded(by end: Int) -> PacketExtent {
        var extent = self
        extent.bound = min(bound, end)
        return extent
    }

    /// Returns the end of a header and its payload that begin at `start`. A length of 0 means that the length is
    /// unknown.
    @inline(__always)
    func end(of start: Int, length: Int) -> Int {
        min(length == 0 ? max(wireEnd, start) : start + length, bound)
    }
}
