import ProbeBase
import CShims
import ProbeCapture
import ProbeSystem
import ProbeWire

/// What one case has seen on the wire so far: its claim on the capture, its packets, its connections.
struct WireView {
    struct Entry {
        var packet: CapturedPacket
        /// nil for what is no TCP segment.
        var summary: PacketSummary?
        /// The payload in the packet's bytes.
        var payload: Range<Int>
    }

    let capture: Capture?
    /// Wall-clock time against monotonic time when the case began.
    let clock: ClockRelation
    private(set) var entries: [Entry] = []
    private(set) var table = ConversationTable()
    /// Of each connection of `table` its SYN.
    private(set) var openings: [WireBinding.Opening] = []
    /// The capture's numbers of connections, and their places in `table`.
    private var positions: [Int: Int] = [:]
    /// Drops before the case began are not its own.
    private let droppedBefore: Int
    /// Since then, as of the last fence.
    private(set) var dropped = 0
    /// By how much the system's clock was set while the case ran, in nanoseconds.
    private var clockStep: Int64 = 0
    private let claim: PortSubscription?
    private var scopes: Set<CaptureScope> = []
    private var taken = 0

    init(capture: Capture?, clock: ClockRelation) {
        self.capture = capture
        self.clock = clock
        claim = capture?.subscribe()
        droppedBefore = capture?.statistics().dropped ?? 0
    }

    /// Why packets of the case may be missing, or may be taken for another connection's, although the fence was reached.
    var lossReason: String? {
        if dropped > 0 {
            return "the capture dropped \(dropped) packets while the case ran: what was judged from it may be wrong"
        }
        if claim?.overflowed == true {
            return "the case's connections carried more than the capture keeps of a case (256 MiB)"
        }
        if clockStep.magnitude > 5_000_000 {
            return
                "the system's clock was set by \(DurationText.script(.nanoseconds(clockStep))) while the case ran: which connection "
                + "is whose is known by time"
        }
        return nil
    }

    // MARK: Claims

    /// From now on the connections that go to a listener of the case are the case's. To be called before it listens.
    mutating func claimListener(_ pattern: EndpointPattern) { claim(.listener(pattern)) }

    /// The listener did not come about.
    mutating func disclaimListener(_ pattern: EndpointPattern) {
        if scopes.remove(.listener(pattern)) != nil { claim?.remove(.listener(pattern)) }
    }

    /// From now on the connections that go to a server outside of the run are seen; others may use it, too.
    mutating func claimServer(_ pattern: EndpointPattern) {
        if !scopes.contains(.listener(pattern)) { claim(.server(pattern)) }
    }

    /// A client's next connection, where its peer is no listener of the case. To be called before it connects.
    mutating func claimClient(_ local: SocketAddress, to peer: SocketAddress) {
        let destination = SocketEndpoint(peer)
        if listens(at: destination) { return }
        claim(.client(SocketEndpoint(local), peer: destination))
    }

    /// Whether a listener of the case answers there.
    func listens(at endpoint: SocketEndpoint) -> Bool {
        scopes.contains { if case .listener(let pattern) = $0 { pattern.matches(endpoint) } else { false } }
    }

    private mutating func claim(_ scope: CaptureScope) {
        guard let claim, !scopes.contains(scope) else { return }
        // A connection that leaves an endpoint is claimed for once, and may be claimed again.
        if case .client = scope {} else { scopes.insert(scope) }
        do {
            try claim.add(scope, since: WallClock.now)
        } catch {
            // The capture has ended: every fence says so, and what is judged is inconclusive.
            return
        }
    }

    func release() { claim?.release() }

    // MARK: Packets

    /// Takes what the capture has delivered since the last time; after a fence that is all there was.
    mutating func pull(dropped total: Int) {
        guard let capture, let claim else { return }
        dropped = max(0, total - droppedBefore)
        let change = ClockRelation.measured().offset - clock.offset
        if change.magnitude > clockStep.magnitude { clockStep = change }
        let linkType = LinkType(rawValue: UInt32(bitPattern: capture.linkType))
        let packets = claim.packets(from: taken)
        taken += packets.count
        for packet in packets { add(packet, linkType) }
    }

    private mutating func add(_ claimed: ConnectionPacket, _ linkType: LinkType) {
        let packet = claimed.packet
        var entry = Entry(packet: packet, summary: nil, payload: 0..<0)
        do throws(PacketError) {
            if case .tcp(let segment) = try packet.decoded(linkType: linkType) {
                entry.payload = segment.payload
                let position = positions[claimed.connection] ?? open(claimed, segment)
                entry.summary = table.add(
                    segment, payload: packet.bytes.span.extracting(segment.payload), time: packet.time, to: position)
            }
        } catch {
            // Not a packet that can be decoded: it is kept for the file, and is part of no connection.
            entry.summary = nil
        }
        entries.append(entry)
    }

    private mutating func open(_ claimed: ConnectionPacket, _ segment: DecodedTCP) -> Int {
        let position = table.open(for: segment)
        positions[claimed.connection] = position
        openings.append(
            WireBinding.Opening(
                client: table.conversations[position].client, server: table.conversations[position].server,
                sequence: segment.sequence, time: claimed.packet.time))
        return position
    }

    /// Monotonic time of a packet.
    func time(of packet: CapturedPacket) -> MonotonicTime { clock.monotonic(packet.time) }

    /// The capture's time of a moment.
    func captureTime(of time: MonotonicTime) -> UInt64 { clock.wall(time) }
}

extension SocketEndpoint {
    init(_ address: SocketAddress) {
        // A socket address has 4 or 16 bytes, which is all that an IP address can have.
        self.init(address: IPAddress(bytes: address.bytes.span) ?? IPAddress(v4: 0), port: address.port)
    }
}
