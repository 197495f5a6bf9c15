import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeLink
import ProbeScenario
import ProbeSystem
import ProbeWire

/// The captured traffic of a case so far: the subscription to the capture, the packets, and the connections.
struct CaseCapture {
    /// The capture; `nil` if packets can't be captured.
    let capture: Capture?
    /// The relation of wall-clock time to monotonic time at the start of the case.
    let clock: ClockRelation
    private(set) var traffic = CaseTraffic()
    /// The traffic on links: the packets that arrived, and the faults that affected packets.
    private(set) var link = LinkTraffic()
    /// The reason why packets of a link may be missing; `nil` if none are.
    private var linkLoss: String?
    /// The endpoints on which the case itself listens.
    private(set) var listeners: Set<EndpointPattern> = []
    /// The servers outside the run whose connections are captured.
    private var servers: Set<EndpointPattern> = []
    private let subscription: PortSubscription?
    private var taken = 0
    /// The number of packets dropped before the case began, which are not counted as losses of the case.
    private let droppedBefore: Int
    /// The number of packets dropped since the case began, as of the last fence.
    private(set) var dropped = 0
    /// The capture time of the last packet on loopback.
    private(set) var lastOnLoopback: UInt64 = 0
    /// The capture time of the last packet on any link.
    private(set) var lastOnLinks: UInt64 = 0
    /// The amount by which the system clock was adjusted during the case, in nanoseconds.
    private var clockStep: Int64 = 0

    init(capture: Capture?, clock: ClockRelation) {
        self.capture = capture
        self.clock = clock
        subscription = capture?.subscribe()
        droppedBefore = capture?.statistics().dropped ?? 0
    }

    /// The reason why packets of the case may be missing or attributed to another connection, although the fence was
    /// reached; `nil` if there is none.
    var lossReason: String? {
        if let linkLoss { return linkLoss }
        if dropped > 0 {
            return
                "the capture dropped \(ByteText.count(dropped, "packet")) while the case ran, so judgments may be wrong"
        }
        if subscription?.overflowed == true {
            return "the case's connections carried more than the 256 MiB that the capture keeps for a case"
        }
        if clockStep.magnitude > 5_000_000 {
            return
                "the system clock was adjusted by \(DurationText.script(.nanoseconds(clockStep))) while the case ran, so "
                + "connections can't be attributed to actors reliably"
        }
        return nil
    }

    // MARK: Subscribing

    /// From now on, assigns the connections that a listener accepts to this case. Must be called before the case
    /// listens.
    mutating func addListener(_ pattern: EndpointPattern) {
        if listeners.insert(pattern).inserted { subscribe(to: .listener(pattern)) }
    }

    /// Removes a listener that could not be opened.
    mutating func removeListener(_ pattern: EndpointPattern) {
        if listeners.remove(pattern) != nil { subscription?.remove(.listener(pattern)) }
    }

    /// Captures connections to a server outside the run from now on. Other programs may also use the server.
    mutating func addServer(_ pattern: EndpointPattern) {
        if !listeners.contains(pattern), servers.insert(pattern).inserted { subscribe(to: .server(pattern)) }
    }

    /// Subscribes to a client's next connection, unless its peer is a listener of the case. Must be called before the
    /// client connects.
    func addClient(_ local: SocketAddress, to peer: SocketAddress) {
        guard let local = local.endpoint, let destination = peer.endpoint, !listens(at: destination) else { return }
        // Each subscription applies to one connection. The same endpoint may be subscribed to again for a later
        // connection.
        subscribe(to: .client(local, peer: destination))
    }

    /// Returns whether one of the case's listeners listens on an endpoint.
    func listens(at endpoint: SocketEndpoint) -> Bool { listeners.contains { $0.matches(endpoint) } }

    private func subscribe(to scope: CaptureScope) {
        do {
            try subscription?.add(scope, since: WallClock.now)
        } catch {
            // The capture has ended, which is reported when a `wire` step waits for packets. The step is then
            // inconclusive.
            return
        }
    }

    /// Excludes the packets of a crowd from the capture. They are never judged, and would fill the ring buffer.
    func leaveOut(_ crowd: CrowdTraffic) {
        do {
            try subscription?.leaveOut(crowd)
        } catch {
            // The capture has ended, which is reported when a `wire` step waits for packets.
            return
        }
    }

    func release() { subscription?.release() }

    // MARK: Packets

    /// Adds the packets that the capture has delivered since the last call. After a fence, these include all packets
    /// sent before the fence.
    ///
    /// - Parameter total: the total number of packets dropped by the capture.
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

    /// Adds the packets that have crossed the case's links.
    mutating func add(link passages: [CaseLinks.TransmittedPacket], lossReason: String?) {
        for passage in passages {
            link.add(passage, to: &traffic)
            lastOnLinks = max(lastOnLinks, passage.record.time)
        }
        linkLoss = linkLoss ?? lossReason
    }

    /// Returns the monotonic time of a packet.
    func time(of packet: CapturedPacket) -> MonotonicTime { clock.monotonic(packet.time) }

    /// Returns the capture's timestamp for a monotonic time.
    func captureTime(of time: MonotonicTime) -> UInt64 { clock.wall(time) }
}

extension Capture {
    var packetLinkType: LinkType { LinkType(rawValue: UInt32(bitPattern: linkType)) }
}

extension CaseContext {
    /// The reason why no packets are captured on loopback.
    var captureProblem: String { settings.captureProblem ?? "no capture" }

    /// Whether any of the case's packets are captured, on loopback or on a link.
    var seesPackets: Bool { settings.capture != nil || links.wereOpened }

    /// Returns whether the packets of all given actors are captured, regardless of where their connections are. Without
    /// a capture, only packets on links are recorded.
    func seesPackets(of names: [String]) -> Bool {
        settings.capture != nil || names.allSatisfy { links.has($0, in: actors) }
    }

    /// Returns whether the packets of a connection to the given peer are captured.
    func sees(_ peer: SocketAddress) -> Bool {
        links.contains(peer) || peer.isLoopback && settings.capture != nil
    }
}

/// Waits until a case's capture and links have delivered their packets.
struct WireCatchUp {
    let context: CaseContext

    /// Waits until the capture and the links have delivered all packets that were sent so far.
    ///
    /// - Returns: `false` if some packets could not be delivered; a note with the reason is added to the case.
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
