import ProbeBase
import ProbeWire

/// The place on the path at which a capture was made, as far as a flow reveals it.
package enum CapturePoint: String, Sendable {
    case client, server, both, middle, unknown
}

/// A flow and everything that its findings are based on.
struct FlowContext {
    let flow: FlowObservation
    let client: SocketEndpoint
    let server: SocketEndpoint
    /// The time from the first to the last packet, in nanoseconds.
    let duration: Int64
    /// The time from the flow's last packet to the end of the capture, in nanoseconds; 0 if the capture of the flow ended
    /// with that packet.
    private(set) var trailing: Int64

    init(flow: FlowObservation, client: SocketEndpoint, server: SocketEndpoint, duration: Int64, trailing: Int64) {
        self.flow = flow
        self.client = client
        self.server = server
        self.duration = duration
        self.trailing = trailing
        if isExcerpt { self.trailing = 0 }
    }

    /// Whether packets of the flow that followed are not in the capture. A sender with outstanding data sends it again
    /// after a while, or probes a closed window, so a long silence shows that the flow was no longer captured.
    private var isExcerpt: Bool {
        guard flow.phase != .setUp, flow.reset == nil, flow.icmp == nil else { return false }
        return ConversationSide.allCases.contains { side in
            let sender = flow[side]
            guard sender.outstanding > 0, let last = sender.log.segments.last(where: { $0.end > sender.acknowledged })
            else { return false }
            // A receiver at the capture point acknowledges data at once, or after its delayed-ACK timer.
            if last.sends == 1, point != .both, isAt(side.opposite), trailing > Time.second,
                duration - last.lastTime < Time.second
            {
                return true
            }
            // The timeout doubles with each transmission.
            let timeout = max(3 * Time.second, 4 * (flow.roundTrip ?? 0), 4 * (last.lastTime - last.time))
            return trailing > timeout && duration - last.lastTime < timeout
        }
    }

    /// The time for which the flow was observed, from its first packet to the end of the capture.
    var watched: Int64 {
        let (sum, isTooLarge) = duration.addingReportingOverflow(trailing)
        return isTooLarge ? Int64.max : sum
    }

    var point: CapturePoint {
        guard let toServer = flow.knownDelay(to: .server), let toClient = flow.knownDelay(to: .client) else {
            return client.address.isLoopback ? .both : .unknown
        }
        if client.address.isLoopback { return .both }
        if toServer < (toServer + toClient) / 10 { return .server }
        if toClient < (toServer + toClient) / 10 { return .client }
        return .middle
    }

    /// Returns whether the capture was made at the given side, so that it shows what that side sent and received.
    func isAt(_ side: ConversationSide) -> Bool {
        point == .both || (point == .client && side == .client) || (point == .server && side == .server)
    }

    /// Whether only one side's packets were captured, although the other side must also have sent packets.
    var isOneDirection: Bool {
        let (own, other) = (flow.client, flow.server)
        // A client that only repeats its SYN received no answer.
        if own.packetCount > 0, other.packetCount > 0 || flow.phase == .setUp { return false }
        let seen = own.packetCount > 0 ? own : other
        // Packets after a handshake, or acknowledgments of data, show that the peer answered.
        return seen.packetCount > seen.synCount + (flow.reset == nil ? 0 : 1)
    }

    /// The number of bytes that were acknowledged but are not in the capture.
    var missingBytes: Int64 {
        (flow.client.holes + flow.server.holes).filter(\.isAcknowledged).reduce(0) { $0 + $1.end - $1.start }
    }

    var hasCaptureLosses: Bool { missingBytes > 0 && !isOneDirection && !flow.isTranslated }

    /// Returns whether packets that are missing from the capture may change what the given packets show. If a finding is
    /// based on the flow as a whole, it names a single packet, and the share of the missing data counts.
    ///
    func isTouchedByLosses(_ evidence: [Int], of id: FindingID) -> Bool {
        guard let first = evidence.first, let last = evidence.last else { return true }
        let holes = (flow.client.holes + flow.server.holes).filter(\.isAcknowledged)
        // What happened again and again is only in doubt if packets are missing near most of its occurrences.
        if id.isAboutOccurrences, evidence.count >= 5 {
            let touched = evidence.count { packet in holes.contains { abs($0.packet - packet) <= 4 } }
            return touched * 2 >= evidence.count
        }
        let isSilence = id.isAboutSilence
        if holes.contains(where: { $0.packet >= first && (isSilence || $0.packet <= last + 2) }) { return true }
        let bytes = flow.client.payloadLength + flow.server.payloadLength
        return first == last && missingBytes * 100 >= bytes
    }

    /// Whether the client is known: it sent a SYN, received a SYN-ACK, or sent an HTTP request.
    var hasKnownRoles: Bool {
        flow.client.syn != nil || flow.server.syn != nil || flow.client.progress.kind == .http
    }

    func endpoint(_ side: ConversationSide) -> String { "\(side == .client ? client : server)" }

    func share(_ time: Int64) -> Double { duration > 0 ? Double(time) / Double(duration) : 0 }
}
