import Synchronization

/// The state of a transport's life cycle. Methods that return at once can use the state on any thread, while the
/// connection itself belongs to an event loop or a task.
package final class TransportLifecycle: Sendable {
    private enum Phase: Sendable {
        case initialised
        case open
        /// Sending has ended; reading is still possible.
        case halfClosed
        case ended(wasStarted: Bool)
    }

    private let phase: Mutex<Phase>

    /// Creates the state of a transport.
    ///
    /// - Parameter isStarted: `true` for an accepted connection.
    package init(isStarted: Bool) {
        phase = Mutex(isStarted ? .open : .initialised)
    }

    /// Whether the transport was started or accepted, and no stop has been requested or reported.
    package var isOpen: Bool {
        phase.withLock { phase in
            switch phase {
            case .open, .halfClosed: true
            case .initialised, .ended: false
            }
        }
    }

    /// Whether the transport was ever started, or is an accepted connection.
    package var wasStarted: Bool {
        phase.withLock { phase in
            switch phase {
            case .open, .halfClosed, .ended(wasStarted: true): true
            case .initialised, .ended(wasStarted: false): false
            }
        }
    }

    /// Records that the transport has been started.
    ///
    /// - Throws: `alreadyStarted`, or `stopped` if a stop was requested first.
    package func start() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: phase = .open
            case .open, .halfClosed, .ended(wasStarted: true): throw .alreadyStarted
            case .ended(wasStarted: false): throw .stopped
            }
        }
    }

    /// Checks that the transport accepts requests.
    ///
    /// - Throws: `notStarted` or `stopped` if the transport does not accept requests.
    package func requireOpen() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: throw .notStarted
            case .open, .halfClosed: return
            case .ended: throw .stopped
            }
        }
    }

    /// Checks that the transport can send.
    ///
    /// - Throws: an error if the transport can't send.
    package func requireSendable() throws(TransportError) {
        try requireOpen()
        if phase.withLock({ if case .halfClosed = $0 { true } else { false } }) { throw .other("half-closed") }
    }

    /// Records that this side has ended the stream. Nothing more can then be sent.
    package func halfClose() throws(TransportError) {
        try requireOpen()
        phase.withLock { phase in
            if case .open = phase { phase = .halfClosed }
        }
    }

    /// Records that a stop was requested or is being reported.
    ///
    /// - Returns: whether the transport was started and had not ended.
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
