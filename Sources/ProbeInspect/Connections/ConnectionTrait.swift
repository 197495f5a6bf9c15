package import ProbeWire

/// A property by which flows can be selected: the way a flow began or ended, or an anomaly in it.
package enum ConnectionTrait: String, Sendable, CaseIterable {
    case rst, fin, open
    case refused, unanswered, unfinished
    case partlyCaptured = "partly-captured"
    case notCaptured = "not-captured"
    /// The flow has an anomaly of any kind.
    case anomalies
    // The following traits have the same names as the anomalies in `ConnectionReport.Anomaly`.
    case retransmissions
    case fastRetransmissions = "fast-retransmissions"
    case spuriousRetransmissions = "spurious-retransmissions"
    case outOfOrder = "out-of-order"
    case duplicateAcks = "duplicate-acks"
    case tailLossProbes = "tail-loss-probes"
    case retransmissionsOrProbes = "retransmissions-or-probes"
    case ignoredResets = "ignored-resets"
    case capturedTwice = "captured-twice"
    case keepAlives = "keep-alives"
    case zeroWindows = "zero-windows"
    case zeroWindowProbes = "zero-window-probes"
    case outOfWindow = "out-of-window"
    case icmpErrors = "icmp-errors"
    case urgent, conflicts
    case missingBytes = "missing-bytes"
    case cutBytes = "cut-bytes"
    case givenUpBytes = "given-up-bytes"

    package func isTrue(of conversation: borrowing Conversation, _ counts: ConnectionAnomalies) -> Bool {
        switch self {
        case .rst: return conversation.fromClient.rst != nil || conversation.fromServer.rst != nil
        case .fin: return conversation.fromClient.fin != nil || conversation.fromServer.fin != nil
        case .open: return conversation.closes.isEmpty
        case .refused: return conversation.handshake == .refused
        case .unanswered: return conversation.handshake == .unanswered
        case .unfinished: return conversation.handshake == .unfinished
        case .partlyCaptured: return conversation.handshake == .partlyCaptured
        case .notCaptured: return conversation.handshake == .notCaptured
        case .anomalies: return !conversation.anomalies(counts).isEmpty
        default: return conversation.anomalies(counts).contains { $0.id == rawValue }
        }
    }
}
