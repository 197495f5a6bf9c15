/// What to do with packets in tunnels.
package enum TunnelReading: Sendable, Hashable {
    /// They are counted as packets of the tunnel's own protocol, such as UDP.
    case ignored
    /// They are recognized but not opened.
    case named
    /// The packets that they carry are decoded in their place.
    case opened
}

/// The ends of the parts of one packet, and the number of tunnels that may still be opened in it.
struct PacketExtent {
    /// The end of the frame on the wire.
    let wireEnd: Int
    /// The smallest of the ends given by the headers that have been read so far.
    private(set) var bound = Int.max
    /// The number of tunnels that may still be opened.
    let tunnels: Int
    let reading: TunnelReading

    /// More nested tunnels than any network has.
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

    /// Returns the end of a header and its payload that begin at `start`; a length of 0 means that it is not known.
    @inline(__always)
    func end(of start: Int, length: Int) -> Int {
        min(length == 0 ? max(wireEnd, start) : start + length, bound)
    }
}
