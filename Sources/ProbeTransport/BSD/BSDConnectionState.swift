import ProbeBase
import ProbeSystem

/// The decision logic of one connection. Sockets, threads and the clock belong to the caller.
///
///     initialised ─ start ▶ starting ─ connected ▶ started ─┬─ eof, stop ▶ finishing ─┬─▶ ended
///                              └── failed, stop ──▶ ended   ├─ over the limit, idle ▶ lingering ─▶ ended
///                                                           └─ reset ▶ ended          └─ (from stop) ▶ lingering
///
/// Guarantees: after a start, `stopped` is reported exactly once, as the last event, unless the owner has released the
/// connection. No operation traps. Every phase that waits has a deadline, unless the owner has disabled the deadline.
/// Operations may be called from any thread, but the results of system calls are passed from one thread; the caller
/// serializes all calls. Times are monotonic nanoseconds.
struct BSDConnectionState: Sendable {
    /// The phase of a connection; each phase that waits has a deadline.
    enum Phase: Sendable {
        case initialised
        case starting(deadline: Int64)
        /// `stop()` was called while connecting.
        case aborting
        case started
        /// When all queued bytes have been written, `stopped` will be reported with the given reason, `eof` or
        /// `stopped`.
        case finishing(StopReason, deadline: Int64)
        /// `reset()` was called: an RST will be sent, and `stopped` will be reported.
        case resetting
        /// `stopped` was reported. The socket stays open until the peer has closed the connection, so that closing the
        /// socket sends no RST. The deadline is extended while the peer acknowledges data.
        case lingering(deadline: Int64, unacknowledged: Int)
        case ended
    }

    let limits: Limits
    var outgoing = OutgoingStream()
    var phase: Phase
    var paused = false
    /// Whether the owner has released the transport. If so, nothing more is reported.
    var silent = false
    var readEnded = false
    var wasStarted = false
    /// Whether `full` was reported without a later `drained`.
    var isFull = false
    /// The time at which a byte was last received or written, or a message was queued while the queue was empty.
    var lastActivity: Int64 = 0
    var heartbeat = Heartbeat()

    init(limits: Limits) {
        phase = .initialised
        self.limits = limits
    }

    /// Creates the state of a connection that a listener accepted. The connection is already started.
    init(limits: Limits, acceptedAt now: Int64) {
        phase = .started
        self.limits = limits
        wasStarted = true
        lastActivity = now
        heartbeat.begin(now: now)
    }
}

// MARK: - Results of the socket's calls

extension BSDConnectionState {
    /// Records that the connection is established.
    ///
    /// - Returns: `nil` if connecting was cancelled or has timed out. The caller must then close the socket.
    mutating func connected(now: Int64) -> [Action]? {
        guard isConnecting else { return nil }
        phase = .started
        lastActivity = now
        heartbeat.begin(now: now)
        return [.report(.started)]
    }

    mutating func connectFailed(_ failure: ConnectRace.Failure) -> [Action] {
        guard isConnecting else { return [] }
        phase = .ended
        return report(failure.reason, failure.detail)
    }

    mutating func received(now: Int64) {
        lastActivity = now
        if !limits.onlyAnswersCountAsAlive { heartbeat.lastHeard = now }
    }

    /// Handles a `recv` that would block. After a failed `send`, no more bytes will arrive, so the connection ends.
    mutating func readWouldBlock() -> [Action] {
        guard isStarted, let failure = outgoing.failure else { return [] }
        return end(failure.stopReason, failure.reason)
    }

    /// Handles EOF from `recv`.
    mutating func readReachedEOF(now: Int64) -> [Action] {
        readEnded = true
        guard isStarted else { return [] }
        // After a failed `send` has consumed the socket's error, `recv` returns EOF even if the connection was reset.
        if let failure = outgoing.failure { return end(failure.stopReason, failure.reason) }
        if limits.allowsHalfClose, !outgoing.isEnding { return silent ? [] : [.report(.halfClosed)] }
        phase = .finishing(.eof, deadline: Limits.time(now, plus: limits.linger))
        return []
    }

    mutating func readFailed(_ error: SystemError) -> [Action] {
        readEnded = true
        switch phase {
        case .started: return end(error.stopReason, error.reason)
        case .finishing(let reason, _): return end(reason, error.reason)
        case .lingering:
            phase = .ended
            return [.close]
        case .initialised, .starting, .aborting, .resetting, .ended: return []
        }
    }

