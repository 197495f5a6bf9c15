import ProbeSystem
import Synchronization

/// The data that a transport and its thread share: the state, and the descriptor that wakes the thread.
///
/// The transport holds the connection and releases it in `deinit`. The thread holds the connection while it runs, but
/// never holds the transport.
protocol ThreadedConnection: AnyObject, Sendable {
    associatedtype State: ThreadedConnectionState
    associatedtype Event: Sendable

    var core: ConnectionCore<State, Event> { get }

    /// Connects or takes over an accepted connection, and serves it until it is closed. Called on the connection's
    /// thread.
    func run(wake: WakeDescriptor, handler: @escaping @Sendable (Event) -> Void, accepted: CInt?)

    /// Called when the thread has ended and every descriptor is closed.
    func threadEnded()
}

protocol ThreadedConnectionState: Sendable {
    /// Whether the connection has ended and reports no more events.
    var isEnded: Bool { get }
}

final class ConnectionCore<State: ThreadedConnectionState, Event: Sendable>: Sendable {
    struct Parts: Sendable {
        var state: State
        /// The handler, until it is passed to the thread. The thread releases it after the last event, because a
        /// handler may hold its transport.
        var handler: (@Sendable (Event) -> Void)?
        /// The descriptor that wakes the thread; `nil` unless the thread runs.
        var wake: WakeDescriptor?
    }

    let parts: Mutex<Parts>

    init(_ state: State, handler: @escaping @Sendable (Event) -> Void) {
        parts = Mutex(Parts(state: state, handler: handler))
    }

    /// Ends an accepted connection for which no thread could be started. Returns the result of `body`, and the handler
    /// to call.
    func end<Result: Sendable>(_ body: (inout State) -> Result) -> (Result, (@Sendable (Event) -> Void)?) {
        parts.withLock { (body(&$0.state), $0.handler.take()) }
    }
}

extension ThreadedConnection {
    func threadEnded() {}

    /// Runs `body` on the state, from any thread, and wakes the connection's thread.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wake) = try core.parts.withLock { core throws(Failure) -> (Result, WakeDescriptor?) in
            let result = try body(&core.state)
            // The connection ended before its thread was started, so nothing will call the handler.
            if core.state.isEnded, core.wake == nil { core.handler = nil }
            return (result, core.wake)
        }
        wake?.wake()
        return result
    }

    /// Runs `body` on the state. Called on the connection's own thread, which need not be woken.
    func inspect<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        core.parts.withLock { body(&$0.state) }
    }

    /// Starts the connection's thread, which connects or takes over an accepted connection.
    func startThread(accepted: CInt? = nil) throws(SystemError) {
        let wake = try WakeDescriptor()
        let handler = core.parts.withLock { core in
            core.wake = wake
            defer { core.handler = nil }
            return core.handler
        }
        guard let handler else { return }
        do {
            try WorkerThread("transport", signals: .inherited, stack: TransportStack.size) { [self] in
                run(wake: wake, handler: handler, accepted: accepted)
                core.parts.withLock { $0.wake = nil }
                threadEnded()
            }.detach()
        } catch {
            core.parts.withLock { core in
                core.wake = nil
                core.handler = handler
            }
            throw error
        }
    }
}

/// The stack size of a transport's threads, which also run handlers, that is, the user's code.
enum TransportStack {
    static let size = 1 << 20
}
