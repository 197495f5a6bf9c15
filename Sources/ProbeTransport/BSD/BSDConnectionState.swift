/// The life of one connection, apart from its sockets, threads and clock.
///
///     initialised ─ start ▶ starting ─ connected ▶ started ─┬─ eof, stop ▶ finishing ─┬─▶ ended
///                              └── failed, stop ──▶ ended   ├─ over the limit, idle ▶ lingering ─▶ ended
///                                                           └─ reset ▶ ended          └─ (from stop) ▶ lingering
///
/// What it guarantees: `stopped` is reported exactly once for a connection that was started (never for one whose owner let go of
/// it), and nothing after it; no operation traps in any state; every phase that waits has a deadline, unless the owner asked for none.
/// Operations come from any thread and what the socket did from one; the caller serialises them. Times are monotonic nanoseconds.
struct BSDConnectionState: Sendable {
    /// What the owner of the socket does next, in this order.
    enum Action: Sendable, Equatable {
        case report(TransportEvent)
        /// FIN.
        case shutdownWrite
        case close
        /// RST: what was sent can't be written, and a FIN would call it complete.
        case abort
    }

    enum Phase: Sendable, Equatable {
        case initialised
        case starting
        /// `stop()` came while connecting.
        case aborting
        case started
        /// Why it stops is settled; `stopped` is reported when what was sent is written. The reason is `eof` or `stopped`.
        case finishing(StopReason)
        /// `stopped` was reported; the socket stays until the peer has closed too, so that closing sends no RST after the last message.
        case lingering
        case ended
    }

    /// How long what may take, in nanoseconds.
    struct Limits: Sendable, Equatable {
        /// From `start` to `started`, the name's lookup included; nil: as long as the system tries.
        var connect: Int64?
        /// Without a byte received or written, from `started` on; not counted while reading is stopped and nothing waits to be written.
        var idle: Int64?
        /// Without a byte written, while what was sent is still to be written before the close.
        var linger: Int64 = 1_000_000_000
        /// For the peer's FIN, once ours is out; anew as long as the peer goes on acknowledging.
        var drain: Int64 = 250_000_000
    }

    private enum FIN: Sendable { case none, wanted, sent }

    var phase: Phase
    let limits: Limits
    private(set) var queue = SendQueue()
    private var fin = FIN.none
    private var paused = false
    /// The owner let go of the transport: nobody is told anything any more.
    private var silent = false
    private var readEnded = false
    private var wasStarted = false
    /// Why a `send` failed. Kept, because the error that a `send` returns is no longer there for `recv`.
    private(set) var writeFailure: SystemError?
    /// When a byte last went either way, or either way was opened again.
    private var lastActivity: Int64 = 0
    /// Of connecting, finishing or lingering.
    private var phaseDeadline: Int64 = .max
    private var unacknowledged = Int.max

    init(limits: Limits) {
        phase = .initialised
        self.limits = limits
    }

    /// A connection that a listener accepted: it is started.
    init(limits: Limits, acceptedAt now: Int64) {
        phase = .started
        self.limits = limits
        wasStarted = true
        lastActivity = now
    }
}

// MARK: - What the owner asks for

extension BSDConnectionState {
    mutating func start(now: Int64) throws(TransportError) {
        guard phase == .initialised else { throw wasStarted ? .alreadyStarted : .stopped }
        wasStarted = true
        phase = .starting
        phaseDeadline = Self.time(now, plus: limits.connect)
    }

    /// Takes back a ``start(now:)`` for which no thread could be had.
    mutating func cancelStart() {
        guard phase == .starting else { return }
        wasStarted = false
        phase = .initialised
    }

    /// Queues a framed message. After ``halfClose()`` nothing can follow the FIN: that is `half-closed`.
    mutating func send(_ frame: [UInt8], now: Int64) throws(TransportError) {
        try requireSendable()
        // It would go nowhere; why is about to be reported.
        guard writeFailure == nil else { return }
        if queue.isEmpty { lastActivity = now }
        queue.append(frame)
    }

    /// What ``send(_:now:)`` checks before it looks at the message.
    func requireSendable() throws(TransportError) {
        try requireOpen()
        if fin != .none { throw .other("half-closed") }
    }

    /// FIN behind what was sent. A second one does nothing.
    mutating func halfClose() throws(TransportError) {
        try requireOpen()
        if fin == .none { fin = .wanted }
    }

    mutating func stopReading() throws(TransportError) {
        try requireOpen()
        paused = true
    }

    mutating func resumeReading(now: Int64) throws(TransportError) {
        try requireOpen()
        if paused { lastActivity = now }
        paused = false
    }

