import ProbeSystem
import Synchronization

/// The data that a transport and its thread share: the state, and the descriptor that wakes the thread.
///
/// The transport holds it and releases it in `deinit`. The thread holds it while it runs, and never holds the
/// transport.
final class BSDConnection: Sendable {
    struct Core: Sendable {
        var state: BSDConnectionState
        /// Passed to the thread, which releases it after `stopped`: a handler may hold its transport.
        var handler: TransportHandler?
        /// Not nil while the thread runs.
        var wake: WakeDescriptor?
    }

    let configuration: TransportConfiguration
    let framing: BSDFraming
    private let core: Mutex<Core>
    /// Called when the thread has ended and every descriptor is closed.
    private let threadEnded: @Sendable () -> Void

    init(
        configuration: TransportConfiguration, framing: BSDFraming, state: BSDConnectionState,
        handler: @escaping TransportHandler, threadEnded: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.framing = framing
        self.threadEnded = threadEnded
        core = Mutex(Core(state: state, handler: handler))
    }

    /// Runs `body` on the state, from any thread, and wakes the connection's thread.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout BSDConnectionState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wake) = try core.withLock { core throws(Failure) -> (Result, WakeDescriptor?) in
            let result = try body(&core.state)
            // The thread never had the handler, and will not be started.
            if core.state.isEnded, core.wake == nil { core.handler = nil }
            return (result, core.wake)
        }
        wake?.wake()
        return result
    }

    /// Runs `body` on the state, from the connection's own thread.
    func inspect<Result: Sendable>(_ body: (inout BSDConnectionState) -> Result) -> Result {
        core.withLock { body(&$0.state) }
    }

    /// Starts the thread, which connects or takes over an accepted connection.
    func startThread(accepted: CInt? = nil) throws(SystemError) {
        let wake = try WakeDescriptor()
        let handler = core.withLock { core in
            core.wake = wake
            defer { core.handler = nil }
            return core.handler
        }
        guard let handler else { return }
        do {
            try WorkerThread("transport", signals: .inherited, stack: TransportStack.size) { [self] in
                run(wake: wake, handler: handler, accepted: accepted)
                threadEnded()
            }.detach()
        } catch {
            core.withLock { core in
                core.wake = nil
                core.handler = handler
            }
            throw error
        }
    }

    /// Ends an accepted connection for which no thread could be started.
    func fail(_ error: SystemError) {
        let (actions, handler) = core.withLock { core in
            (core.state.readFailed(error), core.handler.take())
        }
        for case .report(let event) in actions { handler?(event) }
    }

    private func run(wake: WakeDescriptor, handler: @escaping TransportHandler, accepted: CInt?) {
        let loop = BSDConnectionLoop(connection: self, wake: wake, handler: handler)
        if let accepted {
            loop.serve(StreamSocket(accepted: accepted), reportStart: true)
        } else if let socket = loop.connect() {
            loop.serve(socket, reportStart: false)
        }
        core.withLock { $0.wake = nil }
    }
}

/// The stack size of a transport's threads. They also run handlers, which are the user's code.
enum TransportStack {
    static let size = 1 << 20
}
