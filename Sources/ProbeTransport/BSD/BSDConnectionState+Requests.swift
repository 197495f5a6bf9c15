/// What the owner of the connection asks for, from any thread.
extension BSDConnectionState {
    mutating func start(now: Int64) throws(TransportError) {
        guard case .initialised = phase else { throw wasStarted ? .alreadyStarted : .stopped }
        wasStarted = true
        phase = .starting(deadline: Limits.time(now, plus: limits.connect))
    }

    /// Reverts ``start(now:)`` when no thread can be started.
    mutating func cancelStart() {
        guard isConnecting else { return }
        wasStarted = false
        phase = .initialised
    }

    /// Queues a framed message. After ``halfClose()`` it throws `half-closed`.
    mutating func send(_ frame: [UInt8], now: Int64) throws(TransportError) {
        try requireSendable()
        // It could not be written any more; the reason is about to be reported.
        guard outgoing.failure == nil else { return }
        if outgoing.isEmpty { lastActivity = now }
        outgoing.append(frame)
        heartbeat.lastSent = now
    }

    /// The checks of ``send(_:now:)`` that do not depend on the message.
    func requireSendable() throws(TransportError) {
        try requireOpen()
        if outgoing.isEnding { throw .other("half-closed") }
    }

    /// Sends FIN after everything that was sent. A second call does nothing.
    mutating func halfClose() throws(TransportError) {
        try requireOpen()
        outgoing.end()
    }

    mutating func stopReading() throws(TransportError) {
        try requireOpen()
        paused = true
    }

    /// The time until the peer's silence is too long begins anew.
    mutating func resumeReading(now: Int64) throws(TransportError) {
        try requireOpen()
        if paused { heartbeat.lastHeard = now }
        paused = false
    }

    /// Allowed in any state.
    mutating func stop(now: Int64) {
        switch phase {
        case .initialised: phase = .ended
        case .starting: phase = .aborting
        case .started:
            // Also half-closed: then there is nothing to be read.
            phase = .finishing(.stopped, deadline: Limits.time(now, plus: limits.linger))
        case .finishing(.eof, _):
            readEnded = true
            phase = .finishing(.stopped, deadline: Limits.time(now, plus: limits.linger))
        case .aborting, .finishing, .resetting, .lingering, .ended: break
        }
    }

    /// What is queued is not written; a stop that waits for its writing waits no longer. Does nothing after the end.
    mutating func reset() throws(TransportError) {
        switch phase {
        case .initialised: throw .notStarted
        case .starting: phase = .aborting
        case .started, .finishing: phase = .resetting
        case .aborting, .resetting, .lingering, .ended: break
        }
    }

    /// The owner has released the transport: like ``stop(now:)``, but only a stop that has begun is reported.
    mutating func abandon(now: Int64) {
        switch phase {
        case .initialised, .starting, .started, .finishing(.eof, _):
            silent = true
            stop(now: now)
        case .aborting, .finishing, .resetting, .lingering, .ended: break
        }
    }

    /// Throws if the connection can't accept requests any more.
    func requireOpen() throws(TransportError) {
        switch phase {
        case .initialised: throw .notStarted
        case .starting, .started, .finishing(.eof, _): return
        case .aborting, .finishing, .resetting, .lingering, .ended: throw .stopped
        }
    }
}
