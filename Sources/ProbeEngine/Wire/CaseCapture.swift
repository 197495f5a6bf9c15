import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeNetwork
import ProbeScenario
import ProbeSystem
import ProbeWire

/// What one case has seen on the wire so far: its subscription to the capture, its packets, its connections.
struct CaseCapture {
    /// nil where nothing can be captured.
    let capture: Capture?
    /// Wall-clock time against monotonic time when the case began.
    let clock: ClockRelation
    private(set) var traffic = CaseTraffic()
    /// Of links: what arrived, and the faults.
    private(set) var link = LinkTraffic()
    /// Why packets of a link may be missing.
    private var linkLoss: String?
    /// Where the case itself listens.
    private(set) var listeners: Set<EndpointPattern> = []
    /// Servers outside of the run whose connections are seen.
    private var servers: Set<EndpointPattern> = []
    private let subscription: PortSubscription?
    private var taken = 0
    /// Drops before the case began are not its own.
    private let droppedBefore: Int
    /// Since then, as of the last fence.
    private(set) var dropped = 0
    /// The times of the last packets on loopback and on links.
    private(set) var lastOnLoopback: UInt64 = 0
    private(set) var lastOnLinks: UInt64 = 0
    /// By how much the system's clock was set while the case ran, in nanoseconds.
    private var clockStep: Int64 = 0

    init(capture: Capture?, clock: ClockRelation) {
        self.capture = capture
        self.clock = clock
        subscription = capture?.subscribe()
        droppedBefore = capture?.statistics().dropped ?? 0
    }

    /// Why packets of the case may be missing, or may be taken for another connection's, although the fence was reached.
    var lossReason: String? {
        if let linkLoss { return linkLoss }
        if dropped > 0 {
            return "the capture dropped \(dropped) packets while the case ran: what was judged from it may be wrong"
        }
        if subscription?.overflowed == true {
            return "the case's connections carried more than the capture keeps of a case (256 MiB)"
        }
        if clockStep.magnitude > 5_000_000 {
            return
                "the system's clock was set by \(DurationText.script(.nanoseconds(clockStep))) while the case ran: which connection "
                + "is whose is known by time"
        }
        return nil
    }

    // MARK: Subscribing

    /// From now on the connections that go to a listener of the case are the case's. To be called before it listens.
    mutating func addListener(_ pattern: EndpointPattern) {
        if listeners.insert(pattern).inserted { subscribe(to: .listener(pattern)) }
    }

    /// The listener did not come about.
    mutating func removeListener(_ pattern: EndpointPattern) {
        if listeners.remove(pattern) != nil { subscription?.remove(.listener(pattern)) }
    }

    /// From now on the connections that go to a server outside of the run are seen; others may use it, too.
    mutating func addServer(_ pattern: EndpointPattern) {
        if !listeners.contains(pattern), servers.insert(pattern).inserted { subscribe(to: .server(pattern)) }
    }

    /// A client's next connection, where its peer is no listener of the case. To be called before it connects.
    func addClient(_ local: SocketAddress, to peer: SocketAddress) {
        guard let local = local.endpoint, let destination = peer.endpoint, !listens(at: destination) else { return }
        // A connection that leaves an endpoint is subscribed to once, and may be again.
        subscribe(to: .client(local, peer: destination))
    }

    /// Whether a listener of the case answers there.
    func listens(at endpoint: SocketEndpoint) -> Bool { listeners.contains { $0.matches(endpoint) } }

    private func subscribe(to scope: CaptureScope) {
        do {
            try subscription?.add(scope, since: WallClock.now)
        } catch {
            // The capture has ended: every fence says so, and what is judged is inconclusive.
            return
        }
    }

    /// The packets of a crowd, which nobody judges, would fill the ring.
    func leaveOut(_ crowd: CrowdTraffic) {
        do {
            try subscription?.leaveOut(crowd)
        } catch {
            // As above.
            return
        }
    }

    func release() { subscription?.release() }

    // MARK: Packets

    /// Takes what the capture has delivered since the last time; after a fence that is all there was.
    ///
    /// - Parameter total: packets that the capture has dropped in all.
    mutating func pull(dropped total: Int) {
        guard let capture, let subscription else { return }
        dropped = max(0, total - droppedBefore)
        let change = ClockRelation.measured().offset - clock.offset
        if change.magnitude > clockStep.magnitude { clockStep = change }
        let packets = subscription.packets(from: taken)
        taken += packets.count
        for packet in packets {
            traffic.add(packet, capture.packetLinkType)
            lastOnLoopback = max(lastOnLoopback, packet.packet.time)
        }
    }

    /// Takes what has passed over the links of the case.
    mutating func add(link passages: [CaseLinks.Passage], lossReason: String?) {
        for passage in passages {
            link.add(passage, to: &traffic)
            lastOnLinks = max(lastOnLinks, passage.record.time)
        }
        linkLoss = linkLoss ?? lossReason
    }

    /// Monotonic time of a packet.
    func time(of packet: CapturedPacket) -> MonotonicTime { clock.monotonic(packet.time) }

    /// The capture's time of a moment.
    func captureTime(of time: MonotonicTime) -> UInt64 { clock.wall(time) }
}

extension Capture {
    var packetLinkType: LinkType { LinkType(rawValue: UInt32(bitPattern: linkType)) }
}

extension CaseContext {
    /// Why nothing is seen on the wire.
    var captureProblem: String { settings.captureProblem ?? "no capture" }

    /// Whether any packet of the case is seen: on loopback, or on a link.
    var seesPackets: Bool { settings.capture != nil || links.wereOpened }

    /// Whether the packets of these actors are seen, wherever their connections are: without a capture only those of links are.
    func seesPackets(of names: [String]) -> Bool {
        settings.capture != nil || names.allSatisfy { links.has($0, in: actors) }
    }

    /// Whether the packets of a connection with that peer are seen.
    func sees(_ peer: SocketAddress) -> Bool {
        links.contains(peer) || peer.isLoopback && settings.capture != nil
    }
}

/// Waits for the capture and the links of a case.
struct WireCatchUp {
    let context: CaseContext

    /// Waits until the capture has delivered everything that was sent so far.
    ///
    /// - Returns: false when it could not; that is noted.
    func run(at span: SourceSpan?) async -> Bool {
        if !context.links.isEmpty {
            let isComplete = await context.links.catchUp()
            context.capture.add(link: context.links.pull(), lossReason: context.links.lossReason)
            guard isComplete else {
                context.note(
                    Finding(.inconclusive, at: span, "a link did not catch up within 2s: the machine is overloaded"))
                return false
            }
        }
        guard let capture = context.capture.capture else { return !context.links.isEmpty }
        let outcome = await withCheckedContinuation { continuation in
            capture.fence(timeout: .seconds(2)) { continuation.resume(returning: $0) }
        }
        switch outcome {
        case .caughtUp(let dropped):
            context.capture.pull(dropped: dropped)
            return true
        case .timedOut:
            context.note(
                Finding(.inconclusive, at: span, "the capture did not catch up within 2s: the machine is overloaded"))
        case .failed(let error):
            context.note(
                Finding(.inconclusive, at: span, "the capture ended: \(error.message(executable: "tcpprobe"))"))
        }
        return false
    }
}
