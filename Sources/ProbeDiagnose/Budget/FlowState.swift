import ProbeBase

/// What a flow spends its time on. Every instant of a flow is in exactly one state: the first that applies, in the
/// order of the cases.
package enum FlowState: UInt8, Sendable, CaseIterable {
    /// From the SYN until the client acknowledges the SYN-ACK, or until the attempt fails.
    case handshake
    /// After the second FIN, or after an RST that was obeyed.
    case closing
    /// A sender is blocked by a receive window of 0.
    case closedWindow
    /// A sender waits for its retransmission timer, or for a tail-loss probe.
    case timeout
    /// From the first fast retransmission, or the third duplicate ACK, until everything sent by then is acknowledged.
    case recovery
    /// A sender holds back a small segment until a delayed ACK arrives (RFC 9293, section 3.7.4).
    case nagle
    /// One side has closed, nothing is outstanding, and the other side sends no data.
    case halfClosed
    /// The network delivers the last data, and the answer to it, between the capture point and the peer.
    case roundTrip
    /// A transfer in one direction, limited by the receive window.
    case transferReceiveWindow
    /// A transfer in one direction, limited by the rate at which the sending application provides data.
    case transferApplication
    /// A transfer in one direction, limited by the rate of the path's bottleneck.
    case transferPath
    /// A transfer in one direction, limited by the congestion window.
    case transferCongestionWindow
    /// A transfer in one direction whose limit the capture doesn't show.
    case transferUnknown
    /// The server has received data, and sends data next.
    case serverThinks
    /// The client has received data, and sends data next.
    case clientThinks
    /// Neither side sends data, except for keep-alives.
    case silent
    /// Packets are missing, or only one direction was captured.
    case unknown

    /// The key of the state in JSON: the state's name with hyphens.
    package var key: String {
        switch self {
        case .handshake: "handshake"
        case .closing: "closing"
        case .closedWindow: "zero-window"
        case .timeout: "timeout"
        case .recovery: "recovery"
        case .nagle: "nagle"
        case .halfClosed: "half-closed"
        case .roundTrip: "round-trip"
        case .transferReceiveWindow: "transfer-receive-window"
        case .transferApplication: "transfer-application"
        case .transferPath: "transfer-path"
        case .transferCongestionWindow: "transfer-congestion-window"
        case .transferUnknown: "transfer-unknown"
        case .serverThinks: "server-thinks"
        case .clientThinks: "client-thinks"
        case .silent: "silent"
        case .unknown: "unknown"
        }
    }

    /// The name of the state in text. The limit of a transfer is stated separately.
    package var name: String { isTransfer ? "transfer" : key.replacing("-", with: " ") }

    package var isTransfer: Bool { Self.transferReceiveWindow.rawValue...Self.transferUnknown.rawValue ~= rawValue }

    /// What limits the transfer; `nil` for a state that is not a transfer.
    package var limit: String? {
        switch self {
        case .transferReceiveWindow: "the receive window"
        case .transferApplication: "the sending application"
        case .transferPath: "the path"
        case .transferCongestionWindow: "the congestion window"
        case .transferUnknown: "an unknown cause"
        default: nil
        }
    }

    /// The state in which a side's application prepares data.
    static func thinking(_ side: ConversationSide) -> FlowState { side == .client ? .clientThinks : .serverThinks }
}
