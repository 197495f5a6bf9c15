import Dispatch
import ProbeBase
import Synchronization

/// A transport that reconnects when its connection is lost, with a separate transport for each connection.
///
/// - Threads: events are reported on the connection's thread or, between two connections, on a queue. They are never
///   reported concurrently.
/// - Sending: messages of which no byte had been passed to the kernel when a connection was lost are sent on the next
///   connection, in order, ahead of later messages. A message that had been passed to the kernel only in part is
///   dropped, and its remaining bytes are counted by `lost`.
/// - Receiving: the bytes of a message that was incomplete when a connection was lost are not joined with bytes
///   received on the next connection.
/// - `stop()` between two connections is reported at once, and drops the queued messages.
final class ReconnectingTransport: Transport {
    typealias Connect = @Sendable (_ handler: @escaping TransportHandler) throws(TransportError) -> any Transport

    private struct State {
        var core: ReconnectState
        /// The current connection; `nil` between two connections.
        var connection: (any Transport)?
        /// The number of the current connection, by which the events of earlier connections are recognized and ignored.
        var number = 0
        /// The framing of the current connection or, between two connections, of the next one.
        var framing: Framing
    }

    private let framing: Framing
    private let connect: Connect
    private let queue = DispatchQueue(label: "tcpprobe.reconnect")
    private let state: Mutex<State>
    /// A lock that is acquired while the state is locked, so that events are queued in the order of the state's
    /// changes.
    private let reports: Mutex<Reports>

    /// The events that have not yet been passed to the handler. One thread at a time calls the handler, without holding
    /// a lock.
    private struct Reports {
        /// The handler; `nil` after `stopped`.
        var handler: TransportHandler?
        var pending: [TransportEvent] = []
        var isDelivering = false

        /// Removes and returns the next event, with the handler to call; `nil` if no event is pending.
        mutating func next() -> (TransportHandler, TransportEvent)? {
            guard let handler, !pending.isEmpty else {
                pending = []
                return nil
            }
            let event = pending.removeFirst()
            if case .stopped = event { self.handler = nil }
            return (handler, event)
        }
    }

    /// Creates a transport without a connection.
    ///
    /// - Parameter connect: makes a transport for one connection.
    /// - Throws: the error that `connect` throws for the first connection.
    init(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler, connect: @escaping Connect
    ) throws(TransportError) {
        guard let limits = configuration.reconnect, limits.shortest > .zero, limits.longest >= limits.shortest else {
            throw .invalid
        }
        framing = configuration.framing
        self.connect = connect
        reports = Mutex(Reports(handler: handler))
        state = Mutex(State(core: ReconnectState(limits: limits), framing: configuration.framing))
        // A trial call of `connect` reports an error in the configuration now instead of at each connection attempt.
        _ = try connect { _ in }
    }

    // MARK: Connections

