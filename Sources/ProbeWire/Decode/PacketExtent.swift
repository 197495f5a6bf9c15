/// What to do with packets in tunnels.
package enum TunnelReading: Sendable, Hashable {
    /// They are packets of the tunnel's own protocol, such as UDP.
    case ignored
    /// They are recognised and not opened.
    case named
    /// What they carry is decoded in their place.
    case opened
}

/// Where the parts of one packet end, and how many tunnels may still be opened in it.
struct PacketExtent {
    /// The frame's end on the wire.
    let wireEnd: Int
    /// The least of the ends that the headers read so far give.
    private(set) var bound = Int.max
    /// The number of tunnels that may still be opened.
    let tunnels: Int
    let reading: TunnelReading

    /// More tunnels in each other than any network has.
    static let mostTunnels = 6

    init(wireEnd: Int, reading: TunnelReading, tunnels: Int = mostTunnels) {
        self.wireEnd = wireEnd
        self.reading = reading
        self.tunnels = tunnels
    }

    func bounded(by end: Int) -> PacketExtent {
        var extent = self
        extent.bound = min(bound, end)
        return extent
    }

    /// The end of a header and its payload that begin at `start`; a length of 0 is not known.
    @inline(__always)
    func end(of start: Int, length: Int) -> Int {
        min(length == 0 ? max(wireEnd, start) : start + length, bound)
    }
}
