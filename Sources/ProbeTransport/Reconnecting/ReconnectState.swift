import ProbeBase

/// The life of a transport that makes another connection where one is lost, without its connections, timers and threads.
///
///     initialised ─ start ▶ connecting ─ started ▶ connected ─┬─ lost ▶ waiting ─ the time is over ▶ connecting
///                               └─ failed ▶ waiting           └─ stop, half-close, a peer that breaks the rules ▶ ended
///
/// Guarantees: `stopped` is reported exactly once, as the last event; there is at most one connection, or one that is
/// being made.
struct ReconnectState {
    enum Phase { case initialised, connecting, connected, waiting, ended }

    /// What the owner must do next, in this order.
    enum Action {
        case report(TransportEvent)
        /// Then ``isDue()``.
        case wait(Duration)
    }

    let limits: TransportReconnect
    private(set) var phase = Phase.initialised
    var unsent = UnsentMessages()
    /// For this connection and those to come.
    var isPaused = false
    /// Our side has ended, or will: what ends the connection then is no loss.
    private(set) var isHalfClosed = false
    private(set) var isStopping = false
    private var wasStarted = false
    /// Since a connection was last made.
    private var waits = 0

    init(limits: TransportReconnect) { self.limits = limits }

    // MARK: Requests

    mutating func start() throws(TransportError) {
        guard phase == .initialised else { throw wasStarted ? .alreadyStarted : .stopped }
        wasStarted = true
        phase = .connecting
    }

    /// Reverts ``start()`` where it failed.
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

    /// Allowed in any state. A connection has to be stopped, and reports it.
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

    // MARK: What happens

    /// The wait is over.
    ///
    /// - Returns: whether a connection is to be made.
    mutating func isDue() -> Bool {
        guard phase == .waiting else { return false }
        phase = .connecting
        return true
    }

    /// An event of the connection.
    ///
    /// - Parameter hasOtherFraming: the framing was changed: what waits can't be sent by a connection that begins with the first one.
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

    /// The peer breaks the rules, or is another one: it would be no better the next time.
    private static func isFinal(_ reason: StopReason) -> Bool {
        switch reason {
        case .tooLong, .protocol, .tlsFailed, .stopped: true
        case .eof, .reset, .refused, .timeout, .tlsTruncated, .brokenPipe, .heartbeat, .closed, .other: false
        }
    }
}
