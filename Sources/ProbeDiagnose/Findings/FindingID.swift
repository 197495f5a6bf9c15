/// The identifier of a finding. The cases are in the order in which equally important findings are listed.
package enum FindingID: String, Sendable, CaseIterable {
    case refused
    case noAnswer = "no-answer"
    case synLost = "syn-lost"
    case acceptQueueFull = "accept-queue-full"
    case icmpUnreachable = "icmp-unreachable"
    case slowHandshake = "slow-handshake"
    case wrongSYNAnswer = "wrong-syn-answer"
    case noWindowScaling = "no-window-scaling"
    case noSACK = "no-sack"
    case smallMSS = "small-mss"
    case fastOpenRejected = "fast-open-rejected"
    case closedWindow = "zero-window"
    case windowLimited = "window-limited"
    case smallWindow = "small-window"
    case applicationLimited = "application-limited"
    case timeoutStall = "timeout-stall"
    case tailLoss = "tail-loss"
    case loss
    case reordering
    case spuriousRetransmission = "spurious-retransmission"
    case mtuBlackHole = "mtu-black-hole"
    case nagleDelayedAck = "nagle-delayed-ack"
    case tinygrams
    case bufferbloat
    case duplicatePackets = "duplicate-packets"
    case sillyWindow = "silly-window"
    case sackReneging = "sack-reneging"
    case slowServer = "slow-server"
    case slowClient = "slow-client"
    case requestUnfinished = "request-unfinished"
    case slowDrip = "slow-drip"
    case noData = "no-data"
    case tlsAlert = "tls-alert"
    case tlsHandshakeStalled = "tls-handshake-stalled"
    case tlsVersionMismatch = "tls-version-mismatch"
    case truncatedTLS = "truncated-tls"
    case resetByClient = "reset-by-client"
    case resetByServer = "reset-by-server"
    case injectedReset = "injected-reset"
    case dataLostAtClose = "data-lost-at-close"
    case halfClosed = "half-closed"
    case vanished
    case keepAliveFailed = "keep-alive-failed"
    case captureDroppedPackets = "capture-dropped-packets"
    case oneDirection = "one-direction"
    case snapLength = "snap-length"
    case startsInTheMiddle = "starts-in-the-middle"
    case offload
    case capturedTwice = "captured-twice"
    case clockStepped = "clock-stepped"
    case reconnectStorm = "reconnect-storm"
    case portReuse = "port-reuse"
    case connectionsRefusedUnderLoad = "connections-refused-under-load"
    case oneServerSlow = "one-server-slow"
    case allFlowsStall = "all-flows-stall"
    case synFlood = "syn-flood"
    case portScan = "port-scan"

    /// Whether the finding describes the capture itself rather than a connection.
    var isAboutCapture: Bool {
        switch self {
        case .captureDroppedPackets, .oneDirection, .snapLength, .startsInTheMiddle, .offload, .capturedTwice,
            .clockStepped:
            true
        default: false
        }
    }

    /// Whether the finding says that nothing followed after the last packet that is evidence for it.
    var isAboutSilence: Bool {
        switch self {
        case .halfClosed, .vanished, .keepAliveFailed, .requestUnfinished, .tlsHandshakeStalled, .dataLostAtClose,
            .noData:
            true
        default: false
        }
    }

    /// Whether the evidence for the finding consists of occurrences that don't depend on each other.
    var isAboutOccurrences: Bool {
        switch self {
        case .loss, .timeoutStall, .tailLoss, .reordering, .spuriousRetransmission, .nagleDelayedAck, .duplicatePackets,
            .sillyWindow:
            true
        default: false
        }
    }

    /// Whether the finding describes several flows together.
    var isAboutSeveralFlows: Bool {
        switch self {
        case .reconnectStorm, .portReuse, .connectionsRefusedUnderLoad, .oneServerSlow, .allFlowsStall, .synFlood,
            .portScan:
            true
        default: false
        }
    }

    /// Whether the finding says that the connection was not set up.
    var isFailedSetUp: Bool {
        switch self {
        case .refused, .noAnswer, .icmpUnreachable, .wrongSYNAnswer: true
        default: false
        }
    }
}
