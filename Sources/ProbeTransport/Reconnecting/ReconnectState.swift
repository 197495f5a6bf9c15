import ProbeBase

/// The decision logic of a transport that reconnects when its connection is lost. Connections, timers and threads
/// belong to its owner.
///
///     initialised ─ start ▶ connecting ─ started ▶ connected ─┬─ lost ▶ waiting ─ time elapsed ▶ connecting
///                               └─ failed ▶ waiting           └─ stop, half-close, protocol violation ▶ ended
///
/// Guarantees: `stopped` is reported exactly once, as the last event. At most one connection is open or being
/// established at a time.
struct ReconnectState {
    enum Phase { case initialised, connecting, connected, waiting, ended }

    /// An action that the owner must take. Actions are taken in the order in which they are returned.
    enum Action {
        case report(TransportEvent)
        /// Wait for the given duration, and then call ``isDue()``.
        case wait(Duration)
    }

    let limits: TransportReconnect
    private(set) var phase = Phase.initialised
    var unsent = UnsentMessages()
    /// Whether reading is paused, for the current connection and for later ones.
    var isPaused = false
    /// Whether this side has ended or will end the stream. After that, the end of the connection does not count as a
    /// loss.
    private(set) var isHalfClosed = false
    private(set) var isStopping = false
    private var wasStarted = false
    /// The number of waits since a connection was last established.
    private var waits = 0

    init(limits: TransportReconnect) { self.limits = limits }

    // MARK: Requests

    mutating func start() throws(TransportError) {
        guard phase == .initialised else { throw wasStarted ? .alreadyStarted : .stopped }
        wasStarted = true
        phase = .connecting
    }

    /// Reverts ``start()``, because the first connection could not be started.
    mutating func cancelStart() {
        wasStarted = false
        phase = .initialised
    }

    func requireOpen() throws(TransportError) {
        if phase == .initialised { throw .notStarted }
        if phase == .ended || isStopping { throw .stopped }
    }

    func requireSendable() throws(TransportError) {
        try requireOpen()
        if isHalfClosed { throw .other("half-closed") }
    }

    mutating func halfClose() throws(TransportError) {
        try requireOpen()
        isHalfClosed = true
    }

    /// Stops the transport. Allowed in any state. The caller must also stop the current connection, if any; the end of
    /// that connection is then reported.
    mutating func stop() -> [Action] {
        isStopping = true
        switch phase {
        case .initialised:
            phase = .ended
            return []
        case .waiting:
            phase = .ended
            return [.report(.stopped(.stopped, detail: nil))]
        case .connecting, .connected, .ended: return []
        }
    }

    // MARK: Events

    /// Ends the wait before the next attempt.
    ///
    /// - Returns: whether a connection must be made.
    mutating func isDue() -> Bool {
        guard phase == .waiting else { return false }
        phase = .connecting
        return true
    }

    /// Handles an event of the connection.
    ///
    /// - Parameter hasOtherFraming: whether the framing was changed. If so, the queued messages can't be sent by a
    ///   connection that starts with the original framing.
    mutating func handle(_ event: TransportEvent, hasOtherFraming: Bool = false) -> [Action] {
        switch event {
        case .started:
            phase = .connected
            waits = 0
        case .sent(let count): unsent.sent(count)
        case .stopped(let reason, let detail): return stopped(reason, detail, hasOtherFraming)
        default: break
        }
        return [.report(event)]
    }

    private mutating func stopped(_ reason: StopReason, _ detail: String?, _ hasOtherFraming: Bool) -> [Action] {
        if isStopping || isHalfClosed || Self.isFinal(reason) {
            phase = .ended
            return [.report(.stopped(isStopping ? .stopped : reason, detail: detail))]
        }
        let event: TransportEvent
        if phase == .connected {
            let dropped = hasOtherFraming ? unsent.giveUp() : unsent.lost()
            event = .lost(reason, dropped: dropped, detail: detail)
        } else {
            event = .attemptFailed(reason, detail: detail)
        }
        phase = .waiting
        defer { waits += 1 }
        return [.report(event), .wait(limits.wait(after: waits))]
    }

    /// Returns whether reconnecting is pointless, because the peer violates the protocol or is the wrong peer.
    private static func isFinal(_ reason: StopReason) -> Bool {
        switch reason {
        case .tooLong, .protocol, .tlsFailed, .stopped: true
        case .eof, .reset, .refused, .timeout, .tlsTruncated, .brokenPipe, .heartbeat, .closed, .other: false
        }
    }
}