    /// Stops the connection because its input is invalid or did not arrive in time. No further input is delivered, but
    /// the queued messages are still written.
    mutating func inputFailed(_ reason: StopReason, _ detail: String, now: Int64) -> [Action] {
        guard isStarted else { return [] }
        return report(reason, detail) + linger(now: now)
    }

    /// Stops the connection with an RST because queued messages could not be written in time. A FIN would mean that the
    /// data is complete.
    mutating func outputFailed(_ reason: StopReason, _ detail: String) -> [Action] {
        guard isStarted else { return [] }
        phase = .ended
        return [.abort] + report(reason, detail)
    }

    mutating func wrote(_ count: Int, now: Int64) -> [Action] {
        outgoing.consume(count)
        lastActivity = now
        heartbeat.lastSent = now
        let counted = heartbeat.counted(count)
        let sent: [Action] = silent || (counted == 0 && count > 0) ? [] : [.report(.sent(counted))]
        switch phase {
        case .started: return sent + drainedIfDue()
        case .finishing(let reason, _):
            phase = .finishing(reason, deadline: Limits.time(now, plus: limits.linger))
            return reason == .eof ? sent : []
        case .lingering(_, let unacknowledged):
            phase = .lingering(deadline: Limits.time(now, plus: limits.linger), unacknowledged: unacknowledged)
            return []
        case .initialised, .starting, .aborting, .resetting, .ended: return []
        }
    }

    /// Records that the kernel accepts no more bytes for now.
    mutating func writeBlocked() -> [Action] {
        guard mayBecomeFull else { return [] }
        isFull = true
        return [.report(.full)]
    }

    /// Whether `full` must be reported if the kernel accepts no more bytes.
    var mayBecomeFull: Bool {
        guard let mark = limits.highWater, delivers, !isFull else { return false }
        return outgoing.isWaiting && outgoing.count >= mark
    }

    /// Reports `drained` once the queue has shrunk to half of `highWater`, so that `full` and `drained` do not
    /// alternate every few bytes.
    private mutating func drainedIfDue() -> [Action] {
        guard isFull, !silent, let mark = limits.highWater, outgoing.count <= mark / 2 else { return [] }
        isFull = false
        return [.report(.drained)]
    }

    /// Records that queued bytes can no longer be written. Reading continues, to receive the peer's last bytes and the
    /// reason for the failure.
    mutating func writeFailed(_ error: SystemError) { outgoing.fail(error) }
}

// MARK: - Next steps

extension BSDConnectionState {
    var isConnecting: Bool { if case .starting = phase { true } else { false } }
    private var isStarted: Bool { if case .started = phase { true } else { false } }
    var isLingering: Bool { if case .lingering = phase { true } else { false } }
    var isEnded: Bool { if case .ended = phase { true } else { false } }

    /// Whether events other than `stopped` may be reported.
    var delivers: Bool { isStarted && !silent }

    /// Whether messages may be delivered.
    var deliversMessages: Bool { delivers && !paused }

    /// Whether the peer has closed its side while this side is still open. In this state, only `poll` reports a reset,
    /// because `recv` keeps returning EOF.
    var isHalfClosed: Bool { isStarted && readEnded }

    /// Whether received bytes are discarded.
    var discardsInput: Bool { !isStarted }

    /// Whether an EOF would be a normal end of the input. If so, the bytes of an incomplete message must be reported
    /// first.
    var wouldEndByEOF: Bool { delivers && outgoing.failure == nil }

    var wantsRead: Bool {
        switch phase {
        case .started: !paused && !readEnded
        case .finishing, .lingering: !readEnded
        case .initialised, .starting, .aborting, .resetting, .ended: false
        }
    }

    var wantsWrite: Bool {
        switch phase {
        case .started, .finishing, .lingering: outgoing.isWaiting
        case .initialised, .starting, .aborting, .resetting, .ended: false
        }
    }

    /// The time by which ``settle(now:unacknowledged:)`` must be called next; `nil` if there is no such time.
    var deadline: Int64? {
        switch phase {
        case .starting(let deadline), .finishing(_, let deadline), .lingering(let deadline, _): deadline
        case .started: [idleDeadline, heartbeatDeadline].compactMap { $0 }.min()
        case .initialised, .aborting, .resetting, .ended: nil
        }
    }

