import ProbeTransport
import Synchronization

/// What a transport's methods answer at once, from any thread, while its ``NIOSession`` is on the event loop.
final class NIOLife: Sendable {
    private enum Phase: Sendable {
        case initialised
        case open
        /// Still open for reading.
        case halfClosed
        case ended(wasStarted: Bool)
    }

    private let phase: Mutex<Phase>

    init(isStarted: Bool) {
        phase = Mutex(isStarted ? .open : .initialised)
    }

    /// Nobody has asked for the stop, and none has been reported.
    var isOpen: Bool {
        phase.withLock { phase in
            switch phase {
            case .open, .halfClosed: true
            case .initialised, .ended: false
            }
        }
    }

    func start() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: phase = .open
            case .open, .halfClosed, .ended(wasStarted: true): throw .alreadyStarted
            case .ended(wasStarted: false): throw .stopped
            }
        }
    }

    /// - Throws: why nothing can be asked for.
    func requireOpen() throws(TransportError) {
        try phase.withLock { phase throws(TransportError) in
            switch phase {
            case .initialised: throw .notStarted
            case .open, .halfClosed: return
            case .ended: throw .stopped
            }
        }
    }

    /// - Throws: why nothing can be sent.
    func requireSendable() throws(TransportError) {
        try requireOpen()
        if phase.withLock({ if case .halfClosed = $0 { true } else { false } }) { throw .other("half-closed") }
    }

    func halfClose() throws(TransportError) {
        try requireOpen()
        phase.withLock { phase in
            if case .open = phase { phase = .halfClosed }
        }
    }

    /// - Returns: whether it was started and had not ended.
    @discardableResult
    func end() -> Bool {
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
