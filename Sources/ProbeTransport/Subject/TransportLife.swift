import Synchronization

/// What a transport's methods answer at once, from any thread, while its connection lives elsewhere: on an event loop, in a task.
package final class TransportLife: Sendable {
    private enum Phase: Sendable {
        case initialised
        case open
        /// Still open for reading.
        case halfClosed
        case ended(wasStarted: Bool)
    }

    private let phase: Mutex<Phase>

    /// - Parameter isStarted: it was accepted.
    package init(isStarted: Bool) {
        phase = Mutex(isStarted ? .open : .initialised)
    }

    /// Nobody has asked for the stop, and none has been reported.
    package var isOpen: Bool {
        phase.withLock { phase in
            switch phase {
            case .open, .halfClosed: true
            case .initialised, .ended: false
            }
        }
    }

    /// - Throws: `alreadyStarted`, or `stopped` after a stop that came first.
    package func start() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: phase = .open
            case .open, .halfClosed, .ended(wasStarted: true): throw .alreadyStarted
            case .ended(wasStarted: false): throw .stopped
            }
        }
    }

    /// - Throws: why nothing can be asked for.
    package func requireOpen() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: throw .notStarted
            case .open, .halfClosed: return
            case .ended: throw .stopped
            }
        }
    }

    /// - Throws: why nothing can be sent.
    package func requireSendable() throws(TransportError) {
        try requireOpen()
        if phase.withLock({ if case .halfClosed = $0 { true } else { false } }) { throw .other("half-closed") }
    }

    /// From here on nothing can be sent.
    package func halfClose() throws(TransportError) {
        try requireOpen()
        phase.withLock { phase in
            if case .open = phase { phase = .halfClosed }
        }
    }

    /// A stop was asked for, or is reported.
    ///
    /// - Returns: whether it was started and had not ended.
    @discardableResult
    package func end() -> Bool {
        phase.withLock { phase in
            switch phase {
            case .initialised:
                phase = .ended(wasStarted: false)
                return false
            case .open, .halfClosed:
                phase = .ended(wasStarted: true)
                return true
            case .ended: return false
            }
        }
    }
}