    /// Whether the next ``settle(now:unacknowledged:)`` will stop the connection because it is idle or its peer is
    /// silent.
    func isIdleDue(now: Int64) -> Bool {
        guard isStarted else { return false }
        return isSilenceDue(now: now) || idleDeadline.map { now >= $0 } ?? false
    }

    private var idleDeadline: Int64? {
        guard let idle = limits.idle else { return nil }
        return Limits.time(lastActivity, plus: idle)
    }

    /// Returns the actions that are due now. Must be called on the socket's thread after every change of the state and
    /// at ``deadline``.
    ///
    /// - Parameter unacknowledged: the number of sent bytes that the peer has not acknowledged. It is used only while
    ///   lingering.
    mutating func settle(now: Int64, unacknowledged: Int = 0) -> [Action] {
        switch phase {
        case .initialised, .ended: return []
        case .starting(let deadline):
            guard now >= deadline else { return [] }
            phase = .ended
            return report(.timeout, "not connected within \(Limits.milliseconds(limits.connect)) ms")
        case .aborting:
            phase = .ended
            return report(.stopped, nil)
        case .resetting:
            phase = .ended
            return [.abort] + report(.stopped, nil)
        case .started: return settleStarted(now: now)
        case .finishing(let reason, let deadline): return settleFinishing(reason, deadline: deadline, now: now)
        case .lingering(let deadline, let before):
            return settleLingering(deadline: deadline, before: before, now: now, unacknowledged: unacknowledged)
        }
    }

    private mutating func settleStarted(now: Int64) -> [Action] {
        if readEnded {
            // The connection is half-closed: nothing more is read, and a failed write ends it.
            if let failure = outgoing.failure { return end(failure.stopReason, failure.reason) }
            if outgoing.isEnding {
                phase = .finishing(.eof, deadline: Limits.time(now, plus: limits.linger))
                return settleFinishing(.eof, deadline: .max, now: now)
            }
        }
        if isSilenceDue(now: now) {
            phase = .ended
            return [.abort] + report(.heartbeat, "received nothing for \(Limits.milliseconds(limits.silence)) ms")
        }
        beatIfDue(now: now)
        guard let idleDeadline, now >= idleDeadline else { return finIfDue(closing: false) }
        let detail = "neither received nor wrote anything for \(Limits.milliseconds(limits.idle)) ms"
        if outgoing.isEmpty { return report(.timeout, detail) + linger(now: now) }
        phase = .ended
        return [.abort] + report(.timeout, detail + ", with \(ByteText.count(outgoing.count, "byte")) unwritten")
    }

    private mutating func settleFinishing(_ reason: StopReason, deadline: Int64, now: Int64) -> [Action] {
        if let failure = outgoing.failure { return end(reason == .eof ? failure.stopReason : reason, failure.reason) }
        if outgoing.isEmpty {
            if readEnded { return finIfDue(closing: true) + end(reason, nil) }
            return finIfDue(closing: true) + report(reason, nil) + linger(now: now)
        }
        guard now >= deadline else { return [] }
        let detail = "\(ByteText.count(outgoing.count, "byte")) unwritten: the peer does not read"
        phase = .ended
        return [.abort] + report(reason == .eof ? .timeout : reason, detail)
    }

    /// Returns the actions that are due while lingering.
    ///
    /// - Parameter before: the value of `unacknowledged` when the deadline was last extended.
    private mutating func settleLingering(
        deadline: Int64, before: Int, now: Int64, unacknowledged: Int
    ) -> [Action] {
        let expired = now >= deadline
        if outgoing.isWaiting {
            guard expired else { return [] }
            phase = .ended
            return [.abort]
        }
        let first = finIfDue(closing: true)
        let drained = Limits.time(now, plus: limits.drain)
        if !first.isEmpty { phase = .lingering(deadline: drained, unacknowledged: before) }
        if expired, first.isEmpty, !readEnded, unacknowledged > 0, unacknowledged < before {
            phase = .lingering(deadline: drained, unacknowledged: unacknowledged)
            return []
        }
        guard readEnded || outgoing.failure != nil || (expired && first.isEmpty) else { return first }
        phase = .ended
        return first + [.close]
    }

    private mutating func linger(now: Int64) -> [Action] {
        let rest = outgoing.isEmpty ? limits.drain : limits.linger
        phase = .lingering(deadline: Limits.time(now, plus: rest), unacknowledged: .max)
        return finIfDue(closing: true)
    }