    /// Legal in any state.
    mutating func stop(now: Int64) {
        switch phase {
        case .initialised: phase = .ended
        case .starting: phase = .aborting
        case .started, .finishing(.eof):
            readEnded = phase == .finishing(.eof)
            phase = .finishing(.stopped)
            phaseDeadline = Self.time(now, plus: limits.linger)
        case .aborting, .finishing, .lingering, .ended: break
        }
    }

    /// The owner let go of the transport: as ``stop(now:)``, but without a word. A stop that is already under way is still reported.
    mutating func abandon(now: Int64) {
        switch phase {
        case .initialised, .starting, .started, .finishing(.eof):
            silent = true
            stop(now: now)
        case .aborting, .finishing, .lingering, .ended: break
        }
    }

    /// The connection can still be asked for something.
    func requireOpen() throws(TransportError) {
        switch phase {
        case .initialised: throw .notStarted
        case .starting, .started, .finishing(.eof): return
        case .aborting, .finishing, .lingering, .ended: throw .stopped
        }
    }
}

// MARK: - What the socket did

extension BSDConnectionState {
    /// - Returns: nil when the connection is no longer wanted; the caller closes it.
    mutating func connected(now: Int64) -> [Action]? {
        guard phase == .starting else { return nil }
        phase = .started
        lastActivity = now
        return [.report(.started)]
    }

    mutating func connectFailed(_ failure: ConnectRace.Failure) -> [Action] {
        guard phase == .starting else { return [] }
        phase = .ended
        return report(failure.reason, failure.detail)
    }

    mutating func received(now: Int64) {
        lastActivity = now
    }

    /// `recv` had nothing more for now. After a failed `send` there will be nothing more at all.
    mutating func readWouldBlock() -> [Action] {
        guard phase == .started, let writeFailure else { return [] }
        return end(writeFailure.reason, writeFailure.text)
    }

    /// `recv` said EOF.
    mutating func readReachedEOF(now: Int64) -> [Action] {
        readEnded = true
        guard phase == .started else { return [] }
        // Where a `send` took the error away, `recv` calls a reset an EOF.
        if let writeFailure { return end(writeFailure.reason, writeFailure.text) }
        phase = .finishing(.eof)
        phaseDeadline = Self.time(now, plus: limits.linger)
        return []
    }

    mutating func readFailed(_ error: SystemError) -> [Action] {
        readEnded = true
        switch phase {
        case .started: return end(error.reason, error.text)
        case .finishing(let reason): return end(reason, error.text)
        case .lingering:
            phase = .ended
            return [.close]
        case .initialised, .starting, .aborting, .ended: return []
        }
    }

    /// What came can't be taken, or did not come in time: nothing of it is delivered, and what was sent is still written.
    mutating func inputFailed(_ reason: StopReason, _ detail: String, now: Int64) -> [Action] {
        guard phase == .started else { return [] }
        return report(reason, detail) + linger(now: now)
    }

    /// What was sent did not go out in time: RST, rather than a FIN that calls it complete.
    mutating func outputFailed(_ reason: StopReason, _ detail: String) -> [Action] {
        guard phase == .started else { return [] }
        phase = .ended
        return [.abort] + report(reason, detail)
    }

    mutating func wrote(_ count: Int, now: Int64) -> [Action] {
        queue.consume(count)
        lastActivity = now
        switch phase {
        case .started: return silent ? [] : [.report(.sent(count))]
        case .finishing(let reason):
            phaseDeadline = Self.time(now, plus: limits.linger)
            return silent || reason != .eof ? [] : [.report(.sent(count))]
        case .lingering:
            phaseDeadline = Self.time(now, plus: limits.linger)
            return []
        case .initialised, .starting, .aborting, .ended: return []
        }
    }

    /// What waits can't be written any more. Reading goes on: what the peer had sent, and why it is over, is still to be fetched.
    mutating func writeFailed(_ error: SystemError) {
        writeFailure = error
        queue.removeAll()
    }
}

// MARK: - What is to be done

extension BSDConnectionState {
    var isConnecting: Bool { phase == .starting }
    var isLingering: Bool { phase == .lingering }
    var isEnded: Bool { phase == .ended }

    /// Events about the connection, other than its stop, may be reported.
    var delivers: Bool { phase == .started && !silent }

    /// Messages may be delivered.
    var deliversMessages: Bool { delivers && !paused }

    /// What is read is thrown away.
    var discardsInput: Bool { phase != .started }

    /// EOF would be the truth, and what is left over is to be reported before it.
    var wouldEndByEOF: Bool { delivers && writeFailure == nil }

    var wantsRead: Bool {
        switch phase {
        case .started: !paused
        case .finishing, .lingering: !readEnded
        case .initialised, .starting, .aborting, .ended: false
        }
    }

