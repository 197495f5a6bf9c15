import ProbeBase

/// A state in which a flow can spend time. Every instant of a flow belongs to exactly one state: the first case of this
/// enumeration that applies.
package enum FlowState: UInt8, Sendable, CaseIterable {
    /// The time from the SYN until the client acknowledges the SYN-ACK, or until the attempt to connect fails.
    case handshake
    /// The time after the second FIN, or after an RST that its receiver accepted.
    case closing
    /// A sender can't send, because the receive window is 0.
    case closedWindow
    /// A sender waits for its retransmission timer, or for a tail-loss probe.
    case timeout
    /// The time from the first fast retransmission or the third duplicate ACK until all data that had been sent by then
    /// is acknowledged.
    case recovery
    /// A sender holds back a small segment until a delayed ACK arrives (RFC 9293, section 3.7.4).
    case nagle
    /// One side has closed its direction of the connection, no data is outstanding, and the other side sends no data.
    case halfClosed
    /// The last data, or the answer to it, is on its way between the capture point and the peer.
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
    /// The server prepares data: it has received data from the client, and it sends the next data.
    case serverThinks
    /// The client prepares data: it has received data from the server, and it sends the next data.
    case clientThinks
    /// Neither side sends data. Keep-alives do not count as data.
    case silent
    /// The state can't be determined, because packets are missing or only one direction was captured.
    case unknown

    /// The key that identifies the state in JSON: the state's name, with hyphens between the words.
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

    /// The name of the state in human-readable text. The factor that limits a transfer is stated separately.
    package var name: String { isTransfer ? "transfer" : key.replacing("-", with: " ") }

    package var isTransfer: Bool { Self.transferReceiveWindow.rawValue...Self.transferUnknown.rawValue ~= rawValue }

    /// The factor that limits the transfer; `nil` for a state that is not a transfer.
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