    private mutating func finIfDue(closing: Bool) -> [Action] {
        outgoing.takeFIN(closing: closing) ? [.shutdownWrite] : []
    }

    private mutating func end(_ reason: StopReason, _ detail: String?) -> [Action] {
        phase = .ended
        return [.close] + report(reason, detail)
    }

    private func report(_ reason: StopReason, _ detail: String?) -> [Action] {
        silent ? [] : [.report(.stopped(reason, detail: detail))]
    }
}

/// Sends heartbeats on a connection, and detects that its peer has been silent for too long.
extension BSDConnectionState {
    /// The state of a connection's heartbeats and of its peer's silence.
    struct Heartbeat: Sendable {
        /// The time at which a byte was last queued or written.
        var lastSent: Int64 = 0
        /// The time at which a sign of life was last received, or reading was last resumed.
        var lastHeard: Int64 = 0
        /// The number of unwritten bytes of a heartbeat, which is at the front of the queue. `sent` does not count
        /// these bytes.
        var unwritten = 0

        /// Starts the timer for heartbeats and the timer for the peer's silence when the connection is established.
        mutating func begin(now: Int64) { (lastSent, lastHeard) = (now, now) }

        /// Returns how many of the written bytes belong to messages rather than to a heartbeat.
        mutating func counted(_ written: Int) -> Int {
            let ours = min(unwritten, written)
            unwritten -= ours
            return written - ours
        }
    }

    /// Records that the answer to a heartbeat was received.
    mutating func noteAnswer(now: Int64) { heartbeat.lastHeard = now }

    /// The time at which the next heartbeat is due or the peer has been silent for too long, whichever is earlier.
    var heartbeatDeadline: Int64? {
        switch (beatDeadline, silenceDeadline) {
        case (let beat?, let silence?): min(beat, silence)
        case (let beat, let silence): beat ?? silence
        }
    }

    /// The time at which the next heartbeat is due. While bytes are queued, no heartbeat is due, because writing those
    /// bytes is a sufficient sign of life.
    private var beatDeadline: Int64? {
        guard let beat = limits.beat, !outgoing.isEnding, outgoing.isEmpty, outgoing.failure == nil else { return nil }
        return Limits.time(heartbeat.lastSent, plus: beat.interval)
    }

    /// The time at which the peer has been silent for too long; `nil` while reading is stopped, and after a FIN from
    /// either side.
    private var silenceDeadline: Int64? {
        guard let silence = limits.silence, !paused, !readEnded, !outgoing.isEnding else { return nil }
        return Limits.time(heartbeat.lastHeard, plus: silence)
    }

    /// Whether the peer has been silent for too long.
    func isSilenceDue(now: Int64) -> Bool { silenceDeadline.map { now >= $0 } ?? false }

    /// Queues a heartbeat if one is due. The connection must be started.
    mutating func beatIfDue(now: Int64) {
        guard let beat = limits.beat, let beatDeadline, now >= beatDeadline else { return }
        heartbeat.lastSent = now
        heartbeat.unwritten = beat.frame.count
        outgoing.append(beat.frame)
    }
}

extension BSDConnectionState {
    /// An action that the owner of the socket must take. Actions are taken in the order in which they are returned.
    enum Action: Sendable, Equatable {
        case report(TransportEvent)
        /// Send FIN.
        case shutdownWrite
        case close
        /// Send an RST, because queued data will not be written and a FIN would mean that the data is complete.
        case abort
    }

    /// Time limits, in nanoseconds.
    struct Limits: Sendable, Equatable {
        /// The time from `start` to `started`, including name resolution; `nil` for the system's limit.
        var connect: Int64?
        /// The time after which the connection stops if no byte is received or written, counted from `started` on. Time
        /// during which reading is stopped is included.
        var idle: Int64?
        /// Whether the connection stays open after the peer's FIN.
        var allowsHalfClose = false
        /// A framed heartbeat, and the time without other output after which it is sent; `nil` if no heartbeats are
        /// sent.
        var beat: Beat?
        /// The time after which the connection stops if the peer shows no sign of life and reading is not stopped;
        /// `nil` for no limit.
        var silence: Int64?
        /// Whether only the answer to a heartbeat counts as a sign of life, rather than every byte.
        var onlyAnswersCountAsAlive = false
        /// The number of queued bytes at which `full` is reported.
        var highWater: Int?
        /// The time after which a connection that is being closed is abandoned, if writing its queued messages makes no
        /// progress.
        var linger: Int64 = 1_000_000_000
        /// The time to wait for the peer's FIN after this side's FIN. The wait restarts as long as the peer
        /// acknowledges data.
        var drain: Int64 = 250_000_000