    func start() throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            try state.core.start()
            do throws(TransportError) {
                try begin(&state)
            } catch {
                state.core.cancelStart()
                throw error
            }
        }
    }

    /// Makes a connection and passes the unsent messages to it.
    private func begin(_ state: inout State) throws(TransportError) {
        state.number += 1
        let number = state.number
        let connection = try connect { [weak self] event in self?.take(event, of: number) }
        try connection.start()
        // The connection may have failed already. In that case, its end is reported when the state is unlocked.
        for message in state.core.unsent.messages {
            try pass(connection) { connection throws(TransportError) in try connection.send(message) }
        }
        if state.core.isPaused {
            try pass(connection) { connection throws(TransportError) in try connection.stopReading() }
        }
        if state.core.isHalfClosed {
            try pass(connection) { connection throws(TransportError) in try connection.halfClose() }
        }
        state.connection = connection
    }

    private func take(_ event: TransportEvent, of number: Int) {
        change { state in
            guard number == state.number else { return [] }
            let hasOtherFraming = state.framing != framing
            if case .stopped = event { (state.connection, state.framing) = (nil, framing) }
            return state.core.handle(event, hasOtherFraming: hasOtherFraming)
        }
    }

    private func connectAgain() {
        change { state in
            guard state.core.isDue() else { return [] }
            do throws(TransportError) {
                try begin(&state)
                return []
            } catch {
                return state.core.handle(.stopped(.other, detail: error.code))
            }
        }
    }

    /// Changes the state, and performs the resulting actions.
    private func change(_ change: (inout State) -> [ReconnectState.Action]) {
        state.withLock { state in
            for action in change(&state) {
                switch action {
                case .report(let event): reports.withLock { $0.pending.append(event) }
                case .wait(let duration):
                    queue.asyncAfter(deadline: .now() + duration.seconds) { [weak self] in self?.connectAgain() }
                }
            }
        }
        deliver()
    }

    /// Calls the handler with the pending events, unless a call of the handler is in progress. In that case, the thread
    /// that makes the call (perhaps the current thread) delivers the events.
    private func deliver() {
        let isFree = reports.withLock { reports in
            defer { reports.isDelivering = true }
            return !reports.isDelivering
        }
        guard isFree else { return }
        while true {
            let next = reports.withLock { reports in
                let next = reports.next()
                if next == nil { reports.isDelivering = false }
                return next
            }
            guard let (handler, event) = next else { return }
            handler(event)
        }
    }

    // MARK: Requests

    func send(_ message: [UInt8]) throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            try state.core.requireSendable()
            let length: Int
            do {
                length = try FrameEncoder(framing: state.framing).encode(message).count
            } catch {
                throw .invalid
            }
            state.core.unsent.append(message, length: length)
            try pass(state.connection) { connection throws(TransportError) in try connection.send(message) }
        }
    }

    func halfClose() throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            try state.core.halfClose()
            try pass(state.connection) { connection throws(TransportError) in try connection.halfClose() }
        }
    }

    func stopReading() throws(TransportError) { try setPaused(true) }

    func resumeReading() throws(TransportError) { try setPaused(false) }

    private func setPaused(_ isPaused: Bool) throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            try state.core.requireOpen()
            state.core.isPaused = isPaused
            try pass(state.connection) { connection throws(TransportError) in
                if isPaused { try connection.stopReading() } else { try connection.resumeReading() }
            }
        }
    }

    /// Changes the framing of the current connection; the next connection starts with the original framing again.
    func setFraming(_ framing: TransportFraming) throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            try state.core.requireOpen()
            guard let connection = state.connection, state.core.phase == .connected else { throw .notStarted }
            try connection.setFraming(framing)
            state.framing = framing
        }
    }

    func stop() throws(TransportError) { try end { connection throws(TransportError) in try connection.stop() } }

    func reset() throws(TransportError) {
        if state.withLock({ $0.core.phase == .initialised }) { throw .notStarted }
        try end { connection throws(TransportError) in try connection.reset() }
    }

    private func end(_ call: (any Transport) throws(TransportError) -> Void) throws(TransportError) {
        let (actions, wasStarted) = try state.withLock { state throws(TransportError) in
            let wasStarted = state.core.phase != .initialised
            let actions = state.core.stop()
            try pass(state.connection, call)
            return (actions, wasStarted)
        }
        // A transport that was never started reports nothing.
        if !wasStarted { reports.withLock { $0.handler = nil } }
        // The actions are performed on the queue, because a caller does not expect its handler to be called before
        // `stop` has returned.
        if !actions.isEmpty { queue.async { self.change { _ in actions } } }
    }

    /// Passes a request to the connection. If the connection has just ended, it refuses the request. The refusal is
    /// ignored, because the end is about to be reported.
    private func pass(
        _ connection: (any Transport)?, _ call: (any Transport) throws(TransportError) -> Void
    ) throws(TransportError) {
        guard let connection else { return }
        do {
            try call(connection)
        } catch .stopped {
            return
        }
    }
}

extension Duration {
    fileprivate var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
