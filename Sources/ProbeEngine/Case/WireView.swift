import ProbeCapture
import ProbeSockets
import ProbeWire

/// What one case has seen on the wire so far: its claims on the capture, its packets, its connections.
struct WireView {
    struct Entry {
        var packet: CapturedPacket
        /// nil for what is no TCP segment.
        var summary: PacketSummary?
        /// The payload in the packet's bytes.
        var payload: Range<Int>
    }

    let capture: Capture?
    /// Wall-clock nanoseconds minus monotonic ones.
    let clockOffset: Int64
    private(set) var entries: [Entry] = []
    private(set) var table = ConversationTable()
    /// Drops before the case began are not its own.
    private let droppedBefore: Int
    /// Since then, as of the last fence.
    private(set) var dropped = 0
    private var claims: [(claim: CaptureClaim, taken: Int)] = []

    init(capture: Capture?, clockOffset: Int64) {
        self.capture = capture
        self.clockOffset = clockOffset
        droppedBefore = capture?.statistics().dropped ?? 0
    }

    /// Why packets of the case may be missing although the fence was reached.
    var lossReason: String? {
        if dropped > 0 {
            return "the capture dropped \(dropped) packets while the case ran: what was judged from it may be wrong"
        }
        if claims.contains(where: { $0.claim.overflowed }) {
            return "the case's connections carried more than the capture keeps of a case (256 MiB)"
        }
        return nil
    }

    // MARK: Claims

    /// From now on the packets of that port are the case's.
    mutating func claim(_ port: UInt16) {
        guard let capture, !claims.contains(where: { $0.claim.port == port }) else { return }
        do {
            try capture.add(port: port)
        } catch {
            // The capture has ended: every fence says so, and what is judged is inconclusive.
            return
        }
        claims.append((capture.claim(port: port), 0))
    }

    /// A client's own port, where the one that it connects to is not the case's.
    mutating func claimClient(_ local: SocketAddress, to peer: SocketAddress) {
        if claims.contains(where: { $0.claim.port == peer.port }) { return }
        claim(local.port)
    }

    func release() {
        for (claim, _) in claims { claim.release() }
    }

    // MARK: Packets

    /// Takes what the capture has delivered since the last time; after a fence that is all there was.
    mutating func pull(dropped total: Int) {
        dropped = max(0, total - droppedBefore)
        let linkType = LinkType(rawValue: UInt32(bitPattern: capture?.linkType ?? 1))
        for index in claims.indices {
            let packets = claims[index].claim.packets(from: claims[index].taken)
            claims[index].taken += packets.count
            for packet in packets { add(packet, linkType) }
        }
    }

    private mutating func add(_ packet: CapturedPacket, _ linkType: LinkType) {
        var entry = Entry(packet: packet, summary: nil, payload: 0..<0)
        do throws(PacketError) {
            if case .tcp(let segment) = try packet.decoded(linkType: linkType) {
                entry.payload = segment.payload
                entry.summary = table.add(
                    segment, payload: packet.bytes.span.extracting(segment.payload), time: packet.time)
            }
        } catch {
            // Not a packet that can be decoded: it is kept for the file, and is part of no connection.
            entry.summary = nil
        }
        entries.append(entry)
    }

    /// The connection between two addresses that is the latest.
    func conversation(between local: SocketAddress, and peer: SocketAddress) -> Int? {
        table.latestIndex(between: SocketEndpoint(local), and: SocketEndpoint(peer))
    }

    /// Monotonic time of a packet.
    func time(of packet: CapturedPacket) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(clamping: packet.time) - clockOffset)
    }

    /// The capture's time of a moment.
    func captureTime(of time: MonotonicTime) -> UInt64 { UInt64(clamping: time.nanoseconds + clockOffset) }
}

extension SocketEndpoint {
    init(_ address: SocketAddress) {
        // A socket address has 4 or 16 bytes, which is all that an IP address can have.
        self.init(address: IPAddress(bytes: address.bytes.span) ?? IPAddress(v4: 0), port: address.port)
    }
}