        struct Beat: Sendable, Equatable {
            var interval: Int64
            var frame: [UInt8]
        }

        /// Returns `now` plus an interval, clamped to Int64; the latest possible time if the interval is `nil`.
        static func time(_ now: Int64, plus interval: Int64?) -> Int64 {
            guard let interval else { return .max }
            let (sum, overflow) = now.addingReportingOverflow(interval)
            return overflow ? .max : sum
        }

        /// Returns a time in whole milliseconds, for use in a message.
        static func milliseconds(_ nanoseconds: Int64?) -> Int64 { (nanoseconds ?? 0) / 1_000_000 }
    }
}

/// Handles the requests of the connection's owner, which may come from any thread.
extension BSDConnectionState {
    mutating func start(now: Int64) throws(TransportError) {
        guard case .initialised = phase else { throw wasStarted ? .alreadyStarted : .stopped }
        wasStarted = true
        phase = .starting(deadline: Limits.time(now, plus: limits.connect))
    }

    /// Reverts ``start(now:)``, because no thread could be started.
    mutating func cancelStart() {
        guard isConnecting else { return }
        wasStarted = false
        phase = .initialised
    }

    /// Queues a framed message. After ``halfClose()``, throws `half-closed`.
    mutating func send(_ frame: [UInt8], now: Int64) throws(TransportError) {
        try requireSendable()
        // A failed connection silently drops the message, because the failure is about to be reported.
        guard outgoing.failure == nil else { return }
        if outgoing.isEmpty { lastActivity = now }
        outgoing.append(frame)
        heartbeat.lastSent = now
    }

    /// Performs the checks of ``send(_:now:)`` that do not depend on the message.
    func requireSendable() throws(TransportError) {
        try requireOpen()
        if outgoing.isEnding { throw .other("half-closed") }
    }

    /// Sends a FIN after all queued messages. A second call does nothing.
    mutating func halfClose() throws(TransportError) {
        try requireOpen()
        outgoing.end()
    }

    mutating func stopReading() throws(TransportError) {
        try requireOpen()
        paused = true
    }

    /// Resumes reading, and restarts the timer for the peer's silence.
    mutating func resumeReading(now: Int64) throws(TransportError) {
        try requireOpen()
        if paused { heartbeat.lastHeard = now }
        paused = false
    }

    /// Stops the connection. Allowed in any state.
    mutating func stop(now: Int64) {
        switch phase {
        case .initialised: phase = .ended
        case .starting: phase = .aborting
        case .started:
            // A half-closed connection also finishes writing, although nothing more is read from it.
            phase = .finishing(.stopped, deadline: Limits.time(now, plus: limits.linger))
        case .finishing(.eof, _):
            readEnded = true
            phase = .finishing(.stopped, deadline: Limits.time(now, plus: limits.linger))
        case .aborting, .finishing, .resetting, .lingering, .ended: break
        }
    }

    /// Resets the connection without writing the queued bytes, even if a stop is waiting for them to be written. Does
    /// nothing after `stopped`.
    mutating func reset() throws(TransportError) {
        switch phase {
        case .initialised: throw .notStarted
        case .starting: phase = .aborting
        case .started, .finishing: phase = .resetting
        case .aborting, .resetting, .lingering, .ended: break
        }
    }

    /// Stops the connection like ``stop(now:)``, because its owner has released the transport. The end is reported only
    /// if a stop had already begun.
    mutating func abandon(now: Int64) {
        switch phase {
        case .initialised, .starting, .started, .finishing(.eof, _):
            silent = true
            stop(now: now)
        case .aborting, .finishing, .resetting, .lingering, .ended: break
        }
    }

    /// Throws if the connection can no longer accept requests.
    func requireOpen() throws(TransportError) {
        switch phase {
        case .initialised: throw .notStarted
        case .starting, .started, .finishing(.eof, _): return
        case .aborting, .finishing, .resetting, .lingering, .ended: throw .stopped
        }
    }
}
