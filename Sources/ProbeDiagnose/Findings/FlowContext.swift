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
    /// The time from the flow's last packet to the end of the capture, in nanoseconds.
    let trailing: Int64

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
        if own.packetCount > 0, other.packetCount > 0 { return false }
        let seen = own.packetCount > 0 ? own : other
        // Packets after a handshake, or acknowledgments of data, show that the peer answered.
        return seen.packetCount > seen.synCount + (flow.reset == nil ? 0 : 1)
    }

    /// The number of bytes that were acknowledged but are not in the capture.
    var missingBytes: Int64 {
        (flow.client.holes + flow.server.holes).filter(\.isAcknowledged).reduce(0) { $0 + $1.end - $1.start }
    }

    var hasCaptureLosses: Bool { missingBytes > 0 && !isOneDirection && !flow.isTranslated }

    func endpoint(_ side: ConversationSide) -> String { "\(side == .client ? client : server)" }

    func share(_ time: Int64) -> Double { duration > 0 ? Double(time) / Double(duration) : 0 }
}
