import ProbeBase

/// A segment that its sender held back until the small segment before it was acknowledged, which took unusually long.
struct HeldSegment {
    let small: (time: Int64, end: Int64, packet: Int, length: Int64)
    private let acknowledgment: Int
    private let packet: Int
    /// The time from the acknowledgment to the segment.
    private let held: Int64
    /// Whether the segment is a full one, which Nagle's algorithm never holds back.
    private let isFull: Bool

    /// Returns `nil` if the packet was not held back.
    init?(_ packet: DiagnosedPacket, in flow: FlowObservation) {
        let side = packet.side
        let own = flow[side]
        guard packet.length > 0, let small = own.small, let acknowledged = own.smallAcknowledged,
            flow.lastData?.side == side,
            // A small segment may be followed late because the window was full.
            own.room(at: packet.time, delay: flow.delay(to: side)).map({ $0 > flow.segmentSize(of: side) }) ?? true,
            acknowledged.room.map({ $0 >= Int64(packet.length) }) ?? true
        else { return nil }
        let late = acknowledged.time - small.time - flow.delay(to: side.opposite)
        held = packet.time - acknowledged.time
        // The segment was sent in response to the acknowledgment, so it can't be captured before the acknowledgment has
        // reached the sender.
        let least = flow.delay(to: side) * 9 / 10
        guard late >= 30_000_000, least...flow.delay(to: side) + 2_000_000 ~= held else { return nil }
        // A sender that waits before a full segment waits for a delayed ACK only if the ACK is much later than those
        // that the path delays.
        isFull = Int64(packet.length) >= Self.fullSize(of: side, in: flow)
        if isFull, late / 10 < flow.roundTrip ?? .max { return nil }
        self.small = small
        acknowledgment = acknowledged.packet
        self.packet = packet.number
    }

    /// Counts the segment.
    ///
    /// - Parameter time: the part of the wait that the time budget attributes to it.
    func count(in sender: SideObservation, time: Int64) {
        sender.nagleCount += 1
        sender.nagleTime += time
        for packet in [small.packet, acknowledgment, packet] { sender.nagleEvidence.add(packet) }
        if held > 2_000_000 || isFull { sender.isNagleProven = false }
        if isFull { sender.fullHeldCount += 1 }
    }

    /// Returns the size of a full segment of a side. The MSS that a side announces follows from its own MTU, which
    /// usually limits what it sends as well.
    static func fullSize(of side: ConversationSide, in flow: FlowObservation) -> Int64 {
        let size = flow.segmentSize(of: side)
        guard let own = flow[side].syn, let other = flow[side.opposite].syn, let announced = own.maximumSegmentSize
        else { return size }
        return min(size, Int64(own.hasTimestamp && other.hasTimestamp ? announced - 12 : announced))
    }
}