    var wantsWrite: Bool {
        switch phase {
        case .started, .finishing, .lingering: !queue.isEmpty && writeFailure == nil
        case .initialised, .starting, .aborting, .ended: false
        }
    }

    /// When ``settle(now:unacknowledged:)`` is to be called at the latest.
    var deadline: Int64? {
        switch phase {
        case .starting, .finishing, .lingering: phaseDeadline
        case .started: idleDeadline
        case .initialised, .aborting, .ended: nil
        }
    }

    /// The next ``settle(now:unacknowledged:)`` will call the connection idle.
    func isIdleDue(now: Int64) -> Bool {
        guard phase == .started, let idleDeadline else { return false }
        return now >= idleDeadline
    }

    private var idleDeadline: Int64? {
        guard let idle = limits.idle, !paused || wantsWrite else { return nil }
        return Self.time(lastActivity, plus: idle)
    }

    /// What is due now: to be called after every change and at ``deadline``, from the socket's thread.
    ///
    /// - Parameter unacknowledged: bytes of ours that the peer's kernel has not acknowledged; asked for while lingering.
    mutating func settle(now: Int64, unacknowledged: Int = 0) -> [Action] {
        switch phase {
        case .initialised, .ended: return []
        case .starting:
            guard now >= phaseDeadline else { return [] }
            phase = .ended
            return report(.timeout, "not connected within \(Self.milliseconds(limits.connect)) ms")
        case .aborting:
            phase = .ended
            return report(.stopped, nil)
        case .started: return settleStarted(now: now)
        case .finishing(let reason): return settleFinishing(reason, now: now)
        case .lingering: return settleLingering(now: now, unacknowledged: unacknowledged)
        }
    }

    private mutating func settleStarted(now: Int64) -> [Action] {
        guard let idleDeadline, now >= idleDeadline else { return finIfDue(closing: false) }
        let detail = "nothing received or written for \(Self.milliseconds(limits.idle)) ms"
        if queue.isEmpty { return report(.timeout, detail) + linger(now: now) }
        phase = .ended
        return [.abort] + report(.timeout, detail + ", \(queue.count) bytes unwritten")
    }

    private mutating func settleFinishing(_ reason: StopReason, now: Int64) -> [Action] {
        if let writeFailure { return end(reason == .eof ? writeFailure.reason : reason, writeFailure.text) }
        if queue.isEmpty {
            if readEnded { return finIfDue(closing: true) + end(reason, nil) }
            return finIfDue(closing: true) + report(reason, nil) + linger(now: now)
        }
        guard now >= phaseDeadline else { return [] }
        let detail = "\(queue.count) bytes unwritten, the peer does not read"
        phase = .ended
        return [.abort] + report(reason == .eof ? .timeout : reason, detail)
    }

    private mutating func settleLingering(now: Int64, unacknowledged: Int) -> [Action] {
        let expired = now >= phaseDeadline
        if writeFailure == nil, !queue.isEmpty {
            guard expired else { return [] }
            phase = .ended
            return [.abort]
        }
        let first = finIfDue(closing: true)
        if !first.isEmpty { phaseDeadline = Self.time(now, plus: limits.drain) }
        if expired, first.isEmpty, !readEnded, unacknowledged > 0, unacknowledged < self.unacknowledged {
            self.unacknowledged = unacknowledged
            phaseDeadline = Self.time(now, plus: limits.drain)
            return []
        }
        guard readEnded || writeFailure != nil || (expired && first.isEmpty) else { return first }
        phase = .ended
        return first + [.close]
    }

    private mutating func linger(now: Int64) -> [Action] {
        phase = .lingering
        phaseDeadline = Self.time(now, plus: queue.isEmpty ? limits.drain : limits.linger)
        return finIfDue(closing: true)
    }

    private mutating func finIfDue(closing: Bool) -> [Action] {
        guard fin != .sent, closing || fin == .wanted, queue.isEmpty, writeFailure == nil else { return [] }
        fin = .sent
        return [.shutdownWrite]
    }

    private mutating func end(_ reason: StopReason, _ detail: String?) -> [Action] {
        phase = .ended
        return [.close] + report(reason, detail)
    }

    private func report(_ reason: StopReason, _ detail: String?) -> [Action] {
        silent ? [] : [.report(.stopped(reason, detail: detail))]
    }

    private static func time(_ now: Int64, plus interval: Int64?) -> Int64 {
        guard let interval else { return .max }
        let (sum, overflow) = now.addingReportingOverflow(interval)
        return overflow ? .max : sum
    }

    private static func milliseconds(_ nanoseconds: Int64?) -> Int64 {
        (nanoseconds ?? 0) / 1_000_000
    }
}
